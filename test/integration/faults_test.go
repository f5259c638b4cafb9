// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/webhooks"
)

// webhookTimeout is what the shipped configurations say.
const webhookTimeout = 10 * time.Second

// refusedBy checks that a write failed because of a webhook of ours that could
// not be asked, and that the message says which one.
func refusedBy(err error, webhook string) {
	GinkgoHelper()
	Expect(apierrors.IsInternalError(err)).To(BeTrue(), "want a refusal by the server, got %v", err)
	Expect(err).To(MatchError(ContainSubstring(webhook)))
}

func mutating(kind string) string {
	return "mutate-" + strings.ToLower(kind) + "." + backupv1.GroupName
}

func validating(kind string) string {
	return "validate-" + strings.ToLower(kind) + "." + backupv1.GroupName
}

// others are objects that are none of ours, one of each sort that a cluster
// cannot live without.
func others(namespace string) []client.Object {
	meta := metav1.ObjectMeta{Name: "other", Namespace: namespace}
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "c"}}}
	return []client.Object{
		&corev1.Pod{ObjectMeta: meta, Spec: pod},
		&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}}},
		&corev1.Secret{ObjectMeta: meta},
		&corev1.ConfigMap{ObjectMeta: meta},
		&corev1.ServiceAccount{ObjectMeta: meta},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-other"}},
	}
}

// expectOthersUntouched creates, updates, reads and deletes what is none of
// ours, in less time than a webhook of ours would be waited for.
func expectOthersUntouched(ctx context.Context, namespace string) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout/2)
	defer cancel()
	// There is no controller that makes the account which Pods run as.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}}
	Expect(client.IgnoreAlreadyExists(admin.Create(ctx, account))).To(Succeed())
	for _, o := range others(namespace) {
		Expect(admin.Create(ctx, o)).To(Succeed())
		o.SetLabels(map[string]string{"edited": "yes"})
		Expect(admin.Update(ctx, o)).To(Succeed())
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		Expect(admin.Delete(ctx, o, client.GracePeriodSeconds(0))).To(Succeed())
	}
}

// blocking answers no question until it is let go.
type blocking struct {
	asked chan struct{}
	goOn  chan struct{}
}

func newBlocking() *blocking {
	return &blocking{asked: make(chan struct{}, 100), goOn: make(chan struct{})}
}

func (b *blocking) Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	b.asked <- struct{}{}
	select {
	case <-b.goOn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	answer := review.DeepCopy()
	answer.Status.Allowed = true
	return answer, nil
}

type panicking struct{}

func (panicking) Create(context.Context, *authorizationv1.SubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	panic("hunter2")
}

// The specs of a door that is closed come one after the other, because there
// is one door.
var _ = Describe("Faults of the front door", Serial, func() {
	for _, kind := range kinds {
		It("is down: writes of "+kind+" are refused by name, and nothing else is", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			held := object("v1", kind, ns, "held", nil)
			held.SetFinalizers([]string{"integration.test/hold"})
			for _, u := range []*unstructured.Unstructured{object("v1", kind, ns, "a", nil), object("v1", kind, ns, "b", nil), held} {
				Expect(admin.Create(ctx, u)).To(Succeed())
			}
			before := read(ctx, "v1", kind, ns, "a")
			door.away()

			By("writes of the spec, which are refused at once")
			refusedBy(admin.Create(ctx, object("v1", kind, ns, "new", nil)), mutating(kind))
			refusedBy(admin.Update(ctx, set(before.DeepCopy(), "0 3 * * *", "spec", "schedule")), mutating(kind))
			refusedBy(admin.Patch(ctx, before.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"suspend":true}}`))), mutating(kind))
			refusedBy(applyAs(ctx, "integration", object("v1", kind, ns, "applied", nil)), mutating(kind))

			By("what is stored, which is read, reported on and deleted as ever")
			Expect(read(ctx, "v1", kind, ns, "a").Object).To(Equal(before.Object))
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(as("v1", kind).GroupVersionKind())
			Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
			Expect(list.Items).To(HaveLen(3))
			Expect(asController().Status().Update(ctx, set(before.DeepCopy(), "Scheduled", "status", "phase"))).To(Succeed())
			Expect(admin.Delete(ctx, read(ctx, "v1", kind, ns, "b"))).To(Succeed())
			Expect(admin.Delete(ctx, read(ctx, "v1", kind, ns, "held"))).To(Succeed())

			By("the old version, which takes a conversion")
			err := admin.Get(ctx, client.ObjectKeyFromObject(before), as("v1alpha1", kind))
			Expect(err).To(MatchError(And(ContainSubstring("conversion webhook"), ContainSubstring(kind))))

			By("everything else")
			expectOthersUntouched(ctx, ns)
		})

		It("waits for the server that knows the rights: "+kind+" is refused in our words before the time is over", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			door.with(func(d *frontDoor) { d.routes.Reviewer = newBlocking() })
			found := causes(admin.Create(ctx, object("v1", kind, ns, "new", nil)))
			Expect(found).To(HaveKeyWithValue("spec.source.credentialsSecretRef.name",
				And(ContainSubstring("could not be found out in time"), ContainSubstring("'new-credentials'"), ContainSubstring("try again"))))
			Expect(door.metric("backupjob_admission_reference_checks_total", map[string]string{"result": "error"})).To(BeNumerically("==", 1))
		})

		It("panics in a judgement of "+kind+": that request is refused, the next one is served", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			Expect(admin.Create(ctx, object("v1", kind, ns, "a", nil))).To(Succeed())
			door.with(func(d *frontDoor) { d.routes.Reviewer = panicking{} })
			err := admin.Create(ctx, object("v1", kind, ns, "new", nil))
			refusedBy(err, validating(kind))
			Expect(err).To(MatchError(And(ContainSubstring("a fault of its own"), Not(ContainSubstring("hunter2")))))
			Expect(admin.Update(ctx, set(read(ctx, "v1", kind, ns, "a"), "0 3 * * *", "spec", "schedule"))).To(Succeed())
			Expect(causes(admin.Update(ctx, set(read(ctx, "v1", kind, ns, "a"), "abc", "spec", "schedule")))).To(HaveKey("spec.schedule"))
			Expect(door.metric("backupjob_webhook_panics_total", nil)).To(BeNumerically(">=", 1))
			expectOthersUntouched(ctx, ns)
		})

		It("hangs up in the middle: the write of "+kind+" is refused by name, and nothing else is", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			door.with(func(d *frontDoor) {
				d.wrap = func(http.Handler) http.Handler {
					return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
				}
			})
			refusedBy(admin.Create(ctx, object("v1", kind, ns, "new", nil)), mutating(kind))
			expectOthersUntouched(ctx, ns)
		})
	}

	It("is slow: writes are refused by name when the time is over, and nothing else waits", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		for _, kind := range kinds {
			Expect(admin.Create(ctx, object("v1", kind, ns, "a", nil))).To(Succeed())
		}
		door.with(func(d *frontDoor) {
			d.wrap = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == webhooks.PathConvert { // is waited for longer than a door takes to close
						next.ServeHTTP(w, r)
						return
					}
					_, _ = io.Copy(io.Discard, r.Body) // then the server notices that the client has left
					<-r.Context().Done()
				})
			}
		})
		start := time.Now()
		refused := map[string]chan error{}
		for _, kind := range kinds {
			refused[kind] = make(chan error, 1)
			go func() { refused[kind] <- admin.Create(ctx, object("v1", kind, ns, "new", nil)) }()
		}
		expectOthersUntouched(ctx, ns)
		for _, kind := range kinds {
			Expect(admin.Delete(ctx, read(ctx, "v1", kind, ns, "a"))).To(Succeed())
			Expect(refused[kind]).NotTo(Receive(), "all of this must go on while the write waits")
		}
		for _, kind := range kinds {
			var err error
			Eventually(refused[kind]).WithTimeout(2 * webhookTimeout).Should(Receive(&err))
			refusedBy(err, mutating(kind))
			Expect(err).To(MatchError(ContainSubstring("context deadline exceeded")))
		}
		Expect(time.Since(start)).To(BeNumerically("<", webhookTimeout+webhookTimeout/2))
	})

	It("finishes the request in flight when it is told to stop", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		reviewer := newBlocking()
		door.with(func(d *frontDoor) { d.routes.Reviewer = reviewer })
		answer := make(chan error, 1)
		go func() { answer <- admin.Create(ctx, object("v1", backupv1.KindBackupJob, ns, "flying", nil)) }()
		Eventually(reviewer.asked).WithTimeout(soon).Should(Receive())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			defer GinkgoRecover()
			door.close()
		}()
		By("the door being closed to others")
		Eventually(ctx, func() error {
			return admin.Create(ctx, object("v1", backupv1.KindBackupJob, ns, "late", nil), client.DryRunAll)
		}).WithTimeout(soon).Should(MatchError(ContainSubstring("connection refused")), "the listener closes a moment later")
		Expect(answer).NotTo(Receive())
		close(reviewer.goOn)
		Eventually(answer).WithTimeout(soon).Should(Receive(BeNil()))
		Eventually(stopped).WithTimeout(soon).Should(BeClosed())
		door.open()
	})

	It("restarts during applies: refusals say so while it is away, none come after, and no apply is lost or half done", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		appliers := startAppliers(ctx, ns)
		const restarts = 3
		var away []span
		for range restarts {
			appliers.awaitMore("applied")
			from := time.Now()
			door.close()
			appliers.awaitMore("refused")
			door.open()
			away = append(away, span{from, time.Now()})
		}
		appliers.awaitMore("applied")
		for _, a := range appliers.end() {
			Expect(a.strange).To(BeEmpty(), "every refusal must name the webhook")
			for _, refusal := range a.refusals {
				Expect(away).To(ContainElement(Satisfy(refusal.meets)), "nothing may be refused while the door is open")
			}
			got := read(ctx, a.version, a.kind, ns, a.name)
			Expect(got.Object["spec"]).To(HaveKeyWithValue("maxRetries", a.applied))
		}
	})
})

// applier applies one object again and again, each time with another value, as
// someone does who repeats a command until it works.
type applier struct {
	version, kind, name string
	applied             int64 // the last value that the server took
	refusals            []span
	strange             []error
}

// span is the time that something took.
type span struct{ from, to time.Time }

func (s span) meets(other span) bool { return s.from.Before(other.to) && other.from.Before(s.to) }

type appliers struct {
	all              []*applier
	applied, refused atomic.Int64
	stop             context.CancelFunc
	done             sync.WaitGroup
}

func startAppliers(ctx context.Context, namespace string) *appliers {
	ctx, stop := context.WithCancel(ctx)
	s := &appliers{stop: stop}
	for _, kind := range kinds {
		for _, version := range versions {
			a := &applier{version: version, kind: kind, name: strings.ToLower(version)}
			s.all = append(s.all, a)
			s.done.Go(func() { a.run(ctx, namespace, s) })
		}
	}
	return s
}

func (a *applier) run(ctx context.Context, namespace string, s *appliers) {
	for n := int64(0); ctx.Err() == nil; n++ {
		start := time.Now()
		// The end comes between two applies, so that what was applied is known.
		err := applyAs(context.WithoutCancel(ctx), "applier", object(a.version, a.kind, namespace, a.name, map[string]any{"maxRetries": n % 10}))
		if err == nil {
			a.applied = n % 10
			s.applied.Add(1)
			continue
		}
		a.refusals = append(a.refusals, span{start, time.Now()})
		s.refused.Add(1)
		if !namesWebhook(err) {
			a.strange = append(a.strange, err)
		}
	}
}

// namesWebhook reports whether a refusal says which webhook was not there.
func namesWebhook(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError &&
		(strings.Contains(err.Error(), "."+backupv1.GroupName+`"`) || strings.Contains(err.Error(), "conversion webhook for "+backupv1.GroupName))
}

func (s *appliers) awaitMore(what string) {
	GinkgoHelper()
	counter := map[string]*atomic.Int64{"applied": &s.applied, "refused": &s.refused}[what]
	from := counter.Load()
	Eventually(counter.Load).WithTimeout(soon).Should(BeNumerically(">", from+int64(2*len(s.all))), "there must be more that is "+what)
}

func (s *appliers) end() []*applier {
	s.stop()
	s.done.Wait()
	return s.all
}

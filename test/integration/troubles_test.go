// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// counted lets every create of a Job pass and counts it.
func counted(tries *atomic.Int32) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if _, ok := o.(*batchv1.Job); ok {
			tries.Add(1)
		}
		return c.Create(ctx, o, opts...)
	}}
}

func readiness(b *backupv1.BackupJob) string {
	c := meta.FindStatusCondition(b.Status.Conditions, backupv1.ConditionReady)
	if c == nil {
		return ""
	}
	return c.Reason + ": " + c.Message
}

// quota allows no Job in the namespace. No quota controller runs here, so its
// status is set by hand.
func quota(ctx context.Context, namespace string) *corev1.ResourceQuota {
	GinkgoHelper()
	none := corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	Expect(admin.Create(ctx, q)).To(Succeed())
	q.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	Expect(admin.Status().Update(ctx, q)).To(Succeed())
	return q
}

var _ = Describe("Permanent trouble", func() {
	for _, trouble := range []struct {
		name, user, reason, words string
		change                    func(*backupv1.BackupJob)
		make                      func(ctx context.Context, b *backupv1.BackupJob) (mend func())
	}{
		{
			name: "a quota", reason: backupv1.ReasonRunForbidden, words: "exceeded quota: none",
			make: func(ctx context.Context, b *backupv1.BackupJob) func() {
				q := quota(ctx, b.Namespace)
				return func() { Expect(admin.Delete(ctx, q)).To(Succeed()) }
			},
		},
		{
			name: "a right that is missing", user: "integration:no-create", reason: backupv1.ReasonRunForbidden, words: `cannot create resource "jobs"`,
			make: func(ctx context.Context, _ *backupv1.BackupJob) func() {
				rules := shippedRules()
				for i, rule := range rules {
					if rule.Resources[0] == "jobs" {
						bind(ctx, "integration:no-create", without(rules, i, "create"))
					}
				}
				return func() {
					bind(ctx, "integration:no-create", []rbacv1.PolicyRule{{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"create"}}})
				}
			},
		},
		{
			name: "a Job that is invalid", reason: backupv1.ReasonRunInvalid, words: "spec.template.spec.tolerations[0]",
			change: func(b *backupv1.BackupJob) {
				b.Spec.PodTemplate = &backupv1.PodTemplate{Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"}}}
			},
			make: func(context.Context, *backupv1.BackupJob) func() { return func() {} },
		},
		{
			name: "a Job of somebody else under our name", reason: backupv1.ReasonNameTaken, words: "kubectl -n",
			make: func(ctx context.Context, b *backupv1.BackupJob) func() {
				// Its name is not known before: whoever made it copied one of ours.
				twin := b.DeepCopy()
				stranger := strangersJob(ctx, twin)
				return func() {
					Expect(admin.Delete(ctx, stranger, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
				}
			},
		},
	} {
		It("of "+trouble.name+" is a condition, tried once, and heals by an edit", func(ctx context.Context) {
			if trouble.user == "" {
				bindShippedRole(ctx)
			} else {
				unbindShippedRole(ctx)
			}
			ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
			clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
			b := backup(ctx, ns, "a", trouble.change)
			mend := trouble.make(ctx, b)
			tries, user := &atomic.Int32{}, controllerUser
			if trouble.user != "" {
				user = trouble.user
			}
			startControllerAs(user, ns, clock, counted(tries))
			observed(ctx, b)
			clock.SetTime(tick)
			poke(ctx, b)
			Eventually(ctx, func(g Gomega) {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
				g.Expect(readiness(b)).To(And(HavePrefix(trouble.reason), ContainSubstring(trouble.words)))
			}).WithTimeout(soon).Should(Succeed(), "the trouble must show")
			Expect(b.Status.Phase).To(Equal(backupv1.PhaseFailed))

			By("trying no more, whatever wakes it")
			before := tries.Load()
			Expect(before).To(BeNumerically("<=", 2), "one, and one more if our poke overtook its status")
			for range 3 {
				poke(ctx, b)
			}
			version := b.ResourceVersion
			Consistently(tries.Load).WithTimeout(time.Second).Should(Equal(before))
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			Expect(b.ResourceVersion).To(Equal(version), "the pokes apart")

			By("trying again after an edit")
			mend()
			b.Spec.PodTemplate, b.Spec.MaxRetries = nil, new(int32(1))
			Expect(admin.Update(ctx, b)).To(Succeed())
			Eventually(ctx, func(g Gomega) {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
				g.Expect(b.Status.Active).To(HaveLen(1))
				g.Expect(readiness(b)).To(HavePrefix(backupv1.ReasonScheduled))
			}).WithTimeout(soon).Should(Succeed(), "it must heal")
		})
	}
})

// strangersJob is a Job with the name that b's run at the tick is going to
// have. A controller of an API server of its own could not be told from ours,
// so a dry life of the object tells the name.
func strangersJob(ctx context.Context, b *backupv1.BackupJob) *batchv1.Job {
	GinkgoHelper()
	clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
	stop := startController(b.Namespace, clock, interceptor.Funcs{})
	observed(ctx, b)
	clock.SetTime(tick)
	poke(ctx, b)
	var jobs []batchv1.Job
	Eventually(ctx, func() []batchv1.Job {
		jobs = jobsIn(ctx, b.Namespace)
		return jobs
	}).WithTimeout(soon).Should(HaveLen(1), "the run must start")
	stop()
	Expect(admin.Delete(ctx, &jobs[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
	b.Status = backupv1.BackupStatus{}
	Expect(asController().Status().Update(ctx, b)).To(Succeed())
	stranger := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: jobs[0].Name}, Spec: jobs[0].Spec}
	stranger.Spec.Selector, stranger.Spec.Template.Labels = nil, nil
	Expect(admin.Create(ctx, stranger)).To(Succeed())
	return stranger
}

// answers stands between the controller and the API server and gives its own
// answer to creates of Jobs.
type answers struct {
	next http.RoundTripper
	code atomic.Int32 // 0 passes everything on
	seen atomic.Int32
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	code := int(a.code.Load())
	if code == 0 || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/jobs") {
		return a.next.RoundTrip(r)
	}
	a.seen.Add(1)
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Request: r, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: io.NopCloser(strings.NewReader("later")),
	}, nil
}

var _ = Describe("Temporary trouble", func() {
	BeforeEach(OncePerOrdered, func(ctx context.Context) { bindShippedRole(ctx) })

	for name, code := range map[string]int{
		"too many requests": http.StatusTooManyRequests, "a time-out": http.StatusGatewayTimeout,
		"a server that is away": http.StatusServiceUnavailable, "an internal error": http.StatusInternalServerError,
	} {
		It("of "+name+" is retried with waits between, leaves no word in the status, and passes", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
			between := &answers{}
			startControllerThrough(between, ns, clock)
			b := backup(ctx, ns, "a", nil)
			observed(ctx, b)
			between.code.Store(int32(code))
			clock.SetTime(tick)
			poke(ctx, b)
			Eventually(between.seen.Load).WithTimeout(soon).Should(BeNumerically(">=", 3), "it must be tried again by itself")
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			Expect(readiness(b)).To(HavePrefix(backupv1.ReasonScheduled))
			Expect(b.Status.Active).To(BeEmpty())
			between.code.Store(0)
			Eventually(ctx, func(g Gomega) {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
				g.Expect(b.Status.Active).To(HaveLen(1))
			}).WithTimeout(soon).Should(Succeed(), "the run must start")
			Expect(jobsIn(ctx, ns)).To(HaveLen(1))
		})
	}

	It("of a conflict is made anew at once and loses nothing of whoever was faster", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
		b := backup(ctx, ns, "a", nil)
		var first atomic.Bool
		startController(ns, clock, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if first.CompareAndSwap(false, true) { // somebody labels it right before our write
					label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"faster":"yes"}}}`))
					if err := admin.Patch(ctx, b.DeepCopy(), label); err != nil {
						return err
					}
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		})
		observed(ctx, b)
		Expect(b.Labels).To(HaveKeyWithValue("faster", "yes"))
		Expect(b.Status.Phase).To(Equal(backupv1.PhaseScheduled))
	})
})

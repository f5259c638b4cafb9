// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/controller"
)

// controllerUser is the account of the controller, which is bound to the role
// as it is shipped. Nobody else may write a status.
const controllerUser = "system:serviceaccount:backupjob-system:backupjob-controller"

// tick is a time at which the schedule of these specs is due.
var tick = time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC)

// startController runs the controller as a user with nothing but the shipped
// role, on a clock that stands still, in one namespace. Stop it with the
// returned function, which is also called after the spec.
func startController(namespace string, at *clocktesting.FakePassiveClock, faults interceptor.Funcs) func() {
	GinkgoHelper()
	return startControllerAs(controllerUser, namespace, at, faults)
}

// startControllerThrough runs it with somebody between it and the server.
func startControllerThrough(between *answers, namespace string, at *clocktesting.FakePassiveClock) func() {
	GinkgoHelper()
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: controllerUser}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		between.next = next
		return between
	})
	return startControllerWith(cfg, namespace, at, interceptor.Funcs{})
}

func startControllerAs(user, namespace string, at *clocktesting.FakePassiveClock, faults interceptor.Funcs) func() {
	GinkgoHelper()
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = controllerWithRightsOf(user)
	return startControllerWith(cfg, namespace, at, faults)
}

// controllerWithRightsOf is the controller's account, which alone may write a
// status, with what a group of that name may do besides.
func controllerWithRightsOf(user string) rest.ImpersonationConfig {
	return rest.ImpersonationConfig{UserName: controllerUser, Groups: []string{user}}
}

func startControllerWith(cfg *rest.Config, namespace string, at *clocktesting.FakePassiveClock, faults interceptor.Funcs) func() {
	GinkgoHelper()
	mgr := newController(cfg, namespace, at, faults)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			cancel()
			Expect(<-done).To(Succeed())
		}
	}
	DeferCleanup(stop)
	return stop
}

func newController(cfg *rest.Config, namespace string, at *clocktesting.FakePassiveClock, faults interceptor.Funcs) ctrl.Manager {
	GinkgoHelper()
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     scheme,
		Logger:     logs.logger(),
		Cache:      controller.CacheOptions([]string{namespace}),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		NewClient: func(cfg *rest.Config, o client.Options) (client.Client, error) {
			c, err := client.NewWithWatch(cfg, o)
			if err != nil {
				return nil, err
			}
			return interceptor.NewClient(c, faults), nil
		},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(controller.Setup(mgr, controller.Options{
		Clock: at, MaxConcurrentReconciles: 4, RetryBaseDelay: 5 * time.Millisecond, RetryMaxDelay: time.Second,
		AgentImage: "agent:1", MySQLImage: "mysql:1", MariaDBImage: "mariadb:1", CleanupTimeout: time.Minute,
	})).To(Succeed())
	return mgr
}

// poke makes the controllers look again: their clock does not wake them.
func poke(ctx context.Context, b client.Object) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"integration.test/poke":"%d"}}}`, time.Now().UnixNano())
	Expect(admin.Patch(ctx, b, client.RawPatch("application/merge-patch+json", patch))).To(Succeed())
}

func backup(ctx context.Context, namespace, name string, mutate func(*backupv1.BackupJob)) *backupv1.BackupJob {
	GinkgoHelper()
	b := &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	b.Spec.Source.Host, b.Spec.Schedule = "db.example.com", "0 13 * * *"
	if mutate != nil {
		mutate(b)
	}
	Expect(admin.Create(ctx, b)).To(Succeed())
	return b
}

func jobsIn(ctx context.Context, namespace string) []batchv1.Job {
	GinkgoHelper()
	var jobs batchv1.JobList
	Expect(admin.List(ctx, &jobs, client.InNamespace(namespace))).To(Succeed())
	return jobs.Items
}

// observed waits until the controller has seen the object.
func observed(ctx context.Context, b *backupv1.BackupJob) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
		g.Expect(b.Status.ObservedGeneration).To(Equal(b.Generation))
	}).WithTimeout(soon).Should(Succeed(), "the controller must see the object")
}

// end sets a Job's outcome, as the Job controller would.
func end(ctx context.Context, job *batchv1.Job, condition batchv1.JobConditionType) {
	GinkgoHelper()
	now := metav1.Now()
	job.Status.StartTime = cmp.Or(job.Status.StartTime, &now)
	interim := batchv1.JobSuccessCriteriaMet
	if condition == batchv1.JobFailed {
		interim = batchv1.JobFailureTarget
	} else {
		job.Status.CompletionTime, job.Status.Succeeded = &now, 1
	}
	for _, t := range []batchv1.JobConditionType{interim, condition} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "Test",
		})
	}
	Expect(admin.Status().Update(ctx, job)).To(Succeed())
}

var _ = Describe("The controller, against a real API server with the role as it is shipped", func() {
	BeforeEach(OncePerOrdered, func(ctx context.Context) { bindShippedRole(ctx) })

	It("starts nothing on creation, one Job at the tick, and none after it", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
		startController(ns, clock, interceptor.Funcs{})
		b := backup(ctx, ns, "a", nil)
		observed(ctx, b)
		Expect(b.Status.Phase).To(Equal(backupv1.PhaseScheduled))
		Expect(b.Status.NextScheduleTime.UTC()).To(Equal(tick))
		Expect(jobsIn(ctx, ns)).To(BeEmpty())

		clock.SetTime(tick.Add(time.Second))
		poke(ctx, b)
		Eventually(ctx, func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.Phase).To(Equal(backupv1.PhaseRunning))
		}).WithTimeout(soon).Should(Succeed(), "the run must start")
		jobs := jobsIn(ctx, ns)
		Expect(jobs).To(HaveLen(1))
		Expect(jobs[0].Annotations).To(HaveKeyWithValue(backupv1.AnnotationScheduledTime, "2026-11-30T13:00:00Z"))
		Expect(metav1.IsControlledBy(&jobs[0], b)).To(BeTrue())

		end(ctx, &jobs[0], batchv1.JobComplete)
		Eventually(ctx, func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.LastResult).To(Equal(backupv1.ResultSucceeded))
			g.Expect(b.Status.Active).To(BeEmpty())
		}).WithTimeout(soon).Should(Succeed(), "the outcome must show")
		Expect(b.Status.NextScheduleTime.UTC()).To(Equal(tick.AddDate(0, 0, 1)))

		By("standing still while nothing changes")
		version := b.ResourceVersion
		Consistently(ctx, func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.ResourceVersion).To(Equal(version))
			g.Expect(jobsIn(ctx, ns)).To(HaveLen(1))
		}).WithTimeout(2 * time.Second).Should(Succeed())
	})

	It("makes no second Job when it is killed between creating one and writing status", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
		stop := startController(ns, clock, interceptor.Funcs{})
		b := backup(ctx, ns, "a", nil)
		observed(ctx, b)
		stop()

		By("a controller whose every status write is lost")
		var created atomic.Int32
		lost := errors.New("the process is gone")
		stop = startController(ns, clock, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if _, ok := o.(*batchv1.Job); ok {
					defer created.Add(1)
				}
				return c.Create(ctx, o, opts...)
			},
			SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
				return lost
			},
			SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
				return lost
			},
		})
		clock.SetTime(tick.Add(time.Second))
		poke(ctx, b)
		Eventually(created.Load).WithTimeout(soon).Should(BeNumerically(">=", 1), "the Job must be created")
		stop()
		jobs := jobsIn(ctx, ns)
		Expect(jobs).To(HaveLen(1))
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
		Expect(b.Status.LastScheduleTime).To(BeNil(), "the write was lost")

		By("the next one")
		startController(ns, clock, interceptor.Funcs{})
		Eventually(ctx, func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.LastScheduleTime).NotTo(BeNil())
			g.Expect(b.Status.Active).To(ConsistOf(jobs[0].Name))
		}).WithTimeout(soon).Should(Succeed(), "it must find the Job")
		Expect(jobsIn(ctx, ns)).To(HaveLen(1))
	})

	It("makes one Job per scheduled time with two controllers at once", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
		startController(ns, clock, interceptor.Funcs{})
		startController(ns, clock, interceptor.Funcs{})
		const n = 20
		backups := make([]*backupv1.BackupJob, n)
		for i := range backups {
			backups[i] = backup(ctx, ns, fmt.Sprintf("b-%d", i), nil)
		}
		for _, b := range backups {
			observed(ctx, b)
		}
		clock.SetTime(tick.Add(time.Second))
		for _, b := range backups {
			poke(ctx, b)
		}
		Eventually(ctx, func(g Gomega) {
			for _, b := range backups {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
				g.Expect(b.Status.Phase).To(Equal(backupv1.PhaseRunning))
			}
		}).WithTimeout(soon).Should(Succeed(), "all must run")
		Expect(jobsIn(ctx, ns)).To(HaveLen(n))
	})

	It("shows a stored schedule that cannot be read, and heals on edit", func(ctx context.Context) {
		ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
		clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
		startController(ns, clock, interceptor.Funcs{})
		b := backup(ctx, ns, "a", func(b *backupv1.BackupJob) { b.Spec.Schedule = "*/2****" })
		observed(ctx, b)
		Expect(b.Status.Phase).To(Equal(backupv1.PhaseFailed))
		Expect(b.Status.Conditions).To(ContainElement(And(HaveField("Type", "Ready"), HaveField("Status", metav1.ConditionFalse),
			HaveField("Reason", backupv1.ReasonInvalidSchedule), HaveField("Message", ContainSubstring("fields")))))
		Expect(jobsIn(ctx, ns)).To(BeEmpty())

		b.Spec.Schedule = "0 2 * * *"
		Expect(admin.Update(ctx, b)).To(Succeed())
		observed(ctx, b)
		Expect(b.Status.Phase).To(Equal(backupv1.PhaseScheduled))
		Expect(b.Status.NextScheduleTime).NotTo(BeNil())
	})

	It("makes a valid Job for the longest name, and for one with dots", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		startController(ns, clocktesting.NewFakePassiveClock(tick), interceptor.Funcs{})
		for _, name := range []string{"db.prod.eu", strings.Repeat("n", 48), strings.Repeat("n", 52), strings.Repeat("n", 53), strings.Repeat("n", 63)} {
			b := backup(ctx, ns, name, func(b *backupv1.BackupJob) {
				b.Annotations = map[string]string{backupv1.AnnotationRunRequestedAt: "now"}
			})
			Eventually(ctx, func(g Gomega) {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
				g.Expect(b.Status.LastHandledRunRequest).To(Equal("now"))
				g.Expect(b.Status.Active).To(HaveLen(1))
			}).WithTimeout(soon).Should(Succeed(), "a run must start for "+name)
		}
		Expect(jobsIn(ctx, ns)).To(HaveLen(5))
	})

	It("shows a Job that is refused as a condition, and tries no more until the next tick", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		Expect(admin.Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "none"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}},
			Status:     corev1.ResourceQuotaStatus{},
		})).To(Succeed())
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "none"}}
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
		// No quota controller runs here, so the status is set by hand.
		quota.Status = corev1.ResourceQuotaStatus{
			Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}, Used: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")},
		}
		Expect(admin.Status().Update(ctx, quota)).To(Succeed())
		startController(ns, clocktesting.NewFakePassiveClock(tick), interceptor.Funcs{})
		b := backup(ctx, ns, "a", func(b *backupv1.BackupJob) {
			b.Annotations = map[string]string{backupv1.AnnotationRunRequestedAt: "now"}
		})
		Eventually(ctx, func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.Conditions).To(ContainElement(And(
				HaveField("Reason", backupv1.ReasonRunForbidden), HaveField("Message", ContainSubstring("quota")))))
		}).WithTimeout(soon).Should(Succeed(), "the quota must show")
		Expect(jobsIn(ctx, ns)).To(BeEmpty())
	})
})

// bindShippedRole applies the controller's ClusterRole as it is rendered and
// binds it to the controller's account.
func bindShippedRole(ctx context.Context) {
	GinkgoHelper()
	for _, role := range typed[rbacv1.ClusterRole](rendered(), "ClusterRole") {
		if role.Name != "backupjob-controller" {
			continue
		}
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, role))).To(Succeed())
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "integration-controller"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: "backupjob-controller"}},
		}))).To(Succeed())
		return
	}
	Fail("config/default has no ClusterRole backupjob-controller")
}

// unbindShippedRole leaves the controller's account with what its groups may,
// to the end of the spec.
func unbindShippedRole(ctx context.Context) {
	GinkgoHelper()
	var bindings rbacv1.ClusterRoleBindingList
	Expect(admin.List(ctx, &bindings)).To(Succeed())
	account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: "backupjob-controller"}
	for _, binding := range bindings.Items {
		if !slices.Contains(binding.Subjects, account) {
			continue
		}
		Expect(admin.Delete(ctx, &binding)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			binding.ObjectMeta = metav1.ObjectMeta{Name: binding.Name, Labels: binding.Labels, Annotations: binding.Annotations}
			Expect(client.IgnoreAlreadyExists(admin.Create(ctx, &binding))).To(Succeed())
		})
	}
	Eventually(ctx, func(g Gomega) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               controllerUser,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: "batch", Resource: "jobs", Namespace: "default"},
		}}
		g.Expect(admin.Create(ctx, review)).To(Succeed())
		g.Expect(review.Status.Allowed).To(BeFalse())
	}).WithTimeout(soon).Should(Succeed(), "a binding takes a moment to be forgotten")
}

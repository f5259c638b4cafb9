// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// bind gives a user these rights in the whole cluster, until the spec ends.
func bind(ctx context.Context, user string, rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "integration-"}, Rules: rules}
	Expect(admin.Create(ctx, role)).To(Succeed())
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}, {APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: user},
		},
	}
	Expect(admin.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(admin.Delete(ctx, binding)).To(Succeed())
		Expect(admin.Delete(ctx, role)).To(Succeed())
	})
}

// without is the rules less one verb of one rule. A watch goes with its list:
// alone it is missed only by and by.
func without(rules []rbacv1.PolicyRule, rule int, verb string) []rbacv1.PolicyRule {
	rest := slices.Clone(rules)
	rest[rule].Verbs = slices.DeleteFunc(slices.Clone(rest[rule].Verbs), func(v string) bool {
		return v == verb || verb == "list" && v == "watch"
	})
	if len(rest[rule].Verbs) == 0 {
		rest = slices.Delete(rest, rule, rule+1)
	}
	return rest
}

// shippedRules are those of the controller's ClusterRole.
func shippedRules() []rbacv1.PolicyRule {
	GinkgoHelper()
	for _, role := range typed[rbacv1.ClusterRole](rendered(), "ClusterRole") {
		if role.Name == "backupjob-controller" {
			return role.Rules
		}
	}
	Fail("config/default has no ClusterRole backupjob-controller")
	return nil
}

// leave starts the controller and does not wait for its end: a manager whose
// caches do not fill, for want of a right, does not notice that it is to end.
// Its requests end.
func leave(user, namespace string, clock *clocktesting.FakePassiveClock) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = controllerWithRightsOf(user)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return until{ctx, next} })
	mgr := newController(cfg, namespace, clock, interceptor.Funcs{})
	go func() { _ = mgr.Start(ctx) }()
}

// until passes requests on until its context ends, and ends those that go on.
type until struct {
	ctx  context.Context
	next http.RoundTripper
}

func (u until) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	context.AfterFunc(u.ctx, cancel)
	return u.next.RoundTrip(r.WithContext(ctx))
}

var _ = Describe("The controller's role, with OwnerReferencesPermissionEnforcement on", func() {
	It("is enough for a whole life, and no verb of it can go", func(ctx context.Context) {
		unbindShippedRole(ctx)
		type part struct {
			what  string
			rules []rbacv1.PolicyRule
		}
		shipped := shippedRules()
		parts := []part{{"nothing", shipped}}
		for i, rule := range shipped {
			for _, verb := range rule.Verbs {
				if verb != "watch" {
					parts = append(parts, part{fmt.Sprintf("%s of %v %v", verb, rule.APIGroups, rule.Resources), without(shipped, i, verb)})
				}
			}
		}
		results := make([]error, len(parts))
		clock := clocktesting.NewFakePassiveClock(time.Now())
		var all sync.WaitGroup
		for i, p := range parts {
			user, ns := fmt.Sprintf("integration:part-%d", i), newNamespace(ctx, nil)
			bind(ctx, user, p.rules)
			leave(user, ns, clock)
			patience := soon
			if i > 0 {
				patience /= 2 // with what will not come
			}
			all.Go(func() {
				defer GinkgoRecover()
				results[i] = (&life{namespace: ns, clock: clock, patience: patience}).live(ctx)
			})
		}
		all.Wait()
		Expect(results[0]).NotTo(HaveOccurred(), "the shipped role")
		for i, p := range parts[1:] {
			Expect(results[i+1]).To(HaveOccurred(), "nothing breaks without %s", p.what)
			GinkgoWriter.Printf("without %s: %v\n", p.what, results[i+1])
		}
	})

	It("is enough for the lease, and no verb of it can go", func(ctx context.Context) {
		type part struct {
			what  string
			rules []rbacv1.PolicyRule
		}
		shipped := shippedLease().Rules
		parts := []part{{"nothing", shipped}}
		for i, rule := range shipped {
			for _, verb := range rule.Verbs {
				parts = append(parts, part{verb, without(shipped, i, verb)})
			}
		}
		leads := make([]bool, len(parts))
		var all sync.WaitGroup
		for i, p := range parts {
			user, ns := fmt.Sprintf("integration:lease-%d", i), newNamespace(ctx, nil)
			bindLease(ctx, ns, user, p.rules)
			bind(ctx, user, shippedRules())
			all.Go(func() {
				defer GinkgoRecover()
				leads[i] = keepsLeading(ctx, user, ns)
			})
		}
		all.Wait()
		Expect(leads[0]).To(BeTrue(), "the shipped role")
		for i, p := range parts[1:] {
			Expect(leads[i+1]).To(BeFalse(), "nothing breaks without %s of the lease", p.what)
		}
	})
})

// keepsLeading says whether a manager of that user gets the lease and renews
// it.
func keepsLeading(ctx context.Context, user, namespace string) bool {
	GinkgoHelper()
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user}
	lasts, renew, again := 3*time.Second, 2*time.Second, 200*time.Millisecond
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Logger: logs.logger(), Metrics: metricsserver.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "backupjob-operator.example.com", LeaderElectionNamespace: namespace,
		LeaseDuration: &lasts, RenewDeadline: &renew, RetryPeriod: &again,
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = mgr.Start(ctx) // losing the lease is an error
	}()
	keeps := false
	select {
	case <-mgr.Elected():
		select {
		case <-ended:
		case <-time.After(2 * lasts):
			keeps = true
		}
	case <-time.After(2 * lasts):
	}
	cancel()
	<-ended
	return keeps
}

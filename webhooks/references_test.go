// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rights answers reviews as an API server with these rights would, and
// remembers what it was asked.
type rights struct {
	mu    sync.Mutex
	has   []string // "get secrets/name", "create pods"
	fails bool
	hangs bool
	asked []authorizationv1.SubjectAccessReviewSpec
}

func (r *rights) Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	r.mu.Lock()
	r.asked = append(r.asked, review.Spec)
	r.mu.Unlock()
	if r.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if r.fails {
		return nil, errors.New("the API server is away")
	}
	answer := review.DeepCopy()
	answer.Status.Allowed = slices.Contains(r.has, question(review.Spec))
	return answer, nil
}

func question(spec authorizationv1.SubjectAccessReviewSpec) string {
	a := spec.ResourceAttributes
	text := a.Verb + " " + a.Resource
	if a.Name != "" {
		text += "/" + a.Name
	}
	return text
}

// questions are sorted: they are asked at the same time.
func (r *rights) questions() []string {
	var all []string
	for _, spec := range r.asked {
		all = append(all, question(spec))
	}
	slices.Sort(all)
	return all
}

func checker(t *testing.T, mode ReferenceMode, r *rights) *references {
	t.Helper()
	m, err := newMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &references{mode: mode, reviewer: r, timeout: time.Minute, metrics: m}
}

var developer = authenticationv1.UserInfo{
	Username: "developer", UID: "u1", Groups: []string{"shop", "system:authenticated"},
	Extra: map[string]authenticationv1.ExtraValue{"example.com/tenant": {"a", "b"}},
}

func TestWhatIsAskedForWhichWrite(t *testing.T) {
	credentials := []string{"get secrets/nightly-credentials"}
	cases := map[string]struct {
		manifest string
		old, new string
		want     []string
	}{
		"a create asks for the default Secret":             {jobV1, "", `{}`, credentials},
		"a create in v1alpha1 too":                         {mysqlAlpha, "", `{}`, credentials},
		"resources and the schema's defaults need nothing": {jobV1, "", `{spec: {podTemplate: {resources: {limits: {cpu: 1}}, runAsUser: 65532, fsGroup: 65532}}}`, credentials},
		"every Secret is asked for, each once": {jobV1, "", `{spec: {source: {credentialsSecretRef: {name: a}, tls: {mode: VerifyCA, caSecretRef: {name: b}}}, podTemplate: {imagePullSecrets: [{name: c}, {name: a}]}}}`,
			[]string{"get secrets/a", "get secrets/b", "get secrets/c", "create pods"}},
		"an image needs Pods":                {jobV1, "", `{spec: {podTemplate: {image: x}}}`, append(slices.Clone(credentials), "create pods")},
		"another user needs Pods":            {jobV1, "", `{spec: {podTemplate: {runAsUser: 1}}}`, append(slices.Clone(credentials), "create pods")},
		"another claim needs Pods":           {jobAlpha, "", `{spec: {storageClaim: x}}`, append(slices.Clone(credentials), "create pods")},
		"a folder needs Pods":                {jobV1, "", `{spec: {storage: {persistentVolumeClaim: {subPath: x}}}}`, append(slices.Clone(credentials), "create pods")},
		"the default claim written out":      {jobV1, "", `{spec: {storage: {persistentVolumeClaim: {claimName: nightly-backups}}}}`, credentials},
		"harmless edits ask for nothing":     {jobV1, `{}`, `{spec: {schedule: "0 3 * * *", timeZone: Europe/Rome, retention: {days: 3}, suspend: true, successfulJobsHistoryLimit: 1, maxRetries: 0, podTemplate: {resources: {limits: {cpu: 1}}}}}`, nil},
		"label edits ask for nothing":        {jobV1, `{}`, `{metadata: {labels: {a: b}}}`, nil},
		"the default Secret written out":     {jobV1, `{}`, `{spec: {suspend: true, source: {credentialsSecretRef: {name: nightly-credentials}, port: 3306}}}`, nil},
		"another host":                       {jobV1, `{}`, `{spec: {source: {host: evil.example.com}}}`, credentials},
		"another port in v1alpha1":           {jobAlpha, `{}`, `{spec: {databaseHost: "db.example.com:3307"}}`, credentials},
		"another engine":                     {jobV1, `{}`, `{spec: {source: {engine: MariaDB}}}`, credentials},
		"other databases":                    {mysqlV1, `{}`, `{spec: {source: {databases: [orders, users]}}}`, credentials},
		"other TLS":                          {mysqlV1, `{}`, `{spec: {source: {tls: {mode: Disabled}}}}`, credentials},
		"other options":                      {mysqlV1, `{}`, `{spec: {source: {options: {routines: false}}}}`, credentials},
		"another key of the Secret":          {jobAlpha, `{}`, `{spec: {credentialKeys: {passwordKey: token}}}`, credentials},
		"the claim goes back to the default": {jobV1, `{spec: {storage: {persistentVolumeClaim: {claimName: x}}}}`, `{}`, credentials},
		"a kept image and another host":      {jobV1, `{spec: {podTemplate: {image: x}}}`, `{spec: {source: {host: h}, podTemplate: {image: x}}}`, append(slices.Clone(credentials), "create pods")},
		"a node selector":                    {jobV1, `{}`, `{spec: {podTemplate: {nodeSelector: {a: b}}}}`, append(slices.Clone(credentials), "create pods")},
		"an object that is being deleted":    {jobV1, deleted, deleted, nil},
		"nothing is asked about no name":     {jobV1, "", `{spec: {source: {tls: {caSecretRef: {name: ""}}}}}`, credentials},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var old []byte
			if c.old != "" {
				old = object(t, c.manifest, c.old)
			}
			r := &rights{has: []string{"get secrets/nightly-credentials", "get secrets/a", "get secrets/b", "get secrets/c", "create pods"}}
			v := judged(t, object(t, c.manifest, c.new), old)
			before := told(v)
			checker(t, ReferencesEnforce, r).check(t.Context(), v, developer, "shop")
			if diff := cmp.Diff(slices.Sorted(slices.Values(c.want)), r.questions()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if after := told(v); after != before {
				t.Errorf("who has the rights is told %q", after)
			}
		})
	}
}

// crowd answers nobody before all have asked.
type crowd struct {
	rights
	all sync.WaitGroup
}

func (c *crowd) Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, o metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	c.all.Done()
	c.all.Wait()
	return c.rights.Create(ctx, review, o)
}

func TestTheQuestionsOfOneWriteAreAskedAtTheSameTime(t *testing.T) {
	c := &crowd{}
	c.all.Add(3)
	m, err := newMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := judged(t, object(t, jobV1, `{spec: {source: {tls: {mode: VerifyCA, caSecretRef: {name: ca}}}, podTemplate: {image: x}}}`), nil)
	(&references{mode: ReferencesEnforce, reviewer: c, timeout: time.Minute, metrics: m}).check(t.Context(), v, developer, "shop")
	if len(v.Faults) != 3 {
		t.Errorf("got %v, want a fault per question", v.Faults)
	}
}

func TestTheUserIsAskedForAsTheyAre(t *testing.T) {
	r := &rights{}
	checker(t, ReferencesEnforce, r).check(t.Context(), judged(t, object(t, jobV1), nil), developer, "shop")
	want := authorizationv1.SubjectAccessReviewSpec{
		User: "developer", UID: "u1", Groups: []string{"shop", "system:authenticated"},
		Extra: map[string]authorizationv1.ExtraValue{"example.com/tenant": {"a", "b"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: "shop", Verb: "get", Version: "v1", Resource: "secrets", Name: "nightly-credentials",
		},
	}
	if diff := cmp.Diff([]authorizationv1.SubjectAccessReviewSpec{want}, r.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatAUserMayNotDoIsToldInTheirVersion(t *testing.T) {
	cases := map[string]struct {
		manifest, write string
		mode            ReferenceMode
		rights          *rights
		want            string
	}{
		"enforced in v1": {jobV1, `{spec: {source: {tls: {mode: VerifyCA, caSecretRef: {name: nightly-credentials}}}, podTemplate: {image: x}, storage: {persistentVolumeClaim: {claimName: c, subPath: s}}}}`, ReferencesEnforce, &rights{},
			`spec.source.credentialsSecretRef.name: Forbidden: user 'developer' has no right to 'get' the Secret 'nightly-credentials' in namespace 'shop'; ask for it, or use what you have a right to
spec.source.tls.caSecretRef.name: Forbidden: user 'developer' has no right to 'get' the Secret 'nightly-credentials' in namespace 'shop'; ask for it, or use what you have a right to
spec.storage.persistentVolumeClaim.claimName: Forbidden: user 'developer' has no right to 'create' pods in namespace 'shop'; ask for it, or use what you have a right to
spec.storage.persistentVolumeClaim.subPath: Forbidden: user 'developer' has no right to 'create' pods in namespace 'shop'; ask for it, or use what you have a right to
spec.podTemplate: Forbidden: user 'developer' has no right to 'create' pods in namespace 'shop'; ask for it, or use what you have a right to`},
		"enforced in v1alpha1, among other faults": {mysqlAlpha, `{spec: {retentionDays: 0, storageClaim: x, backupSchedule: abc}}`, ReferencesEnforce, &rights{has: []string{"create pods"}},
			`spec.backupSchedule: Invalid value: "abc": must have five fields (minute, hour, day of month, month, day of week) such as '0 2 * * *'; found 1 field
spec.secretRef: Forbidden: user 'developer' has no right to 'get' the Secret 'nightly-credentials' in namespace 'shop'; ask for it, or use what you have a right to
spec.retentionDays: Invalid value: 0: must be 1 to 3650`},
		"warned": {jobAlpha, `{}`, ReferencesWarn, &rights{},
			`Warning: spec.secretRef: user 'developer' has no right to 'get' the Secret 'nightly-credentials' in namespace 'shop'; ask for it, or use what you have a right to`},
		"off": {jobAlpha, `{}`, ReferencesOff, &rights{}, ""},
		"the API server does not answer": {jobAlpha, `{}`, ReferencesEnforce, &rights{fails: true},
			`spec.secretRef: Internal error: whether user 'developer' has the right to 'get' the Secret 'nightly-credentials' in namespace 'shop' could not be found out in time; try again`},
		"one fault per field, the first": {jobAlpha, `{spec: {secretRef: A}}`, ReferencesEnforce, &rights{},
			`spec.secretRef: Invalid value: "A": must be in lower case: 'a'`},
		"no right is asked for in what is no object": {jobV1, `{spec: {podTemplate: 5}}`, ReferencesEnforce, &rights{has: []string{"get secrets/nightly-credentials"}},
			`spec.podTemplate: Invalid value: 5: must hold fields, each written as 'name: value'`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := judged(t, object(t, c.manifest, c.write), nil)
			checker(t, c.mode, c.rights).check(t.Context(), v, developer, "shop")
			if diff := cmp.Diff(c.want, told(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAnswerThatDoesNotComeIsNotWaitedForForever(t *testing.T) {
	c := checker(t, ReferencesEnforce, &rights{hangs: true})
	c.timeout = 20 * time.Millisecond
	v := judged(t, object(t, jobV1), nil)
	c.check(t.Context(), v, developer, "shop")
	if v.Allowed() || !errors.Is(v.unanswered, context.DeadlineExceeded) {
		t.Errorf("got %s, %v", told(v), v.unanswered)
	}
}

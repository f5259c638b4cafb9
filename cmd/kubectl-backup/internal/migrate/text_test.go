// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var noon = time.Date(2027, 3, 20, 12, 0, 0, 0, time.UTC)

// aPlan is a plan with one of everything.
func aPlan() *Report {
	object := anObject("team-a", "nightly")
	refusal := apierrors.NewForbidden(schema.GroupResource{Group: "backup.example.com", Resource: "backupjobs"}, "nightly",
		errors.New(`admission webhook "labels.policy.example.com" denied the request: each object needs the label team`))
	r := &Report{
		Command: "plan",
		Resources: []*Resource{
			{Name: "backupjobs", StoredVersions: []string{"v1alpha1", "v1"}, ServedVersions: []string{"v1", "v1alpha1"}, Objects: 6000, Accepted: 5999, Refused: 1, Checksum: strings.Repeat("a1", 32)},
			{Name: "mysqlbackups", StoredVersions: []string{"v1"}, ServedVersions: []string{"v1", "v1alpha1"}, Objects: 4000, Accepted: 4000, Different: 1, Checksum: strings.Repeat("b2", 32)},
		},
		Managers: []*Manager{
			{Name: "argocd-controller", Operation: "Apply", Resource: "backupjobs", Objects: 1200, LastTime: new(noon.Add(-3 * time.Minute))},
			{Name: "old-controller", Operation: "Update", Subresource: "status", Resource: "mysqlbackups", Objects: 7},
		},
		Problems: []Problem{
			{Kind: "BackupJob", Namespace: "team-a", Name: "nightly", Reason: ReasonRefused, Message: refusal.Error(), Advice: adviceOnRefusal(object, refusal)},
		},
	}
	r.check("Conversion of backupjobs", ResultOK, "works; 2 ready endpoints of Service backupjob-system/backupjob-webhook; CA bundle valid until 2028-03-19", "")
	r.check("Webhook mutate-backupjob.backup.example.com", ResultWarning, "2 ready endpoints of Service backupjob-system/backupjob-webhook; the CA bundle ends 2027-03-21T12:00:00Z",
		"Look at the certificate and at cert-manager's cainjector: kubectl get certificate -n backupjob-system")
	(&migration{}).planNext(context.Background(), nil, r)
	return r
}

const planText = `RESOURCE       STORED VERSIONS   SERVED VERSIONS   OBJECTS   ACCEPTED   REFUSED   DIFFERENT   CHECKSUM
backupjobs     v1alpha1,v1       v1,v1alpha1       6000      5999       1         0           a1a1a1a1a1a1
mysqlbackups   v1                v1,v1alpha1       4000      4000       0         1           b2b2b2b2b2b2

Who wrote fields in v1alpha1:
MANAGER             OPERATION   SUBRESOURCE   RESOURCE       OBJECTS   LAST CHANGE
argocd-controller   Apply       <none>        backupjobs     1200      3m ago
old-controller      Update      status        mysqlbackups   7         <none>

CHECK                                         RESULT    WHAT WAS FOUND
Conversion of backupjobs                      OK        works; 2 ready endpoints of Service backupjob-system/backupjob-webhook; CA bundle valid until 2028-03-19
Webhook mutate-backupjob.backup.example.com   Warning   2 ready endpoints of Service backupjob-system/backupjob-webhook; the CA bundle ends 2027-03-21T12:00:00Z

Warning: Webhook mutate-backupjob.backup.example.com
  Look at the certificate and at cert-manager's cainjector: kubectl get certificate -n backupjob-system

Refused: bj/nightly in namespace team-a
  backupjobs.backup.example.com "nightly" is forbidden: admission webhook "labels.policy.example.com" denied the request: each object needs the label team
  Correct what the webhook "labels.policy.example.com" asks for with 'kubectl edit -n team-a backupjobs.backup.example.com nightly', or exempt the object from that webhook; then try again.

The migration must not begin yet: see what is Blocked, Refused, Unanswered or Different above. Nothing was changed.
`

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	if err := aPlan().write(&out, noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planText, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteShowsAPersonOnlySoManyProblems(t *testing.T) {
	r := &Report{Command: "run"}
	for range 3 * mostShown {
		r.Problems = append(r.Problems, Problem{Kind: "BackupJob", Namespace: "a", Name: "b", Reason: ReasonRefused, Message: "no", Advice: "do"})
	}
	var out bytes.Buffer
	if err := r.write(&out, noon); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "Refused: bj/b in namespace a\n  no\n  do\n"); got != mostShown {
		t.Errorf("%d problems are shown, want %d", got, mostShown)
	}
	if !strings.Contains(out.String(), "These are 20 of 60 objects that stand in the way; -o json names all.") {
		t.Error(out.String())
	}
}

// TestTheShapeOfTheReport pins what programs read.
func TestTheShapeOfTheReport(t *testing.T) {
	r := aPlan()
	r.Resources, r.Managers, r.Checks = r.Resources[:1], r.Managers[:1], r.Checks[1:]
	r.note("n")
	want := `{"command":"plan","dryRun":false,"ok":false,` +
		`"resources":[{"name":"backupjobs","kind":"","storedVersions":["v1alpha1","v1"],"servedVersions":["v1","v1alpha1"],` +
		`"objects":6000,"accepted":5999,"refused":1,"checksum":"` + strings.Repeat("a1", 32) + `"}],` +
		`"managers":[{"name":"argocd-controller","operation":"Apply","resource":"backupjobs","objects":1200,"lastTime":"2027-03-20T11:57:00Z"}],` +
		`"checks":[{"name":"Webhook mutate-backupjob.backup.example.com","result":"Warning",` +
		`"message":"2 ready endpoints of Service backupjob-system/backupjob-webhook; the CA bundle ends 2027-03-21T12:00:00Z",` +
		`"advice":"Look at the certificate and at cert-manager's cainjector: kubectl get certificate -n backupjob-system"}],` +
		`"problems":[{"kind":"BackupJob","namespace":"team-a","name":"nightly","reason":"Refused",` +
		`"message":"backupjobs.backup.example.com \"nightly\" is forbidden: admission webhook \"labels.policy.example.com\" denied the request: each object needs the label team",` +
		`"advice":"Correct what the webhook \"labels.policy.example.com\" asks for with 'kubectl edit -n team-a backupjobs.backup.example.com nightly', or exempt the object from that webhook; then try again."}],` +
		`"notes":["n"],` +
		`"next":["The migration must not begin yet: see what is Blocked, Refused, Unanswered or Different above. Nothing was changed."]}` + "\n"
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)+"\n"); diff != "" {
		t.Error(diff)
	}
}

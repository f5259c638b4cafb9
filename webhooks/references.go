// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// ReferenceMode says what happens when a user may not use what an object
// names.
type ReferenceMode string

// The modes of reference authorization.
const (
	// ReferencesEnforce refuses the object. It is the default.
	ReferencesEnforce ReferenceMode = "enforce"
	// ReferencesWarn accepts it with a warning.
	ReferencesWarn ReferenceMode = "warn"
	// ReferencesOff never asks.
	ReferencesOff ReferenceMode = "off"
)

// defaultReviewTimeout leaves half of the webhook's ten seconds for the rest.
const defaultReviewTimeout = 5 * time.Second

// Reviewer asks the API server what a user may do. The interface of client-go
// for SubjectAccessReviews is one.
type Reviewer interface {
	Create(context.Context, *authorizationv1.SubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error)
}

// references asks whether the user of a request may use what an object names:
// whoever may not read a Secret must not have it sent to a host of their
// choice.
type references struct {
	mode     ReferenceMode
	reviewer Reviewer
	timeout  time.Duration
	metrics  *metrics
}

// need is one right that an object takes, and the fields that take it.
type need struct {
	verb, resource, name string
	fields               []*field.Path
}

func (n need) String() string {
	if n.name == "" {
		return fmt.Sprintf("'%s' %s", n.verb, n.resource)
	}
	return fmt.Sprintf("'%s' the Secret '%s'", n.verb, cut(n.name, maxValue))
}

// check adds what the user may not do to the verdict.
func (c *references) check(ctx context.Context, v *Verdict, user authenticationv1.UserInfo, namespace string) {
	if c.mode == ReferencesOff || v.Unchanged || v.Ending || v.Old != nil && equality.Semantic.DeepEqual(sensitive(v.Old), sensitive(v.Effective)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	asked := needs(v.Effective)
	for i, answer := range c.askAll(ctx, asked, user, namespace) {
		n, err := asked[i], answer.err
		c.metrics.reviewed(answer.allowed, err)
		if answer.allowed && err == nil {
			continue
		}
		message, kind := fmt.Sprintf("user '%s' has no right to %s in namespace '%s'; ask for it, or use what you have a right to",
			cut(user.Username, maxValue), n, namespace), field.ErrorTypeForbidden
		if err != nil {
			v.unanswered = err
			kind = field.ErrorTypeInternal
			message = fmt.Sprintf("whether user '%s' has the right to %s in namespace '%s' could not be found out in time; try again",
				cut(user.Username, maxValue), n, namespace)
		}
		c.tell(v, n, kind, message)
	}
	v.sort()
}

// maxQuestions is how many questions of one request are asked at a time.
const maxQuestions = 4

type answer struct {
	allowed  bool
	err      error
	panicked any
}

// askAll asks at the same time, because the user waits: each question is a call
// of the API server. What panics, panics in the caller.
func (c *references) askAll(ctx context.Context, asked []need, user authenticationv1.UserInfo, namespace string) []answer {
	answers := make([]answer, len(asked))
	var group errgroup.Group
	group.SetLimit(maxQuestions)
	for i, n := range asked {
		group.Go(func() error {
			a := &answers[i]
			defer func() { a.panicked = recover() }()
			a.allowed, a.err = c.ask(ctx, n, user, namespace)
			return nil
		})
	}
	_ = group.Wait() // no question fails for the others
	for _, a := range answers {
		if a.panicked != nil {
			panic(a.panicked)
		}
	}
	return answers
}

func (c *references) ask(ctx context.Context, n need, user authenticationv1.UserInfo, namespace string) (bool, error) {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	answer, err := c.reviewer.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: n.verb, Version: "v1", Resource: n.resource, Name: n.name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}

// tell adds a fault per field, unless the field has one already.
func (c *references) tell(v *Verdict, n need, kind field.ErrorType, message string) {
	d := v.document
	for _, hub := range n.fields {
		at := d.written(d.asHub.shape.parse(hub.String()))
		if c.mode == ReferencesWarn {
			v.Warnings = append(v.Warnings, Warning{Field: at.shown(), Message: message, at: at})
		} else if !v.faulty(at) {
			v.Faults = append(v.Faults, Fault{Field: at.shown(), Message: message, Type: kind, at: at})
		}
	}
}

func (v *Verdict) faulty(at path) bool {
	for _, f := range v.Faults {
		if f.at.String() == at.String() {
			return true
		}
	}
	return false
}

// needs lists the rights that an object takes: to read every Secret that it
// uses, and to create Pods where it decides what kind of Pod runs or which
// part of which volume it writes to.
func needs(b backupv1.Backup) []need {
	var all []need
	secret := func(name string, at *field.Path) {
		if name == "" {
			return // a fault says so; and to ask for no name is to ask for all
		}
		for i := range all {
			if all[i].name == name {
				all[i].fields = append(all[i].fields, at)
				return
			}
		}
		all = append(all, need{verb: "get", resource: "secrets", name: name, fields: []*field.Path{at}})
	}
	secret(backupv1.CredentialsSecretName(b), sourcePath.Child("credentialsSecretRef", "name"))
	if tls := b.Server().TLS; tls != nil && tls.CASecretRef != nil {
		secret(tls.CASecretRef.Name, sourcePath.Child("tls", "caSecretRef", "name"))
	}
	if pod := b.Policy().PodTemplate; pod != nil {
		for i, ref := range pod.ImagePullSecrets {
			secret(ref.Name, podPath.Child("imagePullSecrets").Index(i).Child("name"))
		}
	}
	if pods := podsNeed(b); len(pods.fields) > 0 {
		all = append(all, pods)
	}
	return all
}

// podsNeed is the right to create Pods, with the fields that take it, if any.
func podsNeed(b backupv1.Backup) need {
	pods := need{verb: "create", resource: "pods"}
	if !equality.Semantic.DeepEqual(decisive(b), backupv1.PodTemplate{}) {
		pods.fields = append(pods.fields, podPath)
	}
	if backupv1.ClaimName(b) != b.GetName()+"-backups" {
		pods.fields = append(pods.fields, claimPath.Child("claimName"))
	}
	if subPath(b) != "" {
		pods.fields = append(pods.fields, claimPath.Child("subPath"))
	}
	return pods
}

// decisive is what a podTemplate says beside resources, without the schema's
// defaults.
func decisive(b backupv1.Backup) backupv1.PodTemplate {
	if b.Policy().PodTemplate == nil {
		return backupv1.PodTemplate{}
	}
	pod := *b.Policy().PodTemplate
	pod.Resources = nil
	for _, id := range []**int64{&pod.RunAsUser, &pod.FSGroup} {
		if *id != nil && **id == backupv1.DefaultRunAsID {
			*id = nil
		}
	}
	return pod
}

// sensitiveParts are what decides where a Secret's content or a dump goes, or
// who sees it, with effective names.
type sensitiveParts struct {
	Engine    backupv1.Engine
	Server    backupv1.Server
	Databases []backupv1.DatabaseName
	Options   *backupv1.MySQLOptions
	Claim     string
	SubPath   string
	Pod       backupv1.PodTemplate
}

func sensitive(b backupv1.Backup) sensitiveParts {
	s := sensitiveParts{
		Engine: b.Engine(), Server: *b.Server().DeepCopy(), Databases: b.Databases(), Options: b.DumpOptions(),
		Claim: backupv1.ClaimName(b), SubPath: subPath(b), Pod: decisive(b),
	}
	s.Server.Port = new(backupv1.EffectivePort(b))
	if s.Server.CredentialsSecretRef == nil {
		s.Server.CredentialsSecretRef = &backupv1.CredentialsSecretRef{}
	}
	s.Server.CredentialsSecretRef.Name = new(backupv1.CredentialsSecretName(b))
	return s
}

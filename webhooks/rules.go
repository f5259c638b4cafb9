// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// finding is a fault before it is known which of several at one place is told.
type finding struct {
	at      path
	kind    field.ErrorType
	message string
	rank    int  // of several findings of the schema the lowest is told
	rule    bool // a CEL rule said so
	hidden  bool // the value says nothing, or may hold a secret
}

// rankLast is the rank of a finding that explains nothing.
const rankLast = 1

var (
	metadataPath = field.NewPath("metadata")
	specPath     = field.NewPath("spec")
	sourcePath   = specPath.Child("source")
	claimPath    = specPath.Child("storage", "persistentVolumeClaim")
	podPath      = specPath.Child("podTemplate")
)

// rules are all rules of this package. Each judges one part of an object as
// v1, and says nothing about what the schema says well enough.
var rules = []func(backupv1.Backup, *report){
	judgeMetadata, judgeServer, judgeNames, judgeDatabases, judgeTime, judgeStorage,
	judgePodLabels, judgeImage, judgeResources, judgeTolerations, judgeAffinity,
}

// report collects what the rules find.
type report struct {
	shape *shape // of v1
	alpha bool   // the object was written as v1alpha1
	found []finding
}

func (r *report) add(at *field.Path, message string) {
	if message != "" {
		r.found = append(r.found, finding{at: r.shape.parse(at.String()), kind: field.ErrorTypeInvalid, message: message})
	}
}

// hide is add for a value that must not, or need not, be shown.
func (r *report) hide(at *field.Path, message string) {
	if message != "" {
		r.add(at, message)
		r.found[len(r.found)-1].hidden = true
	}
}

func judgeMetadata(b backupv1.Backup, r *report) {
	name := metadataPath.Child("name")
	switch {
	case b.GetName() == "" && b.GetGenerateName() == "":
		r.add(name, "must be set")
	case len(b.GetName()) > backupv1.MaxNameLength:
		r.add(name, fmt.Sprintf("must have at most %d characters, because it becomes the value of a label; found %d",
			backupv1.MaxNameLength, len(b.GetName())))
	case b.GetName() != "":
		r.add(name, objectName(b.GetName()))
	}
	if value := b.GetAnnotations()[backupv1.AnnotationRunRequestedAt]; len(value) > maxRunRequest {
		r.add(metadataPath.Child("annotations").Key(backupv1.AnnotationRunRequestedAt),
			fmt.Sprintf("must have at most %d characters, such as a time", maxRunRequest))
	}
}

// maxRunRequest is what status.lastHandledRunRequest can hold.
const maxRunRequest = 256

// objectName judges the name of an object of Kubernetes.
func objectName(name string) string {
	switch {
	case len(validation.IsDNS1123Subdomain(name)) == 0:
		return ""
	case name == "":
		return "must not be empty; leave it out for the default"
	case len(name) > validation.DNS1123SubdomainMaxLength:
		return fmt.Sprintf("must have at most %d characters", validation.DNS1123SubdomainMaxLength)
	case strings.ToLower(name) != name && len(validation.IsDNS1123Subdomain(strings.ToLower(name))) == 0:
		return "must be in lower case: '" + cut(strings.ToLower(name), maxValue) + "'"
	}
	return "must have only lower-case letters, digits, '-' and '.', with a letter or digit at both ends " +
		"and on both sides of a '.', such as 'my-database.prod'"
}

// judgeNames judges the names of other objects and the keys of Secrets.
func judgeNames(b backupv1.Backup, r *report) {
	named := func(at *field.Path, name *string) {
		if name != nil {
			r.add(at, objectName(*name))
		}
	}
	keyed := func(at *field.Path, key *string) {
		if key != nil {
			r.add(at, secretKey(*key))
		}
	}
	if ref := b.Server().CredentialsSecretRef; ref != nil {
		at := sourcePath.Child("credentialsSecretRef")
		named(at.Child("name"), ref.Name)
		keyed(at.Child("usernameKey"), ref.UsernameKey)
		keyed(at.Child("passwordKey"), ref.PasswordKey)
	}
	if tls := b.Server().TLS; tls != nil && tls.CASecretRef != nil {
		at := sourcePath.Child("tls", "caSecretRef")
		r.add(at.Child("name"), requiredName(tls.CASecretRef.Name))
		keyed(at.Child("key"), tls.CASecretRef.Key)
	}
	if s := b.Policy().Storage; s != nil && s.PersistentVolumeClaim != nil {
		named(claimPath.Child("claimName"), s.PersistentVolumeClaim.ClaimName)
	}
	if pod := b.Policy().PodTemplate; pod != nil {
		for i := range pod.ImagePullSecrets {
			r.add(podPath.Child("imagePullSecrets").Index(i).Child("name"), requiredName(pod.ImagePullSecrets[i].Name))
		}
		named(podPath.Child("priorityClassName"), pod.PriorityClassName)
		named(podPath.Child("serviceAccountName"), pod.ServiceAccountName)
	}
}

func requiredName(name string) string {
	if name == "" {
		return "must be the name of a Secret"
	}
	return objectName(name)
}

func secretKey(key string) string {
	if len(validation.IsConfigMapKey(key)) == 0 {
		return ""
	}
	return "must be the key of a Secret: 1 to 253 letters, digits, '-', '_' and '.', not beginning with '..'"
}

// judgeTime judges the schedule and its zone, each for itself.
func judgeTime(b backupv1.Backup, r *report) {
	policy := b.Policy()
	r.add(specPath.Child("schedule"), words(schedule.CheckExpression(policy.Schedule)))
	if policy.TimeZone != nil {
		r.add(specPath.Child("timeZone"), words(schedule.CheckZone(*policy.TimeZone)))
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func judgeStorage(b backupv1.Backup, r *report) {
	if s := b.Policy().Storage; s != nil && s.PersistentVolumeClaim != nil && s.PersistentVolumeClaim.SubPath != nil {
		r.add(claimPath.Child("subPath"), words(checkSubPath(*s.PersistentVolumeClaim.SubPath)))
	}
}

func checkSubPath(folder string) error {
	switch {
	case folder == "":
		return errors.New("must not be empty; leave it out for the root of the volume")
	case strings.ContainsFunc(folder, isControl):
		return errors.New("must not contain control characters")
	case strings.HasPrefix(folder, "/"):
		return errors.New("must be relative to the root of the volume; write it without the '/' in front")
	case strings.Contains(folder, `\`):
		return errors.New(`must not contain '\'; write folders as 'team/mysql'`)
	}
	for part := range strings.SplitSeq(folder, "/") {
		switch {
		case part == "..":
			return errors.New("must not contain '..'; write the folder from the root of the volume, such as 'team/mysql'")
		case strings.HasPrefix(part, "-"):
			return errors.New("must not have a folder that begins with '-'")
		}
	}
	return nil
}

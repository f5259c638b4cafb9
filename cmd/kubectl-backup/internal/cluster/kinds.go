// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

// Kind is one of our kinds, with the names that people call it by.
type Kind struct {
	Name, Singular, Plural, Short string

	newObject func() backupv1.Backup
}

// Kinds are our kinds.
var Kinds = []Kind{
	{Name: backupv1.KindBackupJob, Singular: "backupjob", Plural: "backupjobs", Short: "bj",
		newObject: func() backupv1.Backup { return &backupv1.BackupJob{} }},
	{Name: backupv1.KindMySQLBackup, Singular: "mysqlbackup", Plural: "mysqlbackups", Short: "mb",
		newObject: func() backupv1.Backup { return &backupv1.MySQLBackup{} }},
}

// New is an empty object of the kind.
func (k Kind) New() backupv1.Backup { return k.newObject() }

// KindOf finds a kind by its name; false means that it is none of ours.
func KindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}

// Decode reads an object as the server sent it.
func Decode(from *unstructured.Unstructured) (backupv1.Backup, error) {
	kind, ok := KindOf(from.GetKind())
	if !ok {
		return nil, fmt.Errorf("the server sent a %q, which is no kind of ours", from.GetKind())
	}
	object := kind.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, object); err != nil {
		return nil, fmt.Errorf("read %s in namespace %s: %w", ShortName(kind.Name, from.GetName()), from.GetNamespace(), err)
	}
	return object, nil
}

// ShortName is an object's name as every command takes it: bj/nightly.
func ShortName(kind, name string) string {
	if k, ok := KindOf(kind); ok {
		return k.Short + "/" + name
	}
	return strings.ToLower(kind) + "/" + name
}

// FullName is an object's name as kubectl prints it:
// backupjob.backup.example.com/nightly.
func FullName(kind, name string) string {
	return strings.ToLower(kind) + "." + backupv1.GroupName + "/" + name
}

// parseName splits KIND/NAME. Without a kind, all our kinds may be meant.
func parseName(text string) (kinds []Kind, name string, err error) {
	kind, name, qualified := strings.Cut(text, "/")
	if !qualified {
		kinds, name = Kinds, kind
	}
	for _, k := range Kinds {
		if qualified && k.answersTo(kind) {
			kinds = []Kind{k}
		}
	}
	if len(kinds) == 0 {
		return nil, "", exit.Misusef("%q is no kind of ours: write bj/NAME for a BackupJob or mb/NAME for a MySQLBackup", kind)
	}
	if name == "" || strings.Contains(name, "/") {
		return nil, "", exit.Misusef("%q is no name: write bj/NAME for a BackupJob or mb/NAME for a MySQLBackup", text)
	}
	return kinds, name, nil
}

// answersTo recognises the spellings that kubectl does.
func (k Kind) answersTo(text string) bool {
	resource, group, _ := strings.Cut(strings.ToLower(text), ".")
	if group != "" && group != backupv1.GroupName && group != "v1."+backupv1.GroupName {
		return false
	}
	return resource == k.Singular || resource == k.Plural || resource == k.Short
}

// Find reads the object of a name such as bj/nightly. A bare name must be that
// of one object only.
func (c *Connection) Find(ctx context.Context, text string) (backupv1.Backup, error) {
	kinds, name, err := parseName(text)
	if err != nil {
		return nil, err
	}
	var found []backupv1.Backup
	for _, kind := range kinds {
		object := kind.New()
		err := c.Client.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, object)
		if apierrors.IsNotFound(err) && !serverLacks(err) {
			continue
		}
		if err != nil {
			return nil, Explain(err)
		}
		found = append(found, object)
	}
	return only(found, kinds, name, c.Namespace)
}

func only(found []backupv1.Backup, kinds []Kind, name, namespace string) (backupv1.Backup, error) {
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var names []string
		for _, object := range found {
			names = append(names, ShortName(object.Kind(), name))
		}
		return nil, exit.Misusef("%q is the name of %d objects in namespace %q: write %s",
			name, len(found), namespace, strings.Join(names, " or "))
	}
	var names []string
	for _, kind := range kinds {
		names = append(names, kind.Name)
	}
	return nil, fmt.Errorf("there is no %s %q in namespace %q: 'kubectl backup list -A' shows what there is",
		strings.Join(names, " or "), name, namespace)
}

// serverLacks tells a resource that the server does not serve from an object
// that does not exist: only the latter is named.
func serverLacks(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && (status.ErrStatus.Details == nil || status.ErrStatus.Details.Name == "")
}

// Explain says what a user can do about a server that does not know our kinds.
func Explain(err error) error {
	if apierrors.IsNotFound(err) && serverLacks(err) {
		return fmt.Errorf("the server does not serve %s: is the operator installed there, and is it the right context? (%w)",
			backupv1.GroupVersion, err)
	}
	return err
}

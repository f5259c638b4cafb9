// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

func (o *Options) header() []string {
	if o.NoHeaders {
		return nil
	}
	var header []string
	if o.AllNamespaces {
		header = append(header, "NAMESPACE")
	}
	header = append(header, "NAME", "SCHEDULE", "TIME ZONE", "PHASE", "LAST RESULT", "LAST SUCCESS", "NEXT RUN", "AGE")
	if o.Format.String() == output.Wide {
		header = append(header, "HOST", "DATABASES", "NEXT RUN (UTC)", "LAST BACKUP", "SIZE")
	}
	return header
}

func (o *Options) rows(objects []unstructured.Unstructured) ([][]string, error) {
	slices.SortStableFunc(objects, func(a, b unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
			cmp.Compare(a.GetKind(), b.GetKind()))
	})
	rows := make([][]string, 0, len(objects))
	for i := range objects {
		object, err := cluster.Decode(&objects[i])
		if err != nil {
			return nil, err
		}
		rows = append(rows, o.row(object))
	}
	return rows, nil
}

func (o *Options) row(b backupv1.Backup) []string {
	var row []string
	if o.AllNamespaces {
		row = append(row, b.GetNamespace())
	}
	now, policy, status := o.Clock.Now(), b.Policy(), b.RunStatus()
	next := unset(status.NextScheduleTime)
	row = append(row,
		cluster.ShortName(b.Kind(), b.GetName()), policy.Schedule, cmp.Or(policy.Zone(), "UTC"),
		phase(status), string(status.LastResult), output.Ago(now, unset(status.LastSuccessfulTime).Time),
		output.In(now, next.Time), output.Ago(now, b.GetCreationTimestamp().Time))
	if o.Format.String() == output.Wide {
		row = append(row, host(b), databases(b), output.Stamp(next.Time))
		row = append(row, lastBackup(status)...)
	}
	return row
}

func unset(at *metav1.Time) metav1.Time {
	if at == nil {
		return metav1.Time{}
	}
	return *at
}

// phase of an object that no controller has seen is Pending, as the API says.
func phase(status *backupv1.BackupStatus) string {
	return string(cmp.Or(status.Phase, backupv1.PhasePending))
}

func host(b backupv1.Backup) string {
	host := b.Server().Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(backupv1.EffectivePort(b)))
}

func databases(b backupv1.Backup) string {
	const most = 3
	names := b.Databases()
	if len(names) == 0 {
		return "all"
	}
	var shown []string
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, string(name))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return strings.Join(shown, ",")
}

func lastBackup(status *backupv1.BackupStatus) []string {
	last := status.LastBackup
	if last == nil {
		return []string{"", ""}
	}
	var size int64
	if last.SizeBytes != nil {
		size = *last.SizeBytes
	}
	return []string{last.Location, output.Size(size)}
}

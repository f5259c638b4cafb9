// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/messages.md anew")

// A message case is something wrong, or worth a warning, as people write it:
// what differs from the smallest manifest of the kind, and the fields that must
// be named, each with the type of its fault. The words are in docs/messages.md.
type messageCase struct {
	name     string
	manifest string
	write    string
	want     []string // "field: type", "warning field"
}

var long = strings.Repeat("x", 300)

var messageCases = slices.Concat(sourceMessages, timeMessages, policyMessages, podMessages, shapeMessages)

var sourceMessages = []messageCase{
	{"a host is missing", jobV1, `{spec: {source: {host: null}}}`, []string{"spec.source.host: Required value"}},
	{"a host is missing in v1alpha1", jobAlpha, `{spec: {databaseHost: null}}`, []string{"spec.databaseHost: Required value"}},
	{"a host is empty", jobV1, `{spec: {source: {host: ""}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a scheme", jobV1, `{spec: {source: {host: "mysql://db.example.com:3306/shop"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a scheme and nothing that could be proposed", jobV1, `{spec: {source: {host: "mysql://:3306"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has credentials, which are not shown", jobV1, `{spec: {source: {host: "root:hunter2@db"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a path", jobV1, `{spec: {source: {host: db.example.com/shop}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a port", jobV1, `{spec: {source: {host: "db.example.com:3307"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a port that is none", jobV1, `{spec: {source: {host: "db.example.com:mysql"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host in v1alpha1 has a port that is none", mysqlAlpha, `{spec: {host: "db.example.com:0"}}`, []string{"spec.host: Invalid value"}},
	{"a host in v1alpha1 has a port out of range", jobAlpha, `{spec: {databaseHost: "db.example.com:70000"}}`, []string{"spec.databaseHost: Invalid value"}},
	{"a host has brackets", jobV1, `{spec: {source: {host: "[fd00::10]"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host in v1alpha1 has brackets and no port", jobAlpha, `{spec: {databaseHost: "[fd00::10]"}}`, []string{"spec.databaseHost: Invalid value"}},
	{"a host has a blank", jobV1, `{spec: {source: {host: "db.example.com "}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a control character", jobV1, `{spec: {source: {host: "db\u0000x"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host is no DNS name", jobV1, `{spec: {source: {host: "-h"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has an empty label", jobV1, `{spec: {source: {host: "db..example.com"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host has a label that is too long", jobV1, `{spec: {source: {host: "` + strings.Repeat("a", 64) + `.example.com"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host is too long", jobV1, `{spec: {source: {host: "` + strings.Repeat("abc.", 70) + `de"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host is not ASCII", jobV1, `{spec: {source: {host: "dätenbank.example.com"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host is nearly an IPv4 address", jobV1, `{spec: {source: {host: "10.0.0.256"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a host is nearly an IPv6 address", jobV1, `{spec: {source: {host: "fe80::1%eth0"}}}`, []string{"spec.source.host: Invalid value"}},
	{"a port is out of range", jobV1, `{spec: {source: {port: 70000}}}`, []string{"spec.source.port: Invalid value"}},
	{"an engine is not supported", jobV1, `{spec: {source: {engine: postgres}}}`, []string{"spec.source.engine: Unsupported value"}},
	{"database names look like options or paths", jobV1, `{spec: {source: {databases: ["--result-file=/backup/other", "../../x", "a/b", "a\nb", "a\\b"]}}}`, []string{
		"spec.source.databases[0]: Invalid value", "spec.source.databases[1]: Invalid value", "spec.source.databases[2]: Invalid value",
		"spec.source.databases[3]: Invalid value", "spec.source.databases[4]: Invalid value"}},
	{"a database name is empty, one is too long, one is there twice", mysqlV1, `{spec: {source: {databases: [a, "", "` + strings.Repeat("ä", 65) + `", a]}}}`, []string{
		"spec.source.databases[1]: Invalid value", "spec.source.databases[2]: Invalid value", "spec.source.databases[3]: Duplicate value"}},
	{"a MySQLBackup has no database", mysqlV1, `{spec: {source: {databases: null}}}`, []string{"spec.source.databases: Required value"}},
	{"a MySQLBackup has no database in v1alpha1", mysqlAlpha, `{spec: {database: null}}`, []string{"spec.database: Required value"}},
	{"a database in v1alpha1 looks like an option", mysqlAlpha, `{spec: {database: "-h evil"}}`, []string{"spec.database: Invalid value"}},
	{"database and databases are both set in v1alpha1", jobAlpha, `{spec: {database: a, databases: [b, c]}}`, []string{"spec.databases: Invalid value"}},
	{"one database is written as a list in v1alpha1", jobAlpha, `{spec: {databases: [a]}}`, []string{"spec.databases: Invalid value"}},
	{"one database that is none is written as a list in v1alpha1", jobAlpha, `{spec: {databases: ["-a"]}}`, []string{"spec.databases: Invalid value", "spec.databases[0]: Invalid value"}},
	{"a database name is there twice in v1alpha1", mysqlAlpha, `{spec: {database: null, databases: [a, b, a]}}`, []string{"spec.databases[2]: Duplicate value"}},
	{"tables to ignore are no tables", mysqlV1, `{spec: {source: {options: {ignoreTables: [orders, "a.b.c", "-a.b", "a./b"], setGTIDPurged: auto}}}}`, []string{
		"spec.source.options.ignoreTables[0]: Invalid value", "spec.source.options.ignoreTables[1]: Invalid value",
		"spec.source.options.ignoreTables[2]: Invalid value", "spec.source.options.ignoreTables[3]: Invalid value",
		"spec.source.options.setGTIDPurged: Unsupported value"}},
	{"the name of a Secret is none", jobV1, `{spec: {source: {credentialsSecretRef: {name: "My_Secret", usernameKey: "a b", passwordKey: ""}}}}`, []string{
		"spec.source.credentialsSecretRef.name: Invalid value", "spec.source.credentialsSecretRef.usernameKey: Invalid value",
		"spec.source.credentialsSecretRef.passwordKey: Invalid value"}},
	{"the name of a Secret has capitals, in v1alpha1", mysqlAlpha, `{spec: {secretRef: "MySQL-Secret"}}`, []string{"spec.secretRef: Invalid value"}},
	{"the name of a Secret is too long", mysqlAlpha, `{spec: {secretRef: "` + long + `"}}`, []string{"spec.secretRef: Invalid value"}},
	{"a TLS mode is not known and a CA has no name", jobV1, `{spec: {source: {tls: {mode: verify-full, caSecretRef: {}}}}}`, []string{
		"spec.source.tls.mode: Unsupported value", "spec.source.tls.caSecretRef.name: Required value"}},
	{"a CA is given that nobody looks at", jobV1, `{spec: {source: {tls: {mode: Required, caSecretRef: {name: ca}}}}}`, []string{"warning spec.source.tls.caSecretRef"}},
}

var timeMessages = []messageCase{
	{"a schedule is missing", jobV1, `{spec: {schedule: null}}`, []string{"spec.schedule: Required value"}},
	{"a schedule is missing in v1alpha1", mysqlAlpha, `{spec: {backupSchedule: null}}`, []string{"spec.backupSchedule: Required value"}},
	{"a schedule is too long", jobV1, `{spec: {schedule: "` + long + `"}}`, []string{"spec.schedule: Invalid value"}},
	{"a zone in v1alpha1 is wrong, and so is the schedule behind it", jobAlpha, `{spec: {schedule: "CRON_TZ=Europe/Rom 0 2 * *"}}`, []string{"spec.schedule: Invalid value"}},
	{"a zone in v1alpha1 has a field of its own", jobAlpha, `{spec: {timeZone: Asia/Tokyo}}`, []string{"spec.timeZone: Invalid value"}},
	{"a zone hides the date line", jobV1, `{spec: {timeZone: "Etc/GMT+8"}}`, []string{"warning spec.timeZone"}},
	{"a zone in v1alpha1 hides the date line", mysqlAlpha, `{spec: {backupSchedule: "CRON_TZ=Etc/GMT+8 0 2 * * *"}}`, []string{"warning spec.backupSchedule"}},
	{"a run falls into clock changes", jobV1, `{spec: {schedule: "30 2 * * *", timeZone: Europe/Berlin}}`, []string{"warning spec.schedule", "warning spec.schedule"}},
}

var policyMessages = []messageCase{
	{"a name is too long", jobV1, `{metadata: {name: "` + strings.Repeat("a", 64) + `"}}`, []string{"metadata.name: Invalid value"}},
	{"a name is none", jobAlpha, `{metadata: {name: "Nightly_Backup"}}`, []string{"metadata.name: Invalid value"}},
	{"a name is missing", jobV1, `{metadata: {name: null}}`, []string{"metadata.name: Required value"}},
	{"a request for a run is too long", jobV1, `{metadata: {annotations: {"backup.example.com/run-requested-at": "` + long + `"}}}`, []string{
		"metadata.annotations[backup.example.com/run-requested-at]: Invalid value"}},
	{"retention is zero", jobV1, `{spec: {retention: {days: 0, minBackups: 0}}}`, []string{
		"spec.retention.days: Invalid value", "spec.retention.minBackups: Invalid value"}},
	{"retention is negative in v1alpha1", mysqlAlpha, `{spec: {retentionDays: -1}}`, []string{"spec.retentionDays: Invalid value"}},
	{"retention overflows", jobAlpha, `{spec: {retentionDays: 106752}}`, []string{"spec.retentionDays: Invalid value"}},
	{"retention is beyond its type", jobV1, `{spec: {retention: {days: 99999999999}}}`, []string{"spec.retention.days: Invalid value"}},
	{"retention is text", jobV1, `{spec: {retention: {days: "7"}}}`, []string{"spec.retention.days: Invalid value"}},
	{"retries and limits are out of range", jobV1, `{spec: {maxRetries: 11, startingDeadlineSeconds: 5, activeDeadlineSeconds: 59, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: 101}}`, []string{
		"spec.startingDeadlineSeconds: Invalid value", "spec.maxRetries: Invalid value", "spec.activeDeadlineSeconds: Invalid value",
		"spec.successfulJobsHistoryLimit: Invalid value", "spec.failedJobsHistoryLimit: Invalid value"}},
	{"policies are not known", jobV1, `{spec: {concurrencyPolicy: forbid, compression: xz, deletionPolicy: Orphan}}`, []string{
		"spec.concurrencyPolicy: Unsupported value", "spec.compression: Unsupported value", "spec.deletionPolicy: Unsupported value"}},
	{"the name of a claim is none", mysqlAlpha, `{spec: {storageClaim: "my_claim"}}`, []string{"spec.storageClaim: Invalid value"}},
	{"a folder leaves the volume", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: "team/../../x"}}}}`, []string{"spec.storage.persistentVolumeClaim.subPath: Invalid value"}},
	{"a folder is absolute", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: "/backups"}}}}`, []string{"spec.storage.persistentVolumeClaim.subPath: Invalid value"}},
	{"a folder is empty", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: ""}}}}`, []string{"spec.storage.persistentVolumeClaim.subPath: Invalid value"}},
	{"a folder has a backslash", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: 'a\b'}}}}`, []string{"spec.storage.persistentVolumeClaim.subPath: Invalid value"}},
	{"a folder looks like an option", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: "a/-rf"}}}}`, []string{"spec.storage.persistentVolumeClaim.subPath: Invalid value"}},
	{"a folder has a line break", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: "a\nb"}}}}`, []string{"spec.storage.persistentVolumeClaim.subPath: Invalid value"}},
	{"storage says nothing beside storageClaim in v1alpha1", jobAlpha, `{spec: {storageClaim: a, storage: {persistentVolumeClaim: {}}}}`, []string{"spec.storage: Invalid value"}},
	{"storage names the claim in v1alpha1", jobAlpha, `{spec: {storage: {persistentVolumeClaim: {claimName: a, subPath: x}}}}`, []string{"spec.storage.persistentVolumeClaim.claimName: Invalid value"}},
}

var podMessages = []messageCase{
	{"labels are ours, no labels, or no values of labels", jobV1, `{spec: {podTemplate: {labels: {"backup.example.com/uid": "1", "a b": c, team: "-"}}}}`, []string{
		"spec.podTemplate.labels[a b]: Invalid value", "spec.podTemplate.labels[backup.example.com/uid]: Invalid value", "spec.podTemplate.labels[team]: Invalid value"}},
	{"annotations are ours or none; their values are not shown", mysqlAlpha, `{spec: {podTemplate: {annotations: {"batch.kubernetes.io/x": secret, "a//b": secret, ok: "` + strings.Repeat("s", 5000) + `"}}}}`, []string{
		"spec.podTemplate.annotations[a//b]: Invalid value", "spec.podTemplate.annotations[batch.kubernetes.io/x]: Invalid value",
		"spec.podTemplate.annotations[ok]: Invalid value"}},
	{"an image is none", jobV1, `{spec: {podTemplate: {image: "mysql 8", imagePullPolicy: always, imagePullSecrets: [{name: ""}, {name: A}]}}}`, []string{
		"spec.podTemplate.image: Invalid value", "spec.podTemplate.imagePullPolicy: Unsupported value",
		"spec.podTemplate.imagePullSecrets[0].name: Invalid value", "spec.podTemplate.imagePullSecrets[1].name: Invalid value"}},
	{"an image has a scheme", jobV1, `{spec: {podTemplate: {image: "https://registry.example.com/mysql:8.4"}}}`, []string{"spec.podTemplate.image: Invalid value"}},
	{"an image has capitals", jobV1, `{spec: {podTemplate: {image: "MySQL:8.4"}}}`, []string{"spec.podTemplate.image: Invalid value"}},
	{"an image has credentials, which are not shown", jobV1, `{spec: {podTemplate: {image: "user:hunter2@registry.example.com/mysql"}}}`, []string{"spec.podTemplate.image: Invalid value"}},
	{"resources are no quantities", jobV1, `{spec: {podTemplate: {resources: {limits: {cpu: 1x, memory: true}, requests: {memory: "-1Gi", "a b": "1"}}}}}`, []string{
		"spec.podTemplate.resources.limits[cpu]: Invalid value", "spec.podTemplate.resources.limits[memory]: Invalid value",
		"spec.podTemplate.resources.requests[a b]: Invalid value", "spec.podTemplate.resources.requests[memory]: Invalid value"}},
	{"a request is above its limit", jobV1, `{spec: {podTemplate: {resources: {limits: {memory: 1Gi}, requests: {memory: 2Gi}}}}}`, []string{
		"spec.podTemplate.resources.requests[memory]: Invalid value"}},
	{"a node selector is none", jobV1, `{spec: {podTemplate: {nodeSelector: {"a b": c, disk: "s s d"}}}}`, []string{
		"spec.podTemplate.nodeSelector[a b]: Invalid value", "spec.podTemplate.nodeSelector[disk]: Invalid value"}},
	{"tolerations contradict themselves", jobV1, `{spec: {podTemplate: {tolerations: [{operator: Foo, key: a}, {operator: Exists, value: x}, {value: x}, {key: "a b", value: "b c"}, {key: a, effect: No, tolerationSeconds: 5}, 5]}}}`, []string{
		"spec.podTemplate.tolerations[0].operator: Invalid value", "spec.podTemplate.tolerations[1].value: Invalid value",
		"spec.podTemplate.tolerations[2].operator: Required value",
		"spec.podTemplate.tolerations[3].key: Invalid value", "spec.podTemplate.tolerations[3].value: Invalid value",
		"spec.podTemplate.tolerations[4].effect: Invalid value", "spec.podTemplate.tolerations[4].tolerationSeconds: Invalid value",
		"spec.podTemplate.tolerations[5]: Invalid value"}},
	{"an affinity to nodes contradicts itself", jobV1, `{spec: {podTemplate: {affinity: {nodeAffinity: {
		requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [x]}, {key: "a b", operator: Gt, values: [x]}, {key: a, operator: In, values: ["a b"]}],
			matchFields: [{key: metadata.uid, operator: Exists}, {key: metadata.name, operator: In, values: [a, b]}]}]},
		preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {matchExpressions: [{key: a, operator: Like}]}}]}}}}}`, []string{
		nodeTerms + ".matchExpressions[0].values: Required value", nodeTerms + ".matchExpressions[1].values: Invalid value",
		nodeTerms + ".matchExpressions[2].key: Invalid value", nodeTerms + ".matchExpressions[2].values: Invalid value",
		nodeTerms + ".matchExpressions[3].values[0]: Invalid value",
		nodeTerms + ".matchFields[0].key: Invalid value", nodeTerms + ".matchFields[0].operator: Invalid value", nodeTerms + ".matchFields[1].values: Invalid value",
		"spec.podTemplate.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value",
		"spec.podTemplate.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator: Unsupported value"}},
	{"an affinity to Pods contradicts itself", jobV1, `{spec: {podTemplate: {affinity: {
		podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "", namespaces: [A], labelSelector: {matchLabels: {"a b": c, d: "e f"}}}]},
		podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}}}]}}}}}`, []string{
		podTerm + ".labelSelector.matchLabels[a b]: Invalid value", podTerm + ".labelSelector.matchLabels[d]: Invalid value",
		podTerm + ".namespaces[0]: Invalid value", podTerm + ".topologyKey: Invalid value",
		"spec.podTemplate.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[0].operator: Invalid value"}},
	{"names of a Pod's parts are none, and it runs as root", jobV1, `{spec: {podTemplate: {priorityClassName: "-", serviceAccountName: "a..b", runAsUser: 0, fsGroup: -1}}}`, []string{
		"spec.podTemplate.priorityClassName: Invalid value", "spec.podTemplate.serviceAccountName: Invalid value",
		"spec.podTemplate.runAsUser: Invalid value", "spec.podTemplate.fsGroup: Invalid value"}},
}

const (
	nodeTerms = "spec.podTemplate.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
	podTerm   = "spec.podTemplate.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
)

var shapeMessages = []messageCase{
	{"there is no spec", jobV1, `{spec: null}`, []string{"spec: Required value"}},
	{"the spec is text", mysqlAlpha, `{spec: nightly}`, []string{"spec: Invalid value"}},
	{"there is no source", jobV1, `{spec: {source: null}}`, []string{"spec.source: Required value"}},
	{"types are wrong everywhere", jobV1, `{spec: {source: {host: 10, port: "3306", databases: shop, tls: "on"}, schedule: 5, suspend: "false", maxRetries: 1.5, podTemplate: {labels: [a]}}}`, []string{
		"spec.source.host: Invalid value", "spec.source.port: Invalid value", "spec.source.tls: Invalid value", "spec.source.databases: Invalid value",
		"spec.schedule: Invalid value", "spec.suspend: Invalid value", "spec.maxRetries: Invalid value", "spec.podTemplate.labels: Invalid value"}},
	{"one item of a list has a wrong type", mysqlV1, `{spec: {source: {databases: [a, 5, -b]}}}`, []string{
		"spec.source.databases[1]: Invalid value", "spec.source.databases[2]: Invalid value"}},
	{"an object has no fields", jobV1, `{spec: {podTemplate: {labels: {` + manyLabels(33) + `}}}}`, []string{"spec.podTemplate.labels: Invalid value"}},
	{"four faults at once, in the order of the API reference", mysqlAlpha, `{spec: {retentionDays: 0, host: "db:0", backupSchedule: "0 2 * *", secretRef: ""}}`, []string{
		"spec.host: Invalid value", "spec.backupSchedule: Invalid value", "spec.secretRef: Invalid value", "spec.retentionDays: Invalid value"}},
}

func manyLabels(n int) string {
	var labels []string
	for i := range n {
		labels = append(labels, fmt.Sprintf("l%d: x", i))
	}
	return strings.Join(labels, ", ")
}

func TestEveryFaultIsToldAtItsFieldInItsVersion(t *testing.T) {
	for _, c := range messageCases {
		v := judged(t, object(t, c.manifest, c.write), nil)
		var got []string
		for _, f := range v.Faults {
			got = append(got, f.Field+": "+f.Type.String())
		}
		for _, w := range v.Warnings {
			got = append(got, "warning "+w.Field)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s\n%s", c.name, c.write, diff, told(v))
		}
		checkWords(t, c.name, v)
	}
}

// checkWords holds for the message of every fault: short, and nothing of a
// library in it.
func checkWords(t *testing.T, name string, v *Verdict) {
	t.Helper()
	for _, f := range v.Faults {
		text := f.String()
		if n := utf8.RuneCountInString(text); n > maxMessage {
			t.Errorf("%s: %d characters: %s", name, n, text)
		}
		for _, alien := range []string{"in body", "should", "regex", "Go ", "v1.", "int32", "int64", "interface", "map[", "json:", "nil", "hunter2", "rule:"} {
			if strings.Contains(text, alien) && !strings.Contains(f.Field, alien) {
				t.Errorf("%s: %q must not contain %q", name, text, alien)
			}
		}
		if f.Message == unexplained {
			t.Errorf("%s: nothing is explained: %s", name, text)
		}
	}
	for _, w := range v.WarningTexts() {
		if n := utf8.RuneCountInString(w); n > maxWarning {
			t.Errorf("%s: warning of %d characters: %s", name, n, w)
		}
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; read it, then write it anew with -update (-want +got):\n%s", file, diff)
	}
}

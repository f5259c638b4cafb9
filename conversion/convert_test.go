// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// objectOf is an object whose body is YAML.
func objectOf(t *testing.T, apiVersion, kind, body string) []byte {
	t.Helper()
	return yamlToJSON(t, []byte("apiVersion: "+apiVersion+"\nkind: "+kind+"\n"+body))
}

func yamlToJSON(tb testing.TB, text []byte) []byte {
	tb.Helper()
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		tb.Fatalf("the case is no YAML: %v\n%s", err, text)
	}
	return raw
}

func mustConvert(t *testing.T, raw []byte, apiVersion string) []byte {
	t.Helper()
	before := bytes.Clone(raw)
	converted, err := Convert(raw, apiVersion)
	if err != nil {
		t.Fatalf("Convert to %s: %v\n%s", apiVersion, err, raw)
	}
	if !bytes.Equal(raw, before) {
		t.Fatalf("Convert changed its input\nwas: %s\nis:  %s", before, raw)
	}
	if !json.Valid(converted) {
		t.Fatalf("Convert to %s gave no JSON\nfrom: %s\ngave: %s", apiVersion, raw, converted)
	}
	return converted
}

// decode is the value of a JSON text, with numbers as they are written.
func decode(t *testing.T, raw []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("decode: %v\n%s", err, raw)
	}
	return value
}

func diff(t *testing.T, want, got []byte) string {
	t.Helper()
	return cmp.Diff(decode(t, want), decode(t, got))
}

// bothWays are objects that are each other's conversion: bodies of YAML, joined by ---.
var bothWays = map[string]map[string]string{
	"BackupJob": {
		"the old system's manifest": `
metadata: {name: nightly}
spec: {databaseHost: "mysql-primary.default.svc.cluster.local:3306", schedule: "0 2 * * *", retentionDays: 7, maxRetries: 3}
---
metadata: {name: nightly}
spec:
  source: {host: mysql-primary.default.svc.cluster.local, port: 3306}
  schedule: "0 2 * * *"
  retention: {days: 7}
  maxRetries: 3`,
		"every field": `
metadata: {name: a, namespace: b, labels: {c: d}, finalizers: [e]}
spec:
  databaseHost: "[2001:db8::1]:3307"
  databases: [one, two]
  secretRef: login
  credentialKeys: {usernameKey: u, passwordKey: p}
  engine: MariaDB
  tls: {mode: VerifyCA, caSecretRef: {name: ca, key: ca.crt}}
  schedule: CRON_TZ=Europe/Berlin 0 2 * * *
  suspend: true
  concurrencyPolicy: Replace
  startingDeadlineSeconds: 10
  maxRetries: 0
  activeDeadlineSeconds: 60
  retentionDays: 1
  minBackups: 2
  storageClaim: c
  storage: {persistentVolumeClaim: {subPath: s}}
  compression: None
  deletionPolicy: Delete
  successfulJobsHistoryLimit: 0
  failedJobsHistoryLimit: 0
  podTemplate: {labels: {}, runAsUser: 1}
status: {phase: Running, lastResult: Failed, lastBackupTime: "2026-01-01T00:00:00Z", conditions: []}
---
metadata: {name: a, namespace: b, labels: {c: d}, finalizers: [e]}
spec:
  source:
    host: 2001:db8::1
    port: 3307
    databases: [one, two]
    credentialsSecretRef: {name: login, usernameKey: u, passwordKey: p}
    engine: MariaDB
    tls: {mode: VerifyCA, caSecretRef: {name: ca, key: ca.crt}}
  schedule: 0 2 * * *
  timeZone: Europe/Berlin
  suspend: true
  concurrencyPolicy: Replace
  startingDeadlineSeconds: 10
  maxRetries: 0
  activeDeadlineSeconds: 60
  retention: {days: 1, minBackups: 2}
  storage: {persistentVolumeClaim: {claimName: c, subPath: s}}
  compression: None
  deletionPolicy: Delete
  successfulJobsHistoryLimit: 0
  failedJobsHistoryLimit: 0
  podTemplate: {labels: {}, runAsUser: 1}
status: {phase: Running, lastResult: Failed, lastBackupTime: "2026-01-01T00:00:00Z", conditions: []}`,
		"one database and a claim's name": `
metadata: {}
spec: {database: täble, storageClaim: c, secretRef: s}
---
metadata: {}
spec: {source: {databases: [täble], credentialsSecretRef: {name: s}}, storage: {persistentVolumeClaim: {claimName: c}}}`,
		"an empty list of databases is not none": `
metadata: {}
spec: {databases: []}
---
metadata: {}
spec: {source: {databases: []}}`,
		"keys without a Secret's name": `
metadata: {}
spec: {credentialKeys: {usernameKey: u}}
---
metadata: {}
spec: {source: {credentialsSecretRef: {usernameKey: u}}}`,
		"a reference without anything in it": `
metadata: {}
spec: {credentialKeys: {}}
---
metadata: {}
spec: {source: {credentialsSecretRef: {}}}`,
		"a storage without a claim's name": `
metadata: {}
spec: {storage: {persistentVolumeClaim: {subPath: s}}}
---
metadata: {}
spec: {storage: {persistentVolumeClaim: {subPath: s}}}`,
		"an empty storage": `
metadata: {}
spec: {storage: {}}
---
metadata: {}
spec: {storage: {}}`,
		"no spec and no status": `
metadata: {name: a}
---
metadata: {name: a}`,
		"an empty spec and status": `
metadata: {name: a}
spec: {}
status: {}
---
metadata: {name: a}
spec: {}
status: {}`,
		"a zone without a schedule": `
metadata: {}
spec: {timeZone: Europe/Berlin}
---
metadata: {}
spec: {timeZone: Europe/Berlin}`,
		"a zone that cannot stand in front": `
metadata: {}
spec: {schedule: 0 2 * * *, timeZone: "a b"}
---
metadata: {}
spec: {schedule: 0 2 * * *, timeZone: "a b"}`,
		"an empty zone": `
metadata: {}
spec: {schedule: 0 2 * * *, timeZone: ""}
---
metadata: {}
spec: {schedule: 0 2 * * *, timeZone: ""}`,
		"an odd schedule of v1 with a zone in it": `
metadata: {}
spec: {schedule: CRON_TZ=UTC 0 2 * * *, timeZone: ""}
---
metadata: {}
spec: {schedule: CRON_TZ=UTC 0 2 * * *}`,
		"two zones in front": `
metadata: {}
spec: {schedule: CRON_TZ=A CRON_TZ=B 0 2 * * *}
---
metadata: {}
spec: {schedule: CRON_TZ=A CRON_TZ=B 0 2 * * *}`,
		"a zone in front and one beside": `
metadata: {}
spec: {schedule: CRON_TZ=A 0 2 * * *, timeZone: B}
---
metadata: {}
spec: {schedule: CRON_TZ=A 0 2 * * *, timeZone: B}`,
		"letters that JSON escapes": `
metadata: {}
spec: {databaseHost: "\u00e4<&>\u2028\":1", schedule: "CRON_TZ=<&> \\ \t\"", database: "\0"}
---
metadata: {}
spec: {source: {host: "\u00e4<&>\u2028\"", port: 1, databases: ["\0"]}, timeZone: "<&>", schedule: "\\ \t\""}`,
		"fields of the wrong type": `
metadata: {}
spec:
  databaseHost: 7
  database: {a: 1}
  secretRef: [s]
  schedule: 7
  timeZone: [x]
  retentionDays: "7"
  minBackups: null
  storageClaim: 7
  engine: {}
  tls: 1
  maxRetries: "three"
  podTemplate: true
status: 7
---
metadata: {}
spec:
  source: {host: 7, databases: [{a: 1}], credentialsSecretRef: {name: [s]}, engine: {}, tls: 1}
  schedule: 7
  timeZone: [x]
  retention: {days: "7", minBackups: null}
  storage: {persistentVolumeClaim: {claimName: 7}}
  maxRetries: "three"
  podTemplate: true
status: 7`,
		"more fields of the wrong type": `
metadata: 7
spec: {databases: all, credentialKeys: [], storage: disk}
status: []
---
metadata: 7
spec: {source: {databases: all, credentialsSecretRef: []}, storage: disk}
status: []`,
		"a spec that is no object": `
metadata: {}
spec: text
---
metadata: {}
spec: text`,
		"unknown fields stay where they stand": `
metadata: {x: 1}
x: {y: z}
spec: {x: 1, databaseHost: h, source: {x: [1]}, retention: {x: 2}}
status: {x: 3}
---
metadata: {x: 1}
x: {y: z}
spec: {x: 1, source: {host: h, x: [1]}, retention: {x: 2}}
status: {x: 3}`,
		"a port out of range": `
metadata: {}
spec: {databaseHost: "h:70000"}
---
metadata: {}
spec: {source: {host: h, port: 70000}}`,
		"a port without a host": `
metadata: {}
spec: {databaseHost: ":3306"}
---
metadata: {}
spec: {source: {port: 3306}}`,
		"a port beside an empty host": `
metadata: {}
spec: {databaseHost: "", source: {port: 1}}
---
metadata: {}
spec: {source: {host: "", port: 1}}`,
		"a port of the wrong type": `
metadata: {}
spec: {databaseHost: "h:1", source: {port: "2"}}
---
metadata: {}
spec: {source: {host: "h:1", port: "2"}}`,
	},
	"MySQLBackup": {
		"the old system's manifest": `
metadata: {name: backup-maindb}
spec:
  host: "mysql-primary.default.svc.cluster.local:3306"
  database: "user_profiles"
  backupSchedule: "0 2 * * *"
  secretRef: "mysql-secret"
---
metadata: {name: backup-maindb}
spec:
  source:
    host: mysql-primary.default.svc.cluster.local
    port: 3306
    databases: [user_profiles]
    credentialsSecretRef: {name: mysql-secret}
  schedule: "0 2 * * *"`,
		"options and a zone": `
metadata: {}
spec: {backupSchedule: CRON_TZ=Asia/Tokyo @daily, options: {events: false}}
---
metadata: {}
spec: {schedule: "@daily", timeZone: Asia/Tokyo, source: {options: {events: false}}}`,
		"a status of a running backup": `
metadata: {}
status: {backupStatus: Running, phase: Running, lastResult: Failed, lastBackupTime: "2026-01-01T00:00:00Z", lastCompletionTime: "2026-01-01T00:01:00Z"}
---
metadata: {}
status: {phase: Running, lastResult: Failed, lastScheduleTime: "2026-01-01T00:00:00Z", lastBackupTime: "2026-01-01T00:01:00Z"}`,
		"a status of a scheduled backup": `
metadata: {}
status: {backupStatus: Succeeded, phase: Scheduled, lastResult: Succeeded}
---
metadata: {}
status: {phase: Scheduled, lastResult: Succeeded}`,
		"a state that contradicts its phase": `
metadata: {}
status: {backupStatus: Succeeded, phase: Running, lastResult: Failed}
---
metadata: {}
status: {backupStatus: Succeeded, phase: Running, lastResult: Failed}`,
		"a state that contradicts the result": `
metadata: {}
status: {backupStatus: Succeeded, lastResult: Failed}
---
metadata: {}
status: {backupStatus: Succeeded, lastResult: Failed}`,
		"a status of odd values": `
metadata: {}
status: {backupStatus: 7, lastResult: 7, lastBackupTime: {}, active: 7}
---
metadata: {}
status: {lastResult: 7, lastScheduleTime: {}, active: 7}`,
		"v1's name of the schedule": `
metadata: {}
spec: {backupSchedule: 0 2 * * *, retentionDays: 1}
---
metadata: {}
spec: {schedule: 0 2 * * *, retention: {days: 1}}`,
	},
}

func TestObjectsThatAreEachOthersConversion(t *testing.T) {
	for kind, cases := range bothWays {
		for name, bodies := range cases {
			t.Run(kind+"/"+name, func(t *testing.T) {
				oldBody, newBody, _ := strings.Cut(bodies, "\n---\n")
				oldRaw, newRaw := objectOf(t, oldVersion, kind, oldBody), objectOf(t, newVersion, kind, newBody)
				if d := diff(t, newRaw, mustConvert(t, oldRaw, newVersion)); d != "" {
					t.Errorf("v1alpha1 to v1, want -, got +:\n%s", d)
				}
				if d := diff(t, oldRaw, mustConvert(t, newRaw, oldVersion)); d != "" {
					t.Errorf("v1 to v1alpha1, want -, got +:\n%s", d)
				}
			})
		}
	}
}

func TestObjectsThatReadBackOtherwise(t *testing.T) {
	cases := map[string]struct{ kind, from, old, new, back string }{
		"a state alone gets the result that it follows from": {
			kind: "MySQLBackup", from: oldVersion,
			old:  `status: {backupStatus: Succeeded, lastBackupTime: x}`,
			new:  `status: {lastResult: Succeeded, lastScheduleTime: x}`,
			back: `status: {backupStatus: Succeeded, lastResult: Succeeded, lastBackupTime: x}`,
		},
		"a running state alone gets the phase": {
			kind: "MySQLBackup", from: oldVersion,
			old:  `status: {backupStatus: Running, lastResult: Failed}`,
			new:  `status: {phase: Running, lastResult: Failed}`,
			back: `status: {backupStatus: Running, phase: Running, lastResult: Failed}`,
		},
		"database beside databases becomes one of them": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {database: c, databases: [a, b]}`,
			new:  `spec: {source: {databases: [c, a, b]}}`,
			back: `spec: {databases: [c, a, b]}`,
		},
		"database that databases names already": {
			kind: "MySQLBackup", from: oldVersion,
			old:  `spec: {database: b, databases: [a, b]}`,
			new:  `spec: {source: {databases: [a, b]}}`,
			back: `spec: {databases: [a, b]}`,
		},
		"storageClaim beside storage is its claim": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {storageClaim: c, storage: {persistentVolumeClaim: {claimName: d, subPath: s}}}`,
			new:  `spec: {storage: {persistentVolumeClaim: {claimName: c, subPath: s}}}`,
			back: `spec: {storageClaim: c, storage: {persistentVolumeClaim: {subPath: s}}}`,
		},
		"a claim's name in storage": {
			kind: "MySQLBackup", from: oldVersion,
			old:  `spec: {storage: {persistentVolumeClaim: {claimName: c, subPath: s}}}`,
			new:  `spec: {storage: {persistentVolumeClaim: {claimName: c, subPath: s}}}`,
			back: `spec: {storageClaim: c, storage: {persistentVolumeClaim: {subPath: s}}}`,
		},
		"an empty storage beside storageClaim": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {storageClaim: c, storage: {persistentVolumeClaim: {}}}`,
			new:  `spec: {storage: {persistentVolumeClaim: {claimName: c}}}`,
			back: `spec: {storageClaim: c}`,
		},
		"database beside an empty list, which means all": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {database: c, databases: []}`,
			new:  `spec: {source: {databases: []}}`,
			back: `spec: {databases: []}`,
		},
		"odd values beside the old fields": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {database: d, databases: 7, secretRef: s, credentialKeys: 7, storageClaim: c, storage: {persistentVolumeClaim: 7}}`,
			new:  `spec: {source: {databases: [d], credentialsSecretRef: {name: s}}, storage: {persistentVolumeClaim: {claimName: c}}}`,
			back: `spec: {database: d, secretRef: s, storageClaim: c}`,
		},
		"a list of one database": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {databases: [a]}`,
			new:  `spec: {source: {databases: [a]}}`,
			back: `spec: {database: a}`,
		},
		"empty keys beside a Secret's name": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {secretRef: s, credentialKeys: {}}`,
			new:  `spec: {source: {credentialsSecretRef: {name: s}}}`,
			back: `spec: {secretRef: s}`,
		},
		"a name among the keys is unknown": {
			kind: "BackupJob", from: oldVersion,
			old:  `spec: {credentialKeys: {name: n, usernameKey: u}}`,
			new:  `spec: {source: {credentialsSecretRef: {usernameKey: u}}}`,
			back: `spec: {credentialKeys: {usernameKey: u}}`,
		},
		"unknown fields with names of the other version": {
			kind: "MySQLBackup", from: oldVersion,
			old:  `spec: {host: h, schedule: s, source: {host: x, tls: y}, retention: {days: 1}}`,
			new:  `spec: {source: {host: h}}`,
			back: `spec: {host: h}`,
		},
		"an odd host of v1 with a port in it": {
			kind: "BackupJob", from: newVersion,
			new:  `spec: {source: {host: "db:3306"}}`,
			old:  `spec: {databaseHost: "db:3306"}`,
			back: `spec: {source: {host: db, port: 3306}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			first, second, from, to := tc.old, tc.new, oldVersion, newVersion
			if tc.from == newVersion {
				first, second, from, to = tc.new, tc.old, newVersion, oldVersion
			}
			raw := objectOf(t, from, tc.kind, "metadata: {}\n"+first)
			there := mustConvert(t, raw, to)
			if d := diff(t, objectOf(t, to, tc.kind, "metadata: {}\n"+second), there); d != "" {
				t.Errorf("there, want -, got +:\n%s", d)
			}
			if d := diff(t, objectOf(t, from, tc.kind, "metadata: {}\n"+tc.back), mustConvert(t, there, from)); d != "" {
				t.Errorf("and back, want -, got +:\n%s", d)
			}
		})
	}
}

func TestHostsThatSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		"db:3306":          {"db", "3306"},
		"db.:0":            {"db.", "0"},
		"db:70000":         {"db", "70000"},
		"db:2147483647":    {"db", "2147483647"},
		"10.0.0.1:65535":   {"10.0.0.1", "65535"},
		"[::1]:3306":       {"::1", "3306"},
		"[[::1]]:3306":     {"[::1]", "3306"},
		"[fe80::1%eth0]:1": {"fe80::1%eth0", "1"},
		":3306":            {"", "3306"},
	} {
		host, port, ok := splitHost(text)
		if got := [2]string{host, port}; got != want || !ok {
			t.Errorf("splitHost(%q) = %q, %q, %t; want %q", text, host, port, ok, want)
		}
		if joinHost(host, port) != text {
			t.Errorf("%q does not come back from %q and %q", text, host, port)
		}
	}
	for _, text := range []string{
		"", "db", "db:", "::1", "a:b:1", "[::1]", "[::1]:", "[]:1", "[db]:1", "db:03306", "db:00", "db:2147483648", "db:99999999999999999999",
		"db:+1", "db:-1", "db:-0", "db:1 ", "db: 1", "db:1_0", "db:0x1", "db:1.0", "[::1:3306", "::1]:3306", "tcp://db:3306", ":", "::",
	} {
		if host, port, ok := splitHost(text); ok {
			t.Errorf("splitHost(%q) = %q, %q, and must leave it whole", text, host, port)
		}
	}
}

func TestMetadataIsAlwaysThereAndOtherwiseUntouched(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"absent": {``, `"metadata":{}`},
		"null":   {`,"metadata":null`, `"metadata":{}`},
		"every byte": {
			`,"metadata":{ "name" :"a","labels":{"b":"\u003c"} ,"n":1.50,"managedFields":[ {} ] }`,
			`"metadata":{ "name" :"a","labels":{"b":"\u003c"} ,"n":1.50,"managedFields":[ {} ] }`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, to := range []string{oldVersion, newVersion} {
				from := map[string]string{oldVersion: newVersion, newVersion: oldVersion}[to]
				got := mustConvert(t, []byte(`{"apiVersion":"`+from+`","kind":"BackupJob"`+tc.in+`}`), to)
				if !strings.Contains(string(got), tc.want) {
					t.Errorf("got %s, want in it %s", got, tc.want)
				}
			}
		})
	}
}

// TestATextThatGoCannotHoldKeepsItsBytes proves that such a text is not taken apart: put together again it
// would be another one.
func TestATextThatGoCannotHoldKeepsItsBytes(t *testing.T) {
	for _, text := range []string{`"CRON_TZ=\ud800 0 2 * * *"`, "\"CRON_TZ=\xff 0 2 * * *\""} {
		raw := `{"apiVersion":"` + oldVersion + `","kind":"BackupJob","metadata":{},"spec":{"schedule":` + text + `}}`
		there := mustConvert(t, []byte(raw), newVersion)
		if want := strings.Replace(raw, oldVersion, newVersion, 1); string(there) != want {
			t.Errorf("there: got %q, want %q", there, want)
		}
		if back := mustConvert(t, there, oldVersion); string(back) != raw {
			t.Errorf("back: got %q, want %q", back, raw)
		}
	}
}

func TestTheSameVersionGivesTheSameBytes(t *testing.T) {
	for _, version := range []string{oldVersion, newVersion} {
		raw := []byte(" { \"kind\" : \"MySQLBackup\",\"apiVersion\":\"" + version + "\",\"spec\":{\"databases\":[1 ]}}\n")
		if got := mustConvert(t, raw, version); !bytes.Equal(got, bytes.TrimSpace(raw)) {
			t.Errorf("got %s, want %s", got, raw)
		}
	}
}

func TestOfRepeatedNamesTheLastCounts(t *testing.T) {
	got := mustConvert(t, []byte(`{"apiVersion":"`+oldVersion+`","kind":"BackupJob","spec":{"databaseHost":"x"},`+
		`"spec":{"databaseHost":"a","schedule":"s","database\u0048ost":"b:1"},"metadata":{}}`), newVersion)
	want := `{"apiVersion":"` + newVersion + `","kind":"BackupJob","spec":{"schedule":"s","source":{"host":"b","port":1}},"metadata":{}}`
	if d := diff(t, []byte(want), got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestWhatIsNoObjectOfOursIsAnError(t *testing.T) {
	for name, tc := range map[string]struct{ raw, to, says string }{
		"no JSON":                {`{`, newVersion, "must be JSON"},
		"two values":             {`{} {}`, newVersion, "must be JSON"},
		"a list":                 {`[]`, newVersion, "must be a JSON object"},
		"another kind":           {`{"apiVersion":"backup.example.com/v1","kind":"Pod","metadata":{"name":"a","namespace":"b"}}`, newVersion, `Pod "b/a"`},
		"another group":          {`{"apiVersion":"example.com/v1","kind":"BackupJob"}`, newVersion, "example.com/v1"},
		"no version":             {`{"kind":"BackupJob"}`, newVersion, "must be a BackupJob or MySQLBackup"},
		"a version of a number":  {`{"kind":"BackupJob","apiVersion":1}`, newVersion, "must be a BackupJob or MySQLBackup"},
		"another wanted version": {`{"apiVersion":"backup.example.com/v1","kind":"BackupJob"}`, "backup.example.com/v2", "wanted version must be"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Convert([]byte(tc.raw), tc.to)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want an error with %q", err, tc.says)
			}
		})
	}
}

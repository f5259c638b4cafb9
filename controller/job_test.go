// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testOptions = Options{
	AgentImage: "backup.example.com/backupjob-operator:v0.1.0", MySQLImage: "mysql:8.4.6", MariaDBImage: "mariadb:11.8.3",
	CleanupTimeout: 10 * time.Minute,
}

func TestJobsAreAsReviewed(t *testing.T) {
	due := run{at: at(t, "2027-03-10 02:00:00")}
	full := mysqlBackup(func(b *backupv1.MySQLBackup) {
		b.Name = "db.prod.eu"
		b.Spec.MaxRetries, b.Spec.ActiveDeadlineSeconds = new(int32(0)), new(int64(600))
		b.Spec.Compression, b.Spec.Retention = backupv1.CompressionGzip, &backupv1.Retention{Days: new(int32(30)), MinBackups: new(int32(5))}
		b.Spec.Source.Port, b.Spec.Source.Databases = new(int32(3307)), []backupv1.DatabaseName{"my-db", "täble", "$(POD_UID)"}
		b.Spec.Source.CredentialsSecretRef = &backupv1.CredentialsSecretRef{
			Name: new("mysql-secret"), CredentialKeys: backupv1.CredentialKeys{UsernameKey: new("user"), PasswordKey: new("pass")},
		}
		b.Spec.Source.TLS = &backupv1.TLS{Mode: backupv1.TLSVerifyCA, CASecretRef: &backupv1.CASecretRef{Name: "ca", Key: new("root.pem")}}
		b.Spec.Source.Options = &backupv1.MySQLOptions{
			SingleTransaction: new(false), IgnoreTables: []string{"my-db.log"}, SetGTIDPurged: backupv1.GTIDPurgedOff,
		}
		b.Spec.Storage = &backupv1.Storage{PersistentVolumeClaim: &backupv1.ClaimStorage{ClaimName: new("vault"), SubPath: new("eu/prod")}}
		b.Spec.PodTemplate = &backupv1.PodTemplate{
			Labels:            map[string]backupv1.LabelValue{"team": "shop", backupv1.LabelUID: "stolen"},
			Annotations:       map[string]backupv1.AnnotationValue{"note": "x"},
			Image:             new("percona:8"),
			ImagePullPolicy:   corev1.PullAlways,
			ImagePullSecrets:  []backupv1.SecretReference{{Name: "pull"}},
			Resources:         &backupv1.Resources{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}},
			NodeSelector:      map[string]backupv1.LabelValue{"disk": "ssd"},
			Tolerations:       []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}},
			PriorityClassName: new("low"), ServiceAccountName: new("dumper"), RunAsUser: new(int64(999)), FSGroup: new(int64(998)),
			Affinity: &backupv1.Affinity{NodeAffinity: &backupv1.NodeAffinity{Required: &backupv1.NodeSelector{Terms: []backupv1.NodeSelectorTerm{{
				MatchExpressions: []backupv1.SelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}},
			}}}}},
		}
	})
	mariadb := nightly(t, func(b *backupv1.BackupJob) { b.Spec.Source.Engine = backupv1.EngineMariaDB })
	cases := map[string]func() (*batchv1.Job, error){
		"backupjob":        func() (*batchv1.Job, error) { return testOptions.runJob(nightly(t), due) },
		"mariadb":          func() (*batchv1.Job, error) { return testOptions.runJob(mariadb, due) },
		"requested":        func() (*batchv1.Job, error) { return testOptions.runJob(nightly(t), run{at: due.at, request: "now"}) },
		"mysqlbackup":      func() (*batchv1.Job, error) { return testOptions.runJob(mysqlBackup(), due) },
		"mysqlbackup-full": func() (*batchv1.Job, error) { return testOptions.runJob(full, due) },
		"cleanup":          func() (*batchv1.Job, error) { return testOptions.cleanupJob(full, 90*time.Second) },
	}
	for name, build := range cases {
		t.Run(name, func(t *testing.T) {
			job, err := build()
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.Marshal(job)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "job-"+name+".yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("want -, got + (go test -update writes it anew):\n%s", diff)
			}
		})
	}
}

// Whatever the object says, a Pod of ours is what the "restricted" level of Pod
// Security asks for, and a little more.
func TestEveryPodIsRestricted(t *testing.T) {
	run, err := testOptions.runJob(nightly(t), run{at: at(t, "2027-03-10 02:00:00")})
	if err != nil {
		t.Fatal(err)
	}
	cleanup, err := testOptions.cleanupJob(nightly(t), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for job, ttl := range map[*batchv1.Job]int32{run: 7 * 24 * 3600, cleanup: 600} {
		pod := job.Spec.Template.Spec
		if *pod.AutomountServiceAccountToken || *pod.EnableServiceLinks || pod.HostNetwork || pod.HostPID || pod.HostIPC {
			t.Errorf("%s: the Pod has a token, links or the host's namespaces", job.Name)
		}
		if s := pod.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser == 0 || *s.RunAsGroup == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: got %+v", job.Name, s)
		}
		if pod.RestartPolicy != corev1.RestartPolicyNever || *job.Spec.PodReplacementPolicy != batchv1.Failed || *job.Spec.TTLSecondsAfterFinished != ttl {
			t.Errorf("%s: the Job's own rules differ", job.Name)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			s := c.SecurityContext
			if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Add) > 0 || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s/%s: got %+v", job.Name, c.Name, s)
			}
			for _, word := range slices.Concat(c.Command, c.Args) {
				if strings.Contains(word, "/sh") || strings.Contains(word, "bash") {
					t.Errorf("%s/%s: there is a shell: %v", job.Name, c.Name, c.Command)
				}
			}
			for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
				if list.Cpu().IsZero() || list.Memory().IsZero() {
					t.Errorf("%s/%s: no requests or limits", job.Name, c.Name)
				}
			}
			if c.TerminationMessagePath != agent.TerminationLog {
				t.Errorf("%s/%s: got termination log %q", job.Name, c.Name, c.TerminationMessagePath)
			}
		}
	}
}

// The manifest names the places that the agent knows.
func TestManifestMountsWhatTheAgentReads(t *testing.T) {
	job, err := testOptions.runJob(mysqlBackup(func(b *backupv1.MySQLBackup) {
		b.Spec.Source.TLS = &backupv1.TLS{CASecretRef: &backupv1.CASecretRef{Name: "ca"}}
	}), run{at: at(t, "2027-03-10 02:00:00")})
	if err != nil {
		t.Fatal(err)
	}
	main, install := job.Spec.Template.Spec.Containers[0], job.Spec.Template.Spec.InitContainers[0]
	var mounts []string
	for _, m := range main.VolumeMounts {
		mounts = append(mounts, m.MountPath)
	}
	want := []string{agent.InstallDir, agent.WorkDir, agent.BackupRoot, agent.CredentialsDir, agent.CADir}
	if diff := cmp.Diff(want, mounts); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff([]string{agent.InstallPath}, main.Command); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff([]string{agent.CommandInstall, "--" + agent.FlagTo + "=" + agent.InstallPath}, install.Args); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if main.Args[0] != agent.CommandBackup || main.Env[0].Name != agent.EnvPodUID {
		t.Errorf("got %s and %s", main.Args[0], main.Env[0].Name)
	}
}

// Names as weapons stay inside one argument after their flag, and what
// Kubernetes makes of the argument is what the user wrote.
func TestNamesStayOneArgument(t *testing.T) {
	for _, name := range []string{
		"x; touch /tmp/p", "$(id)", "`id`", "$(POD_UID)", "$$(POD_UID)", "$", "$$", "a$(BACKUP_USERNAME)b", "a b", "db'--",
		"host=elsewhere dbname=x", "--result-file=/backup/other", "my-db", "täble", "line\nbreak",
	} {
		t.Run(name, func(t *testing.T) {
			b := mysqlBackup(func(b *backupv1.MySQLBackup) {
				b.Spec.Source.Databases = []backupv1.DatabaseName{backupv1.DatabaseName(name)}
			})
			args := backupFlags(b, run{at: at(t, "2027-03-10 02:00:00")})
			want := "--" + agent.FlagDatabase + "=" + name
			if !slices.ContainsFunc(args, func(a string) bool { return expand(a) == want }) {
				t.Errorf("got %q, want %q in it", args, want)
			}
		})
	}
}

// expand does what the kubelet does to an argument: $(NAME) becomes the
// variable's value, $$ a dollar.
func expand(arg string) string {
	variables := map[string]string{"POD_UID": "LEAKED", "BACKUP_USERNAME": "LEAKED"}
	var out strings.Builder
	for i := 0; i < len(arg); i++ {
		if arg[i] != '$' || i+1 == len(arg) {
			out.WriteByte(arg[i])
			continue
		}
		switch next := arg[i+1]; next {
		case '$':
			out.WriteByte('$')
			i++
		case '(':
			if name, _, found := strings.Cut(arg[i+2:], ")"); found && variables[name] != "" {
				out.WriteString(variables[name])
				i += len(name) + 2
				continue
			}
			out.WriteByte('$')
		default:
			out.WriteByte('$')
		}
	}
	return out.String()
}

func TestAffinityLosesNothing(t *testing.T) {
	terms := []backupv1.PodAffinityTerm{{
		LabelSelector: &backupv1.LabelSelector{
			MatchLabels:      map[string]backupv1.LabelValue{"app": "db"},
			MatchExpressions: []backupv1.SelectorRequirement{{Key: "tier", Operator: corev1.NodeSelectorOpExists}},
		},
		Namespaces: []string{"other"}, TopologyKey: "kubernetes.io/hostname",
	}}
	want := &backupv1.Affinity{
		PodAffinity:     &backupv1.PodAffinity{Required: terms},
		PodAntiAffinity: &backupv1.PodAffinity{Preferred: []backupv1.WeightedPodAffinityTerm{{Weight: 5, Term: terms[0]}}},
	}
	job, err := testOptions.runJob(nightly(t, func(b *backupv1.BackupJob) {
		b.Spec.PodTemplate = &backupv1.PodTemplate{Affinity: want}
	}), run{at: at(t, "2027-03-10 02:00:00")})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(job.Spec.Template.Spec.Affinity)
	if err != nil {
		t.Fatal(err)
	}
	got := &backupv1.Affinity{}
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestJobNamesAreValidAndNeverMeet(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-."
	names := []string{
		"a", "db.prod.eu", strings.Repeat("a", 63), strings.Repeat("a", 62) + "b", strings.Repeat("a.", 31) + "b",
		strings.Repeat("a", 39) + ".b", strings.Repeat("a", 40) + ".b", strings.Repeat("x", 50) + "-one", strings.Repeat("x", 50) + "-two",
		strings.Repeat("a-", 31) + "b", "nightly", "nightly.2",
	}
	for range 500 {
		name := []byte{letters[random.IntN(36)]}
		for range random.IntN(61) {
			name = append(name, letters[random.IntN(len(letters))])
		}
		names = append(names, string(append(name, letters[random.IntN(36)])))
	}
	seen := map[string]string{}
	for i, name := range names {
		for kind, b := range map[string]backupv1.Backup{
			"BackupJob": &backupv1.BackupJob{}, "MySQLBackup": &backupv1.MySQLBackup{},
		} {
			b.SetName(name)
			b.SetUID(types.UID(fmt.Sprintf("%s-%d", kind, i)))
			for _, r := range []run{
				{at: at(t, "2027-03-10 02:00:00")}, {at: at(t, "2027-03-10 02:00:01")}, {at: at(t, "2027-03-10 02:00:00"), request: "one"},
				{at: at(t, "2027-03-10 03:00:00"), request: "two"}, {at: at(t, "2027-03-10 03:00:00"), request: "2027-03-10T02:00:00Z"},
			} {
				got, what := jobName(b, r), fmt.Sprintf("%s %s %v", kind, name, r)
				checkName(t, name, got)
				if other, there := seen[got]; there {
					t.Errorf("%s and %s have the name %s", what, other, got)
				}
				seen[got] = what
			}
			if other, there := seen[cleanupName(b)]; there {
				t.Errorf("the clean-up of %s has the name of %s", name, other)
			}
		}
	}
}

func checkName(t *testing.T, object, got string) {
	t.Helper()
	if problems := validation.IsDNS1123Label(got); len(problems) > 0 || len(got) > maxJobName {
		t.Errorf("%s: %q has %d characters: %v", object, got, len(got), problems)
	}
	if len(got+"-abcde") > validation.LabelValueMaxLength {
		t.Errorf("%s: a Pod of %q does not keep the whole name", object, got)
	}
	if want := strings.ReplaceAll(object, ".", "-")[:1]; !strings.HasPrefix(got, want) {
		t.Errorf("%s: %q does not begin like it", object, got)
	}
}

// The name of a request follows from its value, not from when it was seen.
func TestARequestHasOneName(t *testing.T) {
	b := nightly(t)
	one := jobName(b, run{at: at(t, "2027-03-10 02:00:00"), request: "x"})
	two := jobName(b, run{at: at(t, "2027-03-10 02:00:09"), request: "x"})
	if one != two {
		t.Errorf("got %s and %s", one, two)
	}
}

// A user's edit of a Job's annotation moves no schedule.
func TestClassifyBelievesAnAnnotationOnlyIfTheNameProvesIt(t *testing.T) {
	b := nightly(t)
	r := run{at: at(t, "2027-03-10 02:00:00")}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: jobName(b, r), Annotations: map[string]string{
		backupv1.AnnotationScheduledTime: "2027-03-10T02:00:00Z",
	}}}
	if got := classify(b, job); got.run != r {
		t.Errorf("got %+v, want %+v", got.run, r)
	}
	job.Annotations[backupv1.AnnotationScheduledTime] = "2099-01-01T00:00:00Z"
	if got := classify(b, job); got.run != (run{}) {
		t.Errorf("got %+v, want nothing", got.run)
	}
}

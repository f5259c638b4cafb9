// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // The manifests.
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// maxJobName leaves the hyphen and the five characters by which a Pod's
	// name is longer than its Job's within the 63 of a label's value.
	maxJobName = validation.LabelValueMaxLength - 6
	// hashBytes are 80 bits, 16 characters in base 32: enough for two names
	// never to meet, also where the readable part is the same.
	hashBytes = 10

	mainContainer                      = "backup"
	usernameFile, passwordFile, caFile = "username", "password", "ca.crt"
)

var (
	//go:embed backup.yaml
	backupManifest []byte
	//go:embed cleanup.yaml
	cleanupManifest []byte

	backupTemplate, cleanupTemplate = mustRead(backupManifest), mustRead(cleanupManifest)
)

func mustRead(manifest []byte) *batchv1.Job {
	job := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(manifest, job); err != nil {
		panic(err) // it is part of the program
	}
	return job
}

// jobName follows from the object's UID and what is run, so that whoever
// creates the same run twice meets AlreadyExists. A UID is never used twice,
// not even for an object of the other kind.
func jobName(b backupv1.Backup, r run) string {
	if r.request != "" {
		return nameOf(b, "request", r.request)
	}
	return nameOf(b, "schedule", stamp(r.at))
}

func cleanupName(b backupv1.Backup) string { return nameOf(b, "cleanup", "") }

func nameOf(b backupv1.Backup, what, which string) string {
	sum := sha256.Sum256([]byte(string(b.GetUID()) + "/" + what + "/" + which))
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:hashBytes]))
	readable := strings.ReplaceAll(b.GetName(), ".", "-")
	readable = readable[:min(len(readable), maxJobName-len("-")-len(hash))]
	return strings.TrimRight(readable, "-") + "-" + hash
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// runJob is the Job of one run.
func (o Options) runJob(b backupv1.Backup, r run) (*batchv1.Job, error) {
	job, err := jobOf(backupTemplate, b, jobName(b, r))
	if err != nil {
		return nil, err
	}
	job.Annotations = map[string]string{backupv1.AnnotationScheduledTime: stamp(r.at)}
	if r.request != "" {
		job.Annotations[backupv1.AnnotationRunRequestedAt] = r.request
	}
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(b, backupv1.GroupVersion.WithKind(b.Kind()))}
	job.Spec.BackoffLimit = new(b.Policy().Retries())
	job.Spec.ActiveDeadlineSeconds = new(activeDeadline(b))

	pod := &job.Spec.Template.Spec
	pod.InitContainers[0].Image = o.AgentImage
	main, t := &pod.Containers[0], template(b)
	main.Image, main.ImagePullPolicy = o.clientImage(b), t.ImagePullPolicy
	main.Args = append(main.Args, backupFlags(b, r)...)
	if t.Resources != nil { // as they stand, so that no request of ours is above a limit of theirs
		main.Resources = corev1.ResourceRequirements{Requests: t.Resources.Requests, Limits: t.Resources.Limits}
	}
	secret, usernameKey, passwordKey := credentialsOf(b)
	username := main.Env[1].ValueFrom.SecretKeyRef
	username.Name, username.Key = secret, usernameKey
	credentials := volumeOf(pod, "credentials").Secret
	credentials.SecretName = secret
	credentials.Items = []corev1.KeyToPath{{Key: usernameKey, Path: usernameFile}, {Key: passwordKey, Path: passwordFile}}
	if ca := tlsOf(b).CASecretRef; ca != nil {
		volumeOf(pod, "ca").Secret.SecretName = ca.Name
		volumeOf(pod, "ca").Secret.Items = []corev1.KeyToPath{{Key: ptr.Deref(ca.Key, backupv1.DefaultCAKey), Path: caFile}}
	} else {
		pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "ca" })
		main.VolumeMounts = slices.DeleteFunc(main.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "ca" })
	}
	return job, nil
}

// cleanupJob removes the backups of an object that is being deleted. It has no
// owner: a deletion that deletes dependents first would take it away before it
// is done. Its time limits end it instead, also if somebody takes the finalizer
// off by hand: no pass comes after that.
func (o Options) cleanupJob(b backupv1.Backup, limit time.Duration) (*batchv1.Job, error) {
	job, err := jobOf(cleanupTemplate, b, cleanupName(b))
	if err != nil {
		return nil, err
	}
	job.Spec.ActiveDeadlineSeconds = new(int64(max(limit, time.Second).Seconds()))
	purge := &job.Spec.Template.Spec.Containers[0]
	purge.Image = o.AgentImage
	purge.Args = append(purge.Args, placeFlags(b)...)
	return job, nil
}

// jobOf fills in what all our Jobs have in common, podTemplate's closed list
// with it.
func jobOf(from *batchv1.Job, b backupv1.Backup, name string) (*batchv1.Job, error) {
	job, t := from.DeepCopy(), template(b)
	job.Name, job.Namespace = name, b.GetNamespace()
	job.Labels = map[string]string{
		backupv1.LabelKind: b.Kind(), backupv1.LabelName: b.GetName(), backupv1.LabelUID: string(b.GetUID()),
		"app.kubernetes.io/name": "backupjob", "app.kubernetes.io/instance": b.GetName(),
		"app.kubernetes.io/managed-by": "backupjob-operator",
	}
	about, pod := &job.Spec.Template.ObjectMeta, &job.Spec.Template.Spec
	about.Labels, about.Annotations = merged(t.Labels, job.Labels), merged(t.Annotations, about.Annotations)
	pod.NodeSelector, pod.Tolerations = merged(t.NodeSelector, nil), t.Tolerations
	pod.PriorityClassName, pod.ServiceAccountName = ptr.Deref(t.PriorityClassName, ""), ptr.Deref(t.ServiceAccountName, "")
	pod.SecurityContext.RunAsUser = cmp.Or(t.RunAsUser, pod.SecurityContext.RunAsUser)
	pod.SecurityContext.FSGroup = cmp.Or(t.FSGroup, pod.SecurityContext.FSGroup)
	pod.SecurityContext.RunAsGroup = pod.SecurityContext.FSGroup // else it would be root's
	for _, ref := range t.ImagePullSecrets {
		pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: ref.Name})
	}
	claim := ptr.Deref(ptr.Deref(b.Policy().Storage, backupv1.Storage{}).PersistentVolumeClaim, backupv1.ClaimStorage{})
	volumeOf(pod, "backups").PersistentVolumeClaim.ClaimName = backupv1.ClaimName(b)
	for i, mount := range pod.Containers[0].VolumeMounts {
		if mount.Name == "backups" {
			pod.Containers[0].VolumeMounts[i].SubPath = ptr.Deref(claim.SubPath, "")
		}
	}
	// Our type has the fields of a Pod's affinity, with bounds on every list.
	affinity, err := json.Marshal(t.Affinity)
	if err == nil {
		err = json.Unmarshal(affinity, &pod.Affinity)
	}
	if err != nil {
		return nil, fmt.Errorf("read spec.podTemplate.affinity: %w", err)
	}
	return job, nil
}

func volumeOf(pod *corev1.PodSpec, name string) *corev1.Volume {
	return &pod.Volumes[slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })]
}

// merged copies a map of the user's and puts ours over it.
func merged[V ~string](theirs map[string]V, ours map[string]string) map[string]string {
	all := make(map[string]string, len(theirs)+len(ours))
	for key, value := range theirs {
		all[key] = string(value)
	}
	maps.Copy(all, ours)
	return all
}

func (o Options) clientImage(b backupv1.Backup) string {
	if b.Engine() == backupv1.EngineMariaDB {
		return ptr.Deref(template(b).Image, o.MariaDBImage)
	}
	return ptr.Deref(template(b).Image, o.MySQLImage)
}

func template(b backupv1.Backup) backupv1.PodTemplate {
	return ptr.Deref(b.Policy().PodTemplate, backupv1.PodTemplate{})
}

func tlsOf(b backupv1.Backup) backupv1.TLS { return ptr.Deref(b.Server().TLS, backupv1.TLS{}) }

func activeDeadline(b backupv1.Backup) int64 {
	return ptr.Deref(b.Policy().ActiveDeadlineSeconds, backupv1.DefaultActiveDeadlineSeconds)
}

func credentialsOf(b backupv1.Backup) (secret, usernameKey, passwordKey string) {
	ref := ptr.Deref(b.Server().CredentialsSecretRef, backupv1.CredentialsSecretRef{})
	return backupv1.CredentialsSecretName(b),
		ptr.Deref(ref.UsernameKey, backupv1.DefaultUsernameKey), ptr.Deref(ref.PasswordKey, backupv1.DefaultPasswordKey)
}

// flags takes pairs of name and value and keeps each in one argument, so that
// no value can be taken for a flag. Kubernetes expands $(NAME) in arguments; a
// doubled dollar is a dollar.
func flags(namesAndValues ...any) []string {
	var list []string
	for pair := range slices.Chunk(namesAndValues, 2) {
		list = append(list, strings.ReplaceAll(fmt.Sprintf("--%s=%v", pair...), "$", "$$"))
	}
	return list
}

// placeFlags say whose backups they are and where.
func placeFlags(b backupv1.Backup) []string {
	return flags(agent.FlagRoot, agent.BackupRoot, agent.FlagNamespace, b.GetNamespace(), agent.FlagName, b.GetName(),
		agent.FlagUID, b.GetUID(), agent.FlagKind, b.Kind(), agent.FlagTerminationLog, agent.TerminationLog)
}

func backupFlags(b backupv1.Backup, r run) []string {
	p, server, tls := b.Policy(), b.Server(), tlsOf(b)
	list := append(placeFlags(b), flags(
		agent.FlagScheduledTime, stamp(r.at),
		agent.FlagEngine, b.Engine(), agent.FlagHost, server.Host, agent.FlagPort, backupv1.EffectivePort(b),
		agent.FlagUsernameFile, path.Join(agent.CredentialsDir, usernameFile),
		agent.FlagPasswordFile, path.Join(agent.CredentialsDir, passwordFile),
		agent.FlagTLSMode, cmp.Or(tls.Mode, backupv1.TLSPreferred),
		agent.FlagCompression, cmp.Or(p.Compression, backupv1.CompressionZstd),
		agent.FlagRetentionDays, p.RetentionDays(), agent.FlagMinBackups, p.MinBackups(),
		agent.FlagWorkDir, agent.WorkDir)...)
	if tls.CASecretRef != nil {
		list = append(list, flags(agent.FlagTLSCAFile, path.Join(agent.CADir, caFile))...)
	}
	for _, name := range b.Databases() {
		list = append(list, flags(agent.FlagDatabase, name)...)
	}
	o := b.DumpOptions()
	if o == nil {
		return list
	}
	for _, table := range o.IgnoreTables {
		list = append(list, flags(agent.FlagIgnoreTable, table)...)
	}
	return append(list, flags(
		agent.FlagSingleTransaction, ptr.Deref(o.SingleTransaction, true), agent.FlagRoutines, ptr.Deref(o.Routines, true),
		agent.FlagTriggers, ptr.Deref(o.Triggers, true), agent.FlagEvents, ptr.Deref(o.Events, true),
		agent.FlagSetGTIDPurged, cmp.Or(o.SetGTIDPurged, backupv1.GTIDPurgedAuto))...)
}

// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	volumeCount = 40
	// volumeSize is nominal: a volume is a folder and has no limit of its own.
	volumeSize = "10Gi"
	// volumeMode lets a Pod of any user write.
	volumeMode    = 0o777 | os.ModeSticky
	recycleEvery  = time.Second
	managedVolume = "app.kubernetes.io/managed-by=test-cluster"
)

// volume is a folder that a PersistentVolume offers to Pods.
type volume struct {
	Name string
	Path string
}

func volumes(l Layout) []volume {
	all := make([]volume, volumeCount)
	for i := range all {
		name := fmt.Sprintf("local-%02d", i)
		all[i] = volume{Name: name, Path: filepath.Join(l.Volumes(), name)}
	}
	return all
}

func makeVolumes(l Layout) error {
	for _, v := range volumes(l) {
		if err := makeVolume(v.Path); err != nil {
			return err
		}
	}
	return nil
}

func makeVolume(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	// Not left to MkdirAll, which honours the umask.
	return os.Chmod(path, volumeMode)
}

// recycler offers released volumes again. Kubernetes leaves that to whoever
// provisions volumes, and for local folders nobody does.
type recycler struct {
	client  corev1client.CoreV1Interface
	folders map[string]string // by name
	log     *log.Logger
}

func newRecycler(l Layout, client corev1client.CoreV1Interface, log *log.Logger) *recycler {
	r := &recycler{client: client, folders: map[string]string{}, log: log}
	for _, v := range volumes(l) {
		r.folders[v.Name] = v.Path
	}
	return r
}

// run goes on until ctx ends. A failure is not final: the API server may be
// stopped on purpose.
func (r *recycler) run(ctx context.Context) {
	tick := time.NewTicker(recycleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.recycle(ctx); err != nil && ctx.Err() == nil {
				r.log.Printf("Recycle volumes: %v", err)
			}
		}
	}
}

func (r *recycler) recycle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := r.client.PersistentVolumes().List(ctx, metav1.ListOptions{LabelSelector: managedVolume})
	if err != nil {
		return err
	}
	var errs []error
	for _, pv := range list.Items {
		if path, ours := r.folders[pv.Name]; ours && pv.Status.Phase == corev1.VolumeReleased {
			errs = append(errs, r.release(ctx, &pv, path))
		}
	}
	return errors.Join(errs...)
}

// release empties a volume, unless its claim exists: the phase may lag behind
// while a new claim is being bound.
func (r *recycler) release(ctx context.Context, pv *corev1.PersistentVolume, path string) error {
	claim := pv.Spec.ClaimRef
	if claim == nil {
		return nil
	}
	found, err := r.client.PersistentVolumeClaims(claim.Namespace).Get(ctx, claim.Name, metav1.GetOptions{})
	switch {
	case err == nil && (claim.UID == "" || found.UID == claim.UID):
		return nil
	case err != nil && !apierrors.IsNotFound(err):
		return err
	}
	if err := empty(path); err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"claimRef":null}}`, pv.ResourceVersion)
	_, err = r.client.PersistentVolumes().Patch(ctx, pv.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// empty gives a volume its first state back; a Pod may have changed the mode
// and the owner of the folder itself.
func empty(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(os.Chown(path, os.Geteuid(), os.Getegid()), os.Chmod(path, volumeMode))
}

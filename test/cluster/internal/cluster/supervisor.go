// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// startLimit bounds the whole start, on a machine that is busy with other work.
const startLimit = 5 * time.Minute

// supervisor owns the components of one cluster.
type supervisor struct {
	layout    Layout
	config    Config
	out       *log.Logger
	processes []*process

	mu      sync.Mutex
	started time.Time
	phase   Phase
	failure string
	reached map[string]chan struct{} // milestones; closed when reached
	took    map[string]time.Duration // since the start
}

// Supervise runs the cluster whose folder is prepared until ctx ends, and then
// stops it.
func Supervise(ctx context.Context, l Layout, out *log.Logger) error {
	c, err := readConfig(l)
	if err != nil {
		return err
	}
	s, err := newSupervisor(l, c, out)
	if err != nil {
		return err
	}
	server, err := s.listen()
	if err != nil {
		return err
	}
	defer s.stopAll()
	s.setPhase(s.bringUp(ctx))
	if c.Node {
		if err := s.recycleVolumes(ctx); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return server.Close()
}

func newSupervisor(l Layout, c Config, out *log.Logger) (*supervisor, error) {
	client, err := newProbeClient(l)
	if err != nil {
		return nil, err
	}
	s := &supervisor{
		layout:  l,
		config:  c,
		out:     out,
		started: time.Now(),
		phase:   Starting,
		reached: map[string]chan struct{}{},
		took:    map[string]time.Duration{},
	}
	for _, spec := range components(l, c) {
		s.processes = append(s.processes, &process{component: spec, logPath: l.log(spec.name), client: client, out: out})
		s.reached[spec.name] = make(chan struct{})
	}
	for _, name := range []string{imagesImported, manifestsApplied, nodeReady} {
		s.reached[name] = make(chan struct{})
	}
	return s, nil
}

// bringUp starts everything at once; each part waits only for what it needs.
func (s *supervisor) bringUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range s.processes {
		g.Go(func() error {
			return s.milestone(ctx, p.name, p.after, func() error {
				if err := p.start(); err != nil {
					return err
				}
				return p.awaitReady(ctx)
			})
		})
	}
	g.Go(func() error {
		return s.milestone(ctx, manifestsApplied, []string{"kube-apiserver"}, func() error { return s.applyManifests(ctx) })
	})
	if s.config.Node {
		g.Go(func() error {
			return s.milestone(ctx, imagesImported, []string{"containerd"}, func() error { return s.importImages(ctx) })
		})
		g.Go(func() error {
			needs := []string{"kubelet", "kube-proxy", imagesImported, manifestsApplied}
			return s.milestone(ctx, nodeReady, needs, func() error { return s.awaitNode(ctx) })
		})
	}
	return g.Wait()
}

// milestone waits for others, does its own work and lets others go on.
func (s *supervisor) milestone(ctx context.Context, name string, after []string, do func() error) error {
	for _, other := range after {
		select {
		case <-s.reached[other]:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := do(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took[name] = time.Since(s.started)
	close(s.reached[name])
	s.out.Printf("%s ready after %s", name, s.took[name].Round(10*time.Millisecond))
	return nil
}

func (s *supervisor) setPhase(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = Ready
	if err != nil {
		s.phase, s.failure = Failed, err.Error()
		s.out.Printf("The start failed: %v", err)
	}
}

func (s *supervisor) recycleVolumes(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.layout.Kubeconfig())
	if err != nil {
		return err
	}
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return err
	}
	go newRecycler(s.layout, client, s.out).run(ctx)
	return nil
}

func (s *supervisor) find(name string) (*process, error) {
	var names []string
	for _, p := range s.processes {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	return nil, fmt.Errorf("there is no component %q; there are %s", name, strings.Join(names, ", "))
}

// stopAll stops group after group. What is left of Pods ends with the process
// namespace.
func (s *supervisor) stopAll() {
	for _, group := range stopOrder {
		var wg sync.WaitGroup
		for _, p := range s.processes {
			if slices.Contains(group, p.name) {
				wg.Go(func() { p.stop(false) })
			}
		}
		wg.Wait()
	}
	s.out.Print("All components are stopped")
	// A socket that nobody answers would mislead.
	if err := os.Remove(s.layout.controlSocket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.out.Print(err)
	}
}

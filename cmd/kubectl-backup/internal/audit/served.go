// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dialTimeout bounds each way to a server.
const dialTimeout = 5 * time.Second

// Dialer opens a connection to a port of a Pod.
type Dialer interface {
	// Dial connects by way of the API server.
	Dial(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error)
}

// Look shakes hands with every server that the API server would call, and
// keeps what they show.
func (s *Snapshot) Look(ctx context.Context, dialer Dialer) {
	asked := map[string]bool{}
	for _, t := range s.targets() {
		key := fmt.Sprintf("%s/%s:%d %s", t.namespace, t.service, t.port, t.dnsName())
		if asked[key] {
			continue
		}
		asked[key] = true
		if t.service == "" {
			s.Served = append(s.Served, lookAt(ctx, t))
			continue
		}
		s.lookBehind(ctx, dialer, t)
	}
}

func lookAt(ctx context.Context, t target) Served {
	served := Served{Where: t.url, DNSName: t.dnsName()}
	parsed, err := url.Parse(t.url)
	if err != nil {
		served.Err = err.Error()
		return served
	}
	served.Where = parsed.Host
	address := parsed.Host
	if parsed.Port() == "" {
		address = net.JoinHostPort(parsed.Hostname(), strconv.Itoa(httpsPort))
	}
	var direct net.Dialer
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := direct.DialContext(ctx, "tcp", address)
	if err != nil {
		served.Err = err.Error()
		return served
	}
	served.shake(ctx, conn)
	return served
}

// lookBehind asks every ready Pod of a Service.
func (s *Snapshot) lookBehind(ctx context.Context, dialer Dialer, t target) {
	for _, resource := range []string{"services", pods} {
		if u, ok := s.Unread[resource]; ok {
			s.Served = append(s.Served, Served{Where: "Service " + t.service, DNSName: t.dnsName(), Err: u.why})
			return
		}
	}
	at := slices.IndexFunc(s.Services, func(service corev1.Service) bool {
		return service.Name == t.service && service.Namespace == t.namespace
	})
	if at < 0 {
		s.Served = append(s.Served, Served{Where: "Service " + t.service, DNSName: t.dnsName(), Err: "there is no such Service"})
		return
	}
	service, found := &s.Services[at], false
	for i := range s.Pods {
		pod := &s.Pods[i]
		if len(service.Spec.Selector) == 0 || !chosen(metav1.SetAsLabelSelector(service.Spec.Selector), pod.Labels) || !isReady(pod) {
			continue
		}
		found = true
		s.Served = append(s.Served, s.lookInto(ctx, dialer, pod, t, podPort(service, pod, t.port)))
	}
	if !found {
		s.Served = append(s.Served, Served{Where: "Service " + t.service, DNSName: t.dnsName(), Err: "no Pod of it is ready"})
	}
}

// lookInto goes through the API server, and else straight to the Pod, which
// works where the Pods' network can be reached.
func (s *Snapshot) lookInto(ctx context.Context, dialer Dialer, pod *corev1.Pod, t target, port int) Served {
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	served := Served{Where: "Pod " + pod.Name, DNSName: t.dnsName()}
	conn, err := dialer.Dial(ctx, pod, port)
	if err == nil {
		served.Where += ", by port-forward,"
		served.shake(ctx, conn)
		return served
	}
	if apierrors.IsForbidden(err) {
		right := "create pods/portforward in namespace " + pod.Namespace
		s.Unread["pods/portforward"] = unread{why: "you have no right to " + right, lacking: right}
	}
	var direct net.Dialer
	short, stop := context.WithTimeout(ctx, dialTimeout/2)
	defer stop()
	conn, straight := direct.DialContext(short, "tcp", net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(port)))
	if straight != nil {
		served.Err = fmt.Sprintf("by port-forward: %v; straight: %v", err, straight)
		return served
	}
	served.Where += ", straight,"
	served.shake(ctx, conn)
	return served
}

// shake keeps what the server shows, and closes the connection. Whether it is
// to be trusted is for the checks to say.
func (served *Served) shake(ctx context.Context, conn net.Conn) {
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: served.DNSName, MinVersion: tls.VersionTLS10})
	if err := client.HandshakeContext(ctx); err != nil {
		served.Err = errors.Join(fmt.Errorf("TLS: %w", err), conn.Close()).Error()
		return
	}
	state := client.ConnectionState()
	served.Chain, served.TLS = state.PeerCertificates, state.Version
	_ = client.Close() // all has been seen
}

// podPort is the port of a Pod that a port of a Service leads to.
func podPort(service *corev1.Service, pod *corev1.Pod, port int32) int {
	for _, p := range service.Spec.Ports {
		if p.Port != port {
			continue
		}
		if number := p.TargetPort.IntValue(); number > 0 {
			return number
		}
		for _, container := range pod.Spec.Containers {
			for _, named := range container.Ports {
				if named.Name == p.TargetPort.StrVal {
					return int(named.ContainerPort)
				}
			}
		}
	}
	return int(port)
}

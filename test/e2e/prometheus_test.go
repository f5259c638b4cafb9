// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/yaml"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// prometheus is a real one that scrapes our Pods every second, by way of the
// API server, which is reachable from anywhere.
type prometheus struct{ address string }

func startPrometheus(ctx context.Context) prometheus {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	cfg, err := config.GetConfig()
	Expect(err).NotTo(HaveOccurred())
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		Expect(os.WriteFile(path, data, 0o600)).To(Succeed())
		return path
	}
	tls := map[string]any{
		"ca_file": file("ca.crt", cfg.CAData), "cert_file": file("tls.crt", cfg.CertData), "key_file": file("tls.key", cfg.KeyData),
	}
	server, err := url.Parse(cfg.Host)
	Expect(err).NotTo(HaveOccurred())
	var pods corev1.PodList
	Expect(cluster.List(ctx, &pods, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/name": "backupjob-operator"})).To(Succeed())
	var jobs []any
	for _, pod := range pods.Items {
		jobs = append(jobs, map[string]any{
			"job_name": pod.Name, "scheme": "https", "tls_config": tls, "honor_labels": true,
			"metrics_path":   fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:8080/proxy/metrics", pod.Namespace, pod.Name),
			"static_configs": []any{map[string]any{"targets": []string{server.Host}, "labels": map[string]string{"pod": pod.Name, "namespace": pod.Namespace}}},
		})
	}
	settings, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{file("rules.yaml", alertRules())}, "scrape_configs": jobs,
	})
	Expect(err).NotTo(HaveOccurred())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	p := prometheus{listener.Addr().String()}
	Expect(listener.Close()).To(Succeed())
	cmd := exec.Command("prometheus", "--config.file", file("prometheus.yaml", settings), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", p.address)
	cmd.Stdout, cmd.Stderr = GinkgoWriter, GinkgoWriter
	Expect(cmd.Start()).To(Succeed(), "Prometheus is in Debian's package prometheus")
	DeferCleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return p
}

// alertRules are those of config/prometheus in Prometheus's own form.
func alertRules() []byte {
	GinkgoHelper()
	data, err := os.ReadFile("../../config/prometheus/alerts.yaml")
	Expect(err).NotTo(HaveOccurred())
	var rule struct{ Spec any }
	Expect(yaml.Unmarshal(data, &rule)).To(Succeed())
	rules, err := yaml.Marshal(rule.Spec)
	Expect(err).NotTo(HaveOccurred())
	return rules
}

// get reads an answer of Prometheus's API.
func (p prometheus) get(path string, query url.Values, into any) error {
	response, err := http.Get("http://" + p.address + "/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // It is only read.
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return json.Unmarshal(body, into)
}

// series is how many series a query finds.
func (p prometheus) series(query string) (int, error) {
	var answer struct{ Data struct{ Result []any } }
	err := p.get("query", url.Values{"query": {query}}, &answer)
	return len(answer.Data.Result), err
}

// dashboardQueries are those of every panel, with the variables filled in.
func dashboardQueries() map[string][]string {
	GinkgoHelper()
	data, err := os.ReadFile("../../config/grafana/backups.json")
	Expect(err).NotTo(HaveOccurred())
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	Expect(json.Unmarshal(data, &dashboard)).To(Succeed())
	queries := map[string][]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			text := strings.NewReplacer("$namespace", ".*", "$__rate_interval", "1m").Replace(target.Expr)
			queries[panel.Title] = append(queries[panel.Title], text)
		}
	}
	return queries
}

var _ = Describe("A real Prometheus", func() {
	It("answers every query of the dashboard and reads every alert", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "good")
		good, late := backupJob(ns, "good", nil), backupJob(ns, "late", func(b *backupv1.BackupJob) { b.Spec.Schedule = "0 * * * *" })
		Expect(cluster.Create(ctx, good)).To(Succeed())
		Expect(cluster.Create(ctx, late)).To(Succeed())
		p := startPrometheus(ctx)
		requestRun(ctx, good)

		By("letting a time be missed: the object is known for two days, and says so")
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(late), late)).To(Succeed())
			g.Expect(late.Status.ObservedSchedule).NotTo(BeNil())
			late.Spec.StartingDeadlineSeconds = new(int64(10))
			g.Expect(cluster.Update(ctx, late)).To(Succeed())
			late.Status.ObservedSchedule.Since = new(metav1.NewTime(time.Now().Add(-48 * time.Hour)))
			g.Expect(asController().Status().Update(ctx, late)).To(Succeed())
		}).WithTimeout(soon).Should(Succeed(), "the controller may be writing, too")
		kubectl(ctx, "-n", ns, "annotate", "backupjob/late", "e2e.test/poke=1")

		By("calling the front door in a way that it turns away")
		cfg, err := config.GetConfig()
		Expect(err).NotTo(HaveOccurred())
		door, err := kubernetes.NewForConfig(cfg)
		Expect(err).NotTo(HaveOccurred())
		_, err = door.CoreV1().RESTClient().Get().Namespace(operatorNamespace).Resource("services").
			Name("https:backupjob-webhook:443").SubResource("proxy").Suffix("convert").DoRaw(ctx)
		Expect(apierrors.IsMethodNotSupported(err)).To(BeTrue(), "reviews are posted: %v", err)

		finished(ctx, good, backupv1.ResultSucceeded)
		for title, queries := range dashboardQueries() {
			for _, query := range queries {
				Eventually(func() (int, error) { return p.series(query) }).WithTimeout(soon).WithPolling(time.Second).
					Should(BeNumerically(">", 0), "%s: %s", title, query)
			}
		}

		By("reading the alerts")
		var answer struct {
			Data struct {
				Groups []struct {
					Rules []struct{ Name, Health, LastError string }
				}
			}
		}
		Eventually(func(g Gomega) {
			g.Expect(p.get("rules", nil, &answer)).To(Succeed())
			g.Expect(answer.Data.Groups).To(HaveLen(2))
			for _, group := range answer.Data.Groups {
				for _, rule := range group.Rules {
					g.Expect(rule.Health).To(Equal("ok"), "%s: %s", rule.Name, rule.LastError)
				}
			}
		}).WithTimeout(soon).Should(Succeed())
	})
})

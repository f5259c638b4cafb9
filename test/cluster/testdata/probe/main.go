// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command probe runs in Pods of the test cluster and tries what a Pod may
// expect to work.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say what to try: volume or webhook")
	}
	switch args[0] {
	case "volume":
		return tryPod()
	case "webhook":
		return serveWebhook()
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// tryPod writes to the volume, finds a Service by name and calls the API server.
func tryPod() error {
	if err := os.WriteFile("/data/written", []byte("by a Pod"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile("/forbidden", nil, 0o600); err == nil {
		return fmt.Errorf("the root file system is writable")
	}
	addresses, err := net.LookupHost("kube-dns.kube-system.svc.cluster.local")
	if err != nil {
		return err
	}
	version, err := serverVersion()
	if err != nil {
		return err
	}
	fmt.Println("dns", addresses, "version", version)
	return nil
}

func serverVersion() (string, error) {
	ca, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return "", err
	}
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}
	req, err := http.NewRequest(http.MethodGet, "https://kubernetes.default.svc/version", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+string(token))
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// serveWebhook refuses everything, with a message that shows who did it.
func serveWebhook() error {
	http.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request, _ := review["request"].(map[string]any)
		review["response"] = map[string]any{
			"uid":     request["uid"],
			"allowed": false,
			"status":  map[string]any{"message": "the probe refuses"},
		}
		delete(review, "request")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Addr: ":8443", ReadHeaderTimeout: 5 * time.Second}
	return server.ListenAndServeTLS("/tls/tls.crt", "/tls/tls.key")
}

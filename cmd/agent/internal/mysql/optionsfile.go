// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"example.com/backupjob-operator/cmd/agent/internal/credentials"
)

// DefaultPort is the port of MySQL and MariaDB.
const DefaultPort = 3306

// Target is the server to talk to.
type Target struct {
	Host string
	// Port is DefaultPort if it is zero.
	Port int
	TLS  TLS
}

// String shows the target as host and port.
func (t Target) String() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(t.port())
}

func (t Target) port() int {
	if t.Port == 0 {
		return DefaultPort
	}
	return t.Port
}

// escapes are the characters that would end a quoted value of an options
// file, or be taken for something else in it. A line of the file ends only
// at a line feed, but the carriage return is in the list for clients that
// read the file as text.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`)

// quote writes a value so that the clients read back exactly that value.
// Inside quotes neither '#' nor ';' begins a comment and blanks stay.
func quote(value string) string { return `"` + escapes.Replace(value) + `"` }

// optionsFile is the content of the file with which a client logs in.
func optionsFile(t Target, c credentials.Credentials, client Version) (string, error) {
	options, err := t.TLS.options(client)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("[client]\n")
	for _, option := range append([]option{
		{"user", c.Username},
		{"password", c.Password},
		{"host", t.Host},
		{"port", strconv.Itoa(t.port())},
		// Otherwise the host "localhost" means a socket.
		{"protocol", "TCP"},
		{"default-character-set", "utf8mb4"},
	}, options...) {
		b.WriteString(option.name)
		if option.value != "" || option.name == "password" {
			b.WriteString("=" + quote(option.value))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// option is a line of an options file; without a value it is a switch.
type option struct{ name, value string }

// writeOptionsFile writes the content where only this user can read it.
func writeOptionsFile(dir, content string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for the client's options file: %w", err)
	}
	file, err := os.CreateTemp(dir, "client-*.cnf") // 0600 from the start
	if err != nil {
		return "", fmt.Errorf("make the client's options file: %w", err)
	}
	_, err = file.WriteString(content)
	if err == nil {
		err = file.Chmod(0o400)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", fmt.Errorf("write the client's options file: %w", err)
	}
	return file.Name(), nil
}

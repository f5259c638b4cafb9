// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/backupjob-operator/cmd/agent/internal/credentials"
)

// Client is a set of tools that can log in to one server.
type Client struct {
	Tools  Tools
	Server Version

	target  Target
	options string
	secret  string
	log     *slog.Logger
}

// Connect writes the options file into workDir and asks the server who it
// is. Close takes the file away.
func Connect(ctx context.Context, tools Tools, target Target, c credentials.Credentials, workDir string, log *slog.Logger) (*Client, error) {
	content, err := optionsFile(target, c, tools.Version)
	if err != nil {
		return nil, err
	}
	path, err := writeOptionsFile(workDir, content)
	if err != nil {
		return nil, err
	}
	client := &Client{Tools: tools, target: target, options: path, secret: c.Password, log: log}
	if err := client.identify(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("log in to %s as %q: %w", target, c.Username, err)
	}
	return client, nil
}

// Close removes the options file.
func (c *Client) Close() { _ = os.Remove(c.options) }

// identify asks for the server's version and whether the connection is
// encrypted.
func (c *Client) identify(ctx context.Context) error {
	rows, err := c.Query(ctx, "SELECT VERSION(), @@version_comment; SHOW SESSION STATUS LIKE 'Ssl_cipher'")
	if err != nil {
		return err
	}
	if len(rows) == 0 || len(rows[0]) != 2 {
		return errors.New("the server does not tell its version: is it MySQL or MariaDB?")
	}
	if c.Server, err = ParseServer(rows[0][0], rows[0][1]); err != nil {
		return err
	}
	encrypted := len(rows) > 1 && len(rows[1]) == 2 && rows[1][1] != ""
	if c.target.TLS.needsCipher() && !encrypted {
		return fmt.Errorf("the server offers no encryption, but TLS mode %s wants it: "+
			"switch TLS on in the server, or set spec.source.tls.mode to Preferred", c.target.TLS.Mode)
	}
	return nil
}

// connectTimeout is how many seconds a server has to answer at first.
const connectTimeout = "20"

// Query returns the rows that the server answers. The query is ours; nothing
// that a user chose may be part of it.
func (c *Client) Query(ctx context.Context, sql string) ([][]string, error) {
	var out bytes.Buffer
	err := c.run(ctx, c.Tools.SQL, nil, &out,
		"--batch", "--skip-column-names", "--connect-timeout="+connectTimeout, "--execute="+sql)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for line := range strings.Lines(out.String()) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, cell := range row {
			row[i] = unescape.Replace(cell)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// unescape undoes what the client does to a cell in its batch mode.
var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\0`, "\x00")

// maxPacket lets rows through that are as large as a server can have them.
// The memory is taken only when such a row comes.
const maxPacket = "--max-allowed-packet=1G"

// Dump runs the dump tool and hands what it writes to w.
func (c *Client) Dump(ctx context.Context, w io.Writer, args ...string) error {
	return c.run(ctx, c.Tools.Dump, nil, w, append([]string{maxPacket}, args...)...)
}

// Execute runs a dump in the server. In its binary mode the client changes
// no byte of the data and obeys no command to itself, such as one to run a
// program.
func (c *Client) Execute(ctx context.Context, r io.Reader) error {
	return c.run(ctx, c.Tools.SQL, r, io.Discard, maxPacket, "--batch", "--binary-mode", "--connect-timeout="+connectTimeout)
}

// run starts a tool, streams, and waits. When reading or writing fails, that
// is the error, and the tool is stopped.
func (c *Client) run(ctx context.Context, tool string, in io.Reader, out io.Writer, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := filepath.Base(tool)
	said := &complaints{log: c.log, tool: name, secret: c.secret}
	// The options file has to be the first argument.
	cmd := exec.CommandContext(ctx, tool, append([]string{"--defaults-file=" + c.options}, args...)...)
	cmd.Env = environment(filepath.Dir(c.options))
	cmd.Stderr = said
	cmd.WaitDelay = grace
	streams := &streams{cancel: cancel}
	cmd.Stdout = streams.writer(out)
	if in != nil {
		cmd.Stdin = streams.reader(in)
	}
	err := cmd.Run()
	switch {
	case streams.err() != nil:
		return streams.err()
	case ctx.Err() != nil:
		return fmt.Errorf("%s was stopped: %w", name, context.Cause(ctx))
	case err != nil:
		return c.failure(name, said.lastLine(), err)
	}
	return nil
}

// failure is the error of a tool that ended badly: its own last line.
func (c *Client) failure(name, line string, err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			return fmt.Errorf("%s was killed, as happens when memory runs out: raise spec.podTemplate.resources.limits.memory", name)
		}
	}
	if line == "" {
		return fmt.Errorf("%s ended without a word: %w", name, err)
	}
	return errors.New(explain(line))
}

// Databases lists the databases that the user can see.
func (c *Client) Databases(ctx context.Context) ([]string, error) {
	return c.names(ctx, "SELECT CAST(schema_name AS BINARY) FROM information_schema.schemata")
}

// DatabasesWithTables lists the databases that have at least one table or
// view. As bytes, since the server would take 'a' and 'ä' for one name.
func (c *Client) DatabasesWithTables(ctx context.Context) ([]string, error) {
	return c.names(ctx, "SELECT DISTINCT CAST(table_schema AS BINARY) FROM information_schema.tables")
}

func (c *Client) names(ctx context.Context, sql string) ([]string, error) {
	rows, err := c.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row[0]
	}
	return names, nil
}

// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/backupjob-operator/api/agent"
)

// Version is what a client or a server is.
type Version struct {
	// Family is agent.EngineMySQL or agent.EngineMariaDB.
	Family              string
	Major, Minor, Patch int
	// Text is the version as it was printed, for the manifest.
	Text string
}

var (
	// MariaDB puts its name behind the number, wherever the number is:
	// "Distrib 10.11.6-MariaDB" and, from 11.0 on, "from 11.4.2-MariaDB".
	mariadbVersion = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)-MariaDB`)
	// MySQL 5.7 prints the tool's own version and the release behind Distrib.
	distribVersion = regexp.MustCompile(`Distrib (\d+)\.(\d+)\.(\d+)`)
	verVersion     = regexp.MustCompile(`Ver (\d+)\.(\d+)\.(\d+)`)
	plainVersion   = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)`)
)

// ParseClient reads what a client prints with --version.
func ParseClient(printed string) (Version, error) {
	line, _, _ := strings.Cut(strings.TrimSpace(printed), "\n")
	if v, ok := match(mariadbVersion, line, agent.EngineMariaDB); ok {
		return v, nil
	}
	for _, pattern := range []*regexp.Regexp{distribVersion, verVersion} {
		if v, ok := match(pattern, line, agent.EngineMySQL); ok {
			return v, nil
		}
	}
	return Version{}, fmt.Errorf("the client's version is not understood: %q: "+
		"set spec.podTemplate.image to an image with the client of MySQL 5.7 or later, or of MariaDB", line)
}

// ParseServer reads VERSION() and @@version_comment.
func ParseServer(version, comment string) (Version, error) {
	if v, ok := match(mariadbVersion, version, agent.EngineMariaDB); ok {
		return v, nil
	}
	family := agent.EngineMySQL
	if strings.Contains(version+comment, "MariaDB") {
		family = agent.EngineMariaDB
	}
	if v, ok := match(plainVersion, version, family); ok {
		return v, nil
	}
	return Version{}, fmt.Errorf("the server's version is not understood: %q (%s)", version, comment)
}

func match(pattern *regexp.Regexp, text, family string) (Version, bool) {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return Version{}, false
	}
	v := Version{Family: family, Text: text}
	for i, part := range []*int{&v.Major, &v.Minor, &v.Patch} {
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return Version{}, false
		}
		*part = n
	}
	return v, true
}

// AtLeast compares with a version of the same family.
func (v Version) AtLeast(major, minor, patch int) bool {
	if v.Major != major {
		return v.Major > major
	}
	if v.Minor != minor {
		return v.Minor > minor
	}
	return v.Patch >= patch
}

// IsMariaDB tells the family.
func (v Version) IsMariaDB() bool { return v.Family == agent.EngineMariaDB }

// String shows family and number, as in "MariaDB 10.11.6".
func (v Version) String() string {
	return fmt.Sprintf("%s %d.%d.%d", v.Family, v.Major, v.Minor, v.Patch)
}

// Image is the image whose client fits this server.
func (v Version) Image() string {
	return fmt.Sprintf("%s:%d.%d", strings.ToLower(v.Family), v.Major, v.Minor)
}

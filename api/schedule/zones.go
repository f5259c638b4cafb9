// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the two files
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	maxZone = 64 // bytes; the longest name of the database has 32
	anyZone = "must be an IANA time zone name: that of a region such as 'Europe/Berlin', or 'UTC'"
	// maxTypos is how long the wrong part of a name may be that is still recognised, and lettersPerTypo how
	// many letters it must have for each of them.
	maxTypos, lettersPerTypo = 2, 4
	maxSuggestions           = 3
)

//go:embed zoneinfo.zip
var zoneinfo []byte

// aliases has a line for each thing that people write instead of a zone: places in lower case,
// abbreviations in upper case, then the zones that may be meant.
//
//go:embed aliases.txt
var aliases string

var offset = regexp.MustCompile(`^(?i:UTC|GMT|Z)?([+-])0?(\d{1,2})(?::?(\d\d))?$`)

// files are the zones of the embedded database that a user may name.
var files = sync.OnceValue(func() map[string]*zip.File {
	byName := map[string]*zip.File{}
	archive, err := zip.NewReader(bytes.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return byName // cannot be: the file is part of the build, and the tests read all of it
	}
	for _, f := range archive.File {
		if !f.FileInfo().IsDir() && f.Name != "Factory" {
			byName[f.Name] = f
		}
	}
	return byName
})

// loaded holds a *time.Location per zone that was asked for, at most as many as there are zones.
var loaded sync.Map

// Zones returns the name of every accepted time zone, sorted.
func Zones() []string { return slices.Sorted(maps.Keys(files())) }

// load returns a zone that CheckZone accepts.
func load(zone string) (*time.Location, error) {
	if location, ok := loaded.Load(zone); ok {
		return location.(*time.Location), nil
	}
	var data bytes.Buffer
	reader, err := files()[zone].Open()
	if err == nil {
		_, err = io.Copy(&data, reader) // Close has nothing to free
	}
	if err != nil {
		return nil, fmt.Errorf("read time zone %s from the embedded database: %w", zone, err)
	}
	location, err := time.LoadLocationFromTZData(zone, data.Bytes())
	if err != nil {
		return nil, fmt.Errorf("decode time zone %s of the embedded database: %w", zone, err)
	}
	first, _ := loaded.LoadOrStore(zone, location)
	return first.(*time.Location), nil
}

// CheckZone judges a time zone that is set: nil, or an error that says what must be written, for use
// behind the path and the value. Its text is one line of at most 200 bytes. The empty text is an error
// here; leave the check out where no zone is set, which means UTC.
func CheckZone(zone string) error {
	_, known := files()[zone]
	switch {
	case known:
		return nil
	case zone == "":
		return errors.New("must not be empty; leave `timeZone` out for UTC, or name a zone such as 'Europe/Berlin'")
	case len(zone) > maxZone:
		return errors.New(anyZone)
	}
	if text := asOffset(zone); text != "" {
		return errors.New(text)
	}
	if text := closest(zone); text != "" {
		return errors.New(text)
	}
	return errors.New(anyZone)
}

// asOffset explains what to write for an offset, "" for anything else.
func asOffset(zone string) string {
	parts := offset.FindStringSubmatch(zone)
	if parts == nil {
		return ""
	}
	sign, hours, minutes := parts[1], parts[2], parts[3]
	name := "Etc/GMT" + map[string]string{"+": "-", "-": "+"}[sign] + hours
	if files()[name] == nil || strings.Trim(minutes, "0") != "" {
		return "must be a name and not an offset; write that of a region such as 'Asia/Kolkata'"
	}
	return fmt.Sprintf("must be a name and not an offset; write that of a region such as 'Europe/Berlin', "+
		"or '%s' for UTC%s%s (its sign is the other way round)", name, sign, hours)
}

// meanings maps what people write, as a key, to the zones that they may mean.
var meanings = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, zone := range Zones() {
		for _, k := range slices.Compact([]string{key(zone), key(place(zone))}) {
			all[k] = append(all[k], zone)
		}
	}
	for line := range strings.Lines(aliases) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	return all
})

// closest names the zones of an abbreviation, or those whose name, or the place in it, is written most
// like the given text; "" if none is.
func closest(zone string) string {
	if zones := meanings()[strings.ToUpper(zone)]; zones != nil {
		return "must name a region, such as " + orList(zones) + "; abbreviations are not unique"
	}
	var found []string
	best := maxTypos
	for _, wanted := range []string{key(zone), key(place(zone))} {
		for known, zones := range meanings() {
			d := distance(wanted, known)
			if d > min(best, len(wanted)/lettersPerTypo) {
				continue
			}
			if d < best {
				found, best = nil, d
			}
			found = append(found, zones...)
		}
	}
	if found == nil {
		return ""
	}
	slices.Sort(found)
	return "must be an IANA time zone name, spelt exactly; the closest is " + orList(slices.Compact(found))
}

// place returns what stands behind the last slash: "Buenos_Aires".
func place(zone string) string { return zone[strings.LastIndexByte(zone, '/')+1:] }

// key reduces a text to its letters, digits and signs in lower case, so "New York" is "New_York".
func key(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_/. \t", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// orList writes the first maxSuggestions zones as "'A', 'B' or 'C'".
func orList(zones []string) string {
	return "'" + join(zones[:min(len(zones), maxSuggestions)], "', '", "' or '") + "'"
}

// distance returns how many bytes the part has in which a and b differ, from the first to the last.
func distance(a, b string) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxExpression = 128 // characters; the bound of the schema too
	maxQuoted     = 32  // bytes of a user's text in a message
	example       = "five fields (minute, hour, day of month, month, day of week) such as '0 2 * * *'"
)

// descriptors are the names for a schedule, and what they stand for.
var descriptors = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

// field describes one of the five fields; names are those of its values from min on.
type field struct {
	name     string
	min, max int
	values   string
	names    []string
}

var fields = [5]field{
	{"minute", 0, 59, "0 to 59", nil},
	{"hour", 0, 23, "0 to 23", nil},
	{"day of month", 1, 31, "1 to 31", nil},
	{"month", 1, 12, "1 to 12 or JAN to DEC", strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")},
	{"day of week", 0, 6, "0 to 6 or SUN to SAT", strings.Fields("SUN MON TUE WED THU FRI SAT")},
}

// size returns how many values the field has.
func (f field) size() int { return f.max - f.min + 1 }

// checkText judges everything but whether the schedule ever comes.
func checkText(expr string) error {
	switch {
	case expr == "":
		return errors.New("must not be empty; write " + example)
	case utf8.RuneCountInString(expr) > maxExpression:
		return fmt.Errorf("must have at most %d characters", maxExpression)
	case strings.Contains(strings.ToUpper(expr), "TZ="):
		return errors.New("must not contain a time zone; use `spec.timeZone` instead, " +
			"or in v1alpha1 exactly 'CRON_TZ=Europe/Berlin 0 2 * * *'")
	case strings.TrimSpace(expr) != expr:
		return errors.New("must not begin or end with a blank or a line break")
	case expr[0] == '@':
		return checkDescriptor(expr)
	}
	if err := checkCharacters(expr); err != nil {
		return err
	}
	texts := strings.Fields(expr)
	switch n := len(texts); n {
	case len(fields):
	case 1:
		return errors.New("must have " + example + "; found 1 field")
	case 6:
		return errors.New("must have " + example + "; found 6 fields, and seconds are not supported")
	default:
		return fmt.Errorf("must have %s; found %d fields", example, n)
	}
	for i, text := range texts {
		for item := range strings.SplitSeq(text, ",") {
			if err := fields[i].check(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCharacters(expr string) error {
	for _, r := range expr {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)), strings.ContainsRune(" *,-/?", r):
		case strings.ContainsRune("'\"`´‘’‚“”„«»", r):
			return fmt.Errorf("must not contain a quote (%c); in YAML, quotes go round the whole value", r)
		case r == '#':
			return errors.New("must not contain '#'; neither comments nor the n-th weekday of a month are supported")
		case unicode.IsSpace(r) || !unicode.IsPrint(r):
			return fmt.Errorf("must have plain blanks between its fields and nothing else unprinted; found %U", r)
		default:
			return fmt.Errorf("must not contain '%c'; write %s", r, example)
		}
	}
	return nil
}

func checkDescriptor(expr string) error {
	lower := strings.ToLower(expr)
	_, known := descriptors[lower]
	switch {
	case known && lower == expr:
		return nil
	case known:
		return fmt.Errorf("must be written '%s', in lower case", lower)
	case strings.HasPrefix(lower, "@every"):
		return errors.New("must not use '@every', as backups run by the clock; write '0 */6 * * *' for every six hours, " +
			"'*/30 * * * *' for every half hour")
	case strings.HasPrefix(lower, "@reboot"):
		return errors.New("must not use '@reboot', as backups run by the clock; write '@daily' or " + example)
	}
	return errors.New("must be @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually, or " + example)
}

// check judges one item of the field's list.
func (f field) check(item string) error {
	values, step, stepped := strings.Cut(item, "/")
	low, high, ranged := strings.Cut(values, "-")
	n, isNumber := number(step)
	switch {
	case item == "":
		return fmt.Errorf("must have a value on both sides of each comma in the %s field, as in '1,2'", f.name)
	case stepped && isNumber && (n < 1 || n > f.size()):
		return fmt.Errorf("must have a step of 1 to %d in the %s field; found '%s'", f.size(), f.name, quoted(item))
	case stepped && !isNumber:
		return f.malformed(item)
	case values == "*", values == "?" && strings.HasPrefix(f.name, "day"):
		return nil
	case values == "?":
		return fmt.Errorf("must not use '?' outside the two day fields; write '*' in the %s field", f.name)
	}
	from, err := f.value(low, item)
	if err != nil || !ranged {
		return err
	}
	to, err := f.value(high, item)
	if err == nil && to < from {
		return fmt.Errorf("must not have a range backwards in the %s field; write '%s-%d,%d-%s' instead of '%s'",
			f.name, quoted(low), f.max, f.min, quoted(high), quoted(values))
	}
	return err
}

// value reads a number or a name of the field.
func (f field) value(text, item string) (int, error) {
	upper := strings.ToUpper(text)
	if i := slices.Index(f.names, upper); i >= 0 {
		return f.min + i, nil
	}
	n, ok := number(text)
	switch letter := strings.Trim(upper, "0123456789"); {
	case letter == "L", letter == "W", letter == "LW", letter == "H":
		return 0, fmt.Errorf("must use %s in the %s field; '%s', which some kinds of cron know, is not supported", f.values, f.name, letter)
	case n == 7 && f.max == 6:
		return 0, fmt.Errorf("must use 0 or SUN for Sunday in the day of week field; found '%s'", quoted(item))
	case !ok || n < f.min || n > f.max:
		return 0, f.malformed(item)
	}
	return n, nil
}

func (f field) malformed(item string) error {
	return fmt.Errorf("must use %s in the %s field, alone or as a range '1-5', a list '1,5' or a step '*/5'; found '%s'",
		f.values, f.name, quoted(item))
}

// number reads digits; what is too large for any field comes back as the largest int.
func number(text string) (int, bool) {
	n, _ := strconv.Atoi(text)
	return n, text != "" && strings.Trim(text, "0123456789") == ""
}

func quoted(text string) string {
	if len(text) > maxQuoted {
		return text[:maxQuoted] + "…"
	}
	return text
}

// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	maxExpression = 128 // characters; the bound of the schema too
	maxQuoted     = 32  // bytes of a user's text in a message
	example       = "five fields (minute, hour, day of month, month, day of week) such as '0 2 * * *'"
	oldZone       = "must not contain a time zone; use `spec.timeZone` instead, " +
		"or in v1alpha1 exactly 'CRON_TZ=Europe/Berlin 0 2 * * *'"
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

// field describes one of the five fields.
type field struct {
	name     string
	min, max int
	names    []string // of the values from min on
	values   string   // in words
	day      bool
}

var fields = [5]field{
	{name: "minute", max: 59, values: "0 to 59"},
	{name: "hour", max: 23, values: "0 to 23"},
	{name: "day of month", min: 1, max: 31, values: "1 to 31", day: true},
	{name: "month", min: 1, max: 12, values: "1 to 12 or JAN to DEC", names: []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{name: "day of week", max: 6, values: "0 to 6 or SUN to SAT", day: true,
		names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

// unsupported are letters of other cron dialects, and what they would mean.
var unsupported = map[string]string{
	"L":  "'last' has no form in a five-field schedule",
	"W":  "'nearest working day' has no form in a five-field schedule",
	"LW": "'last working day' has no form in a five-field schedule",
	"H":  "write a fixed value such as '17'",
}

// CheckExpression judges a schedule of v1: nil, or an error that says what must be written, for use
// behind the path and the value. Its text is one line of at most 200 bytes.
func CheckExpression(expr string) error {
	_, err := parse(expr)
	return err
}

// checkText judges everything but whether the schedule ever comes.
func checkText(expr string) error {
	if expr == "" {
		return fmt.Errorf("must not be empty; write %s", example)
	}
	if len(expr) > maxExpression {
		return fmt.Errorf("must have at most %d characters", maxExpression)
	}
	if strings.Contains(strings.ToUpper(expr), "TZ=") {
		return fmt.Errorf(oldZone)
	}
	if trimmed := strings.TrimSpace(expr); trimmed != expr {
		return fmt.Errorf("must not begin or end with a blank or line break; write it without")
	}
	if expr[0] == '@' {
		return checkDescriptor(expr)
	}
	if err := checkCharacters(expr); err != nil {
		return err
	}
	texts := strings.Fields(expr)
	if len(texts) != len(fields) {
		return wrongCount(len(texts))
	}
	for i, text := range texts {
		for item := range strings.SplitSeq(text, ",") {
			if err := fields[i].check(item, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func wrongCount(n int) error {
	found := fmt.Sprintf("%d fields", n)
	switch n {
	case 1:
		found = "1 field"
	case 6:
		found += " (seconds are not supported)"
	}
	return fmt.Errorf("must have %s; found %s", example, found)
}

func checkCharacters(expr string) error {
	for _, r := range expr {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)), strings.ContainsRune(" *,-/?", r):
		case strings.ContainsRune("'\"`´‘’‚“”„«»", r):
			return fmt.Errorf("must not contain a quote (%c); quote the whole value in YAML, nothing inside it", r)
		case r == '#':
			return fmt.Errorf("must not contain '#'; neither comments nor 'the n-th weekday' are supported")
		case unicode.IsSpace(r):
			return fmt.Errorf("must have plain blanks between its fields, no tabs or other spaces; found %U", r)
		case unicode.IsPrint(r):
			return fmt.Errorf("must not contain '%c'; write %s", r, example)
		default:
			return fmt.Errorf("must not contain the character %U; write %s", r, example)
		}
	}
	return nil
}

func checkDescriptor(expr string) error {
	lower := strings.ToLower(expr)
	if _, ok := descriptors[expr]; ok {
		return nil
	}
	if _, ok := descriptors[lower]; ok {
		return fmt.Errorf("must be written '%s', in lower case", lower)
	}
	if every, ok := strings.CutPrefix(lower, "@every"); ok {
		return fmt.Errorf("must not use '@every'; write times of the clock such as '%s'", likeEvery(every))
	}
	if strings.HasPrefix(lower, "@reboot") {
		return fmt.Errorf("must not use '@reboot', a backup runs by the clock; write '@daily' or %s", example)
	}
	return fmt.Errorf("must be %s, or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually", example)
}

// likeEvery returns the schedule nearest to "@every" with a period that divides its field.
func likeEvery(text string) string {
	period, err := time.ParseDuration(strings.TrimSpace(text))
	minutes := int(period / time.Minute)
	switch {
	case err != nil || minutes == 0 || period%time.Minute != 0:
	case minutes == minutesPerDay:
		return "0 0 * * *"
	case minutes == 60:
		return "0 * * * *"
	case minutes > 0 && minutes < 60 && 60%minutes == 0:
		return fmt.Sprintf("*/%d * * * *", minutes)
	case minutes > 60 && minutesPerDay%minutes == 0 && minutes%60 == 0:
		return fmt.Sprintf("0 */%d * * *", minutes/60)
	}
	return "0 */6 * * *"
}

// check judges one item of the list that text, the whole field, is.
func (f field) check(item, text string) error {
	if item == "" {
		return fmt.Errorf("must not have an empty item in the %s field; write a list as '1,2'; found '%s'", f.name, quoted(text))
	}
	if letter := letters(item); unsupported[letter] != "" {
		return fmt.Errorf("must not use '%s' in the %s field; %s", letter, f.name, unsupported[letter])
	}
	values, step, stepped := strings.Cut(item, "/")
	if stepped {
		size := f.max - f.min + 1
		if n, ok := number(step); !ok {
			return f.malformed(item)
		} else if n < 1 || n > size {
			return fmt.Errorf("must have a step of 1 to %d in the %s field; found '%s'", size, f.name, quoted(item))
		}
	}
	switch {
	case values == "*" || values == "?" && f.day:
		return nil
	case values == "?":
		return fmt.Errorf("must not use '?' outside the two day fields; write '*' in the %s field", f.name)
	}
	low, high, ranged := strings.Cut(values, "-")
	from, err := f.value(low, item)
	if err != nil || !ranged {
		return err
	}
	to, err := f.value(high, item)
	if err == nil && to < from {
		return fmt.Errorf("must not have a range backwards in the %s field; write '%s,%s' instead of '%s-%s'",
			f.name, f.span(low, from, f.max), f.span(f.text(f.min), f.min, to), quoted(low), quoted(high))
	}
	return err
}

// value reads a number or a name of the field.
func (f field) value(text, item string) (int, error) {
	if i := slices.Index(f.names, strings.ToUpper(text)); i >= 0 {
		return f.min + i, nil
	}
	n, ok := number(text)
	switch {
	case !ok && letters(text) != text || text == "":
		return 0, f.malformed(item)
	case ok && n == 7 && f.max == 6:
		return 0, fmt.Errorf("must use 0 or SUN for Sunday in the day of week field; found '%s'", quoted(item))
	case !ok || n < f.min || n > f.max:
		return 0, fmt.Errorf("must use %s in the %s field; found '%s'", f.values, f.name, quoted(item))
	}
	return n, nil
}

func (f field) malformed(item string) error {
	return fmt.Errorf("must use a value, '*', a range '1-5', a step '*/2' or a list '1,3' of them in the %s field; found '%s'",
		f.name, quoted(item))
}

// span writes the range that begins with the text of from.
func (f field) span(text string, from, to int) string {
	if from == to {
		return quoted(text)
	}
	return quoted(text) + "-" + f.text(to)
}

func (f field) text(value int) string {
	if f.names != nil {
		return f.names[value-f.min]
	}
	return strconv.Itoa(value)
}

// number reads digits; one too large for any field comes back as the largest int.
func number(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.Atoi(text)
	return n, true
}

// letters returns the first letters of a text that stand together.
func letters(text string) string {
	start := strings.IndexFunc(text, unicode.IsLetter)
	if start < 0 {
		return ""
	}
	rest := text[start:]
	if end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		rest = rest[:end]
	}
	return strings.ToUpper(rest)
}

func quoted(text string) string {
	if len(text) > maxQuoted {
		return text[:maxQuoted] + "…"
	}
	return text
}

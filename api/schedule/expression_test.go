// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
)

func TestExpressionsAreRefusedWithTheFix(t *testing.T) {
	cases := map[string]string{
		"0 2 * *  * * *":                       "found 7 fields",
		"0 0 * * 1-7":                          "0 or SUN",
		"0 0 * * 5-3":                          "'5-6,0-3'",
		"0 0 * * FRI-MON":                      "'FRI-6,0-MON'",
		"0 0 * nov-feb *":                      "'nov-12,1-feb'",
		"0 0 * * XYZ":                          "0 to 6 or SUN to SAT in the day of week field",
		"0 MON * * *":                          "0 to 23 in the hour field",
		"0 99999999999999999999 * * *":         "0 to 23",
		"-5 * * * *":                           "0 to 59",
		"5- * * * *":                           "0 to 59",
		"1-2-3 * * * *":                        "0 to 59",
		"*-5 * * * *":                          "0 to 59",
		"*5 * * * *":                           "0 to 59",
		"1/2/3 * * * *":                        "0 to 59",
		"*/ * * * *":                           "0 to 59",
		"*/x * * * *":                          "0 to 59",
		"+5 * * * *":                           "'+'",
		"5,?,6 * * * *":                        "write '*' in the minute field",
		"? * * * *":                            "write '*' in the minute field",
		"* ?/2 * * *":                          "write '*' in the hour field",
		"*/61 * * * *":                         "step of 1 to 60",
		"0 */25 * * *":                         "step of 1 to 24",
		"0 0 */32 * *":                         "step of 1 to 31",
		"0 0 * */13 *":                         "step of 1 to 12",
		"0 0 * * */8":                          "step of 1 to 7",
		"*/99999999999999999999 * * * *":       "step of 1 to 60",
		"0 0 15W * *":                          "'W'",
		"0 0 LW * *":                           "'LW'",
		"0 0 * * 5L":                           "'L'",
		"h/15 * * * *":                         "'H'",
		"H(0-29) * * * *":                      "'('",
		"0\t2 * * *":                           "U+0009",
		"0 2\n* * *":                           "U+000A",
		"0 2 *\u200b * *":                      "U+200B",
		"0 2 * * \xff*":                        "five fields",
		"0 2 * * ٣":                            "'٣'",
		"`0 2 * * *`":                          "quote",
		"\"0 2 * * *\"":                        "quote",
		"0 2 * * *%":                           "'%'",
		"@Midnight":                            "'@midnight'",
		"@fortnightly":                         "@weekly",
		"@":                                    "@daily",
		"@daily # nightly":                     "@daily",
		"@every 24h":                           "'0 */6 * * *'",
		"@every 30m":                           "'0 */6 * * *'",
		"@every 7h":                            "'0 */6 * * *'",
		"@every 1h0m0.1s":                      "'0 */6 * * *'",
		"@every":                               "'0 */6 * * *'",
		"@every -1h":                           "'0 */6 * * *'",
		"tz=UTC 0 2 * * *":                     "timeZone",
		" CRON_TZ=UTC 0 2 * * *":               "timeZone",
		"0 2 * * * TZ=UTC":                     "timeZone",
		"0 0 31 FEB,APR ?":                     "suspend",
		strings.Repeat("1,", 64) + "1 * * * *": "128 characters",
	}
	for expr, says := range cases {
		err := CheckExpression(expr)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, want %s", expr, err, says)
			continue
		}
		checkMessage(t, expr, err.Error())
	}
}

// checkMessage holds every text for a user to the rules of the house.
func checkMessage(t *testing.T, about, text string) {
	t.Helper()
	switch {
	case len(text) > maxMessage:
		t.Errorf("%q: message of %d bytes: %s", about, len(text), text)
	case strings.ContainsAny(text, "\n\r\t"):
		t.Errorf("%q: message of more than a line: %q", about, text)
	case strings.ToValidUTF8(text, "") != text:
		t.Errorf("%q: message is cut inside a character: %q", about, text)
	case strings.HasSuffix(text, "."):
		t.Errorf("%q: message ends with a stop: %s", about, text)
	}
}

func TestExpressionsOfEveryFormAreAccepted(t *testing.T) {
	for _, expr := range []string{
		"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually",
		"00 02 * * *", "0  2 * * *", "0 2 ? * ?", "0 2 * jan-Mar MON,wed", "5/20 2 * * *", "0-59/15 * * * *",
		"*/60 * * * *", "0 */24 * * *", "0 0 */31 * *", "0 0 1 */12 *", "0 0 * * */7", "0 0 1,? * *",
		"0 0 31 2,3 *", "0 0 30 2 MON", "1,2,3,4-5,6-7/1,*/30 * * * *", "0 2 * * 0-6",
	} {
		if err := CheckExpression(expr); err != nil {
			t.Errorf("%q: %v", expr, err)
		}
	}
}

func TestParseSaysWhichPartIsWrong(t *testing.T) {
	for want, parts := range map[string][2]string{
		"schedule must have five fields":                  {"0 2 * *", ""},
		"time zone must be an IANA time zone name, spelt": {"0 2 * * *", "Europe/Rom"},
	} {
		if _, err := Parse(parts[0], parts[1]); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q, %q): %v, want %s …", parts[0], parts[1], err, want)
		}
	}
}

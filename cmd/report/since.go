// Package report has the commands report and cost: what the work achieved and what it cost. Both
// read only the state database, not GitHub.
package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
)

// longest limits --since, in days: a century.
const longest = 36500

// since parses --since: whole days in UTC, the last of which is today. The zero time means the
// beginning.
func since(text string, now time.Time) (time.Time, error) {
	if text == "all" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if t.After(now) {
			return t, &cli.UsageError{Err: fmt.Errorf("--since %s: that day has not begun in UTC", text)}
		}
		return t, nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		n, err := strconv.Atoi(strings.TrimSuffix(text, unit))
		if err == nil && strings.HasSuffix(text, unit) && n > 0 && n <= longest/days {
			return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n*days), nil
		}
	}
	return time.Time{}, &cli.UsageError{Err: fmt.Errorf("--since takes days (30d), weeks (4w), a day (2026-01-31) or all, not %q", text)}
}

// sinceSays is since in words.
func sinceSays(at time.Time) string {
	if at.IsZero() {
		return "since the beginning"
	}
	return "since " + at.Format(time.DateOnly) + " (UTC)"
}

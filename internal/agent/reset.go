package agent

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ResetIn returns when a limit ends according to the provider's message, such as "try again in 1m20s"
// or "resets at 2026-11-27T09:00:00Z"; zero if it does not say.
func (s Spec) ResetIn(words string) time.Time {
	if at := cue().FindStringIndex(words); at != nil {
		if d := spanOf(words[at[1]:]); d > 0 {
			return s.After(d)
		}
	}
	if found := stamped().FindStringSubmatch(words); found != nil {
		for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
			if at, err := time.Parse(form, found[1]); err == nil {
				return at
			}
		}
	}
	if found := seconds().FindStringSubmatch(words); found != nil {
		n, _ := strconv.ParseInt(found[1], 10, 64) // ten digits
		return time.Unix(n, 0)
	}
	return time.Time{}
}

var (
	cue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:again|retry(?:ing)?|retry-after|resets?|wait)(?:\s+(?:in|after|for)|:)\s+`)
	})
	span = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\s,]*(?:and\s+)?(\d{1,9}(?:\.\d{1,9})?)\s*([A-Za-z]+)`)
	})
	stamped = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:again|reset|until|retry)[^0-9]{1,20}(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)`)
	})
	seconds = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:reset|reached)[^0-9]{1,12}(\d{10})\b`) })
)

// units are the units of time that providers write, without the plural's s.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour,
}

// maxSpan bounds how long a limit may last; a longer one is a mistake.
const maxSpan = 366 * 24 * time.Hour

// spanOf reads a duration such as "1m20s", "20 seconds" or "3 hours and 5 minutes" at the beginning of
// a text; 0: there is none.
func spanOf(text string) (sum time.Duration) {
	for {
		found := span().FindStringSubmatch(text)
		if found == nil {
			return sum
		}
		n, err := strconv.ParseFloat(found[1], 64)
		name := strings.ToLower(found[2])
		unit := cmp.Or(units[name], units[strings.TrimSuffix(name, "s")])
		if err != nil || unit == 0 || n*float64(unit) > float64(maxSpan) {
			return sum
		}
		sum, text = sum+time.Duration(n*float64(unit)), text[len(found[0]):]
	}
}

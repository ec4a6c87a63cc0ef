package terminal

import (
	"regexp"
	"sync"
	"time"
)

// stamps matches the times in our texts, see work.Stamp, and those in comments on GitHub.
var stamps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ|[ ]\d\d:\d\d(?::\d\d)? UTC)`)
})

var stampForms = []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST"}

// LocalTimes converts the times in a text of ours to local time, with the zone, on a terminal.
// Programs get UTC.
func (o Output) LocalTimes(s string) string {
	if !o.TTY {
		return s
	}
	return stamps().ReplaceAllStringFunc(s, func(stamp string) string {
		for _, form := range stampForms {
			if t, err := time.Parse(form, stamp); err == nil {
				return t.Local().Format("2006-01-02 15:04 MST")
			}
		}
		return stamp
	})
}

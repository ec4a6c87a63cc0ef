package terminal

import (
	"regexp"
	"sync"
	"time"
)

// stamps are the times in our sentences, see work.Stamp, and those in comments on
// GitHub.
var stamps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ|[ ]\d\d:\d\d(?::\d\d)? UTC)`)
})

var stampForms = []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST"}

// LocalTimes turns the times in a sentence of ours into the reader's own, with their
// zone, on a terminal. Programs read them as they are: UTC.
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

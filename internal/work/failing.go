package work

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Failure is what failed, as data: two passes that fail in the same way have the same one.
type Failure struct {
	Kind  string `json:"kind"`
	Place string `json:"place"` // host, host/owner or host/owner/name; empty: the pass as a whole
	Gist  string `json:"gist"`  // of its text, where kind and place do not tell failures apart; else empty
}

// Gist is equal for texts that differ in times and counts only. It is a hash, because the text of an
// error may have a secret.
func Gist(text string) string { return ContentHash(WithoutDigits(text)) }

// WithoutDigits removes digits, so that changing times and counts leave a text equal.
func WithoutDigits(s string) string {
	return string(slices.DeleteFunc([]rune(s), func(r rune) bool { return strings.ContainsRune("0123456789", r) }))
}

// over reports whether a pass that read these repositories without it shows that it is over.
func (f Failure) over(read []string) bool {
	return f.Place == "" || slices.ContainsFunc(read, func(repo string) bool {
		return repo == f.Place || strings.HasPrefix(repo, f.Place+"/")
	})
}

// Failing is a failure that passes meet again and again.
type Failing struct {
	Failure
	Since time.Time `json:"since"` // when a pass met it first
	Last  time.Time `json:"last"`  // when one met it last
	Told  time.Time `json:"told"`  // when one printed it last
	Count int       `json:"count"` // how many passes met it
}

const (
	failureTold      = time.Hour      // how often a failure that lasts is printed
	failureForgotten = 24 * time.Hour // how long no pass meets a failure until it is a new one
)

// Failings are the failures that passes without a terminal have met, and that are not over.
type Failings []Failing

// Tell returns whether a pass prints a failure that it meets, and what it adds to the line. Cron mails
// what a pass prints.
func (all Failings) Tell(f Failure, now time.Time) (more string, tell bool) {
	i := slices.IndexFunc(all, func(x Failing) bool { return x.Failure == f })
	if i < 0 || now.Sub(all[i].Last) >= failureForgotten {
		return "", true
	}
	if since := now.Sub(all[i].Told); since >= 0 && since < failureTold {
		return "", false
	}
	return fmt.Sprintf(" (failed %d times since %s)", all[i].Count+1, UTC(all[i].Since)), true
}

// Met returns the failures after a pass met some.
func (all Failings) Met(met []Failure, now time.Time) Failings {
	after := slices.DeleteFunc(slices.Clone(all), func(x Failing) bool { return now.Sub(x.Last) >= failureForgotten })
	for _, f := range met {
		i := slices.IndexFunc(after, func(x Failing) bool { return x.Failure == f })
		if i < 0 {
			i, after = len(after), append(after, Failing{Failure: f, Since: now})
		}
		if _, tell := after.Tell(f, now); tell {
			after[i].Told = now
		}
		after[i].Last = now
		after[i].Count++
	}
	return after
}

// Over returns the failures after a pass that met some read some repositories.
func (all Failings) Over(met []Failure, read []string) Failings {
	return slices.DeleteFunc(slices.Clone(all), func(x Failing) bool { return !slices.Contains(met, x.Failure) && x.over(read) })
}

//go:build unix

package bench

import (
	"testing"
	"time"
)

// burst is that people write much at once.
type burst struct {
	pulls    int // in the world
	on       int // of them
	comments int // in all
	cpu      time.Duration
}

// measure looks at the pass that reads a burst, and at the one after it, in which there is
// nothing new. No turn begins: the quiet period of the comments lasts. The pass after it asks again
// for each page of the burst, which is younger than the overlap: GitHub answers 304.
func (b burst) measure(t *testing.T, l *lab) []figure {
	w := newWorldOf(t, l.program(), shape{repos: 1, pulls: b.pulls, comments: 2})
	w.quietPeriod = "1h"
	w.writeConfig(t, listening)
	w.untilQuiet(t)
	asked := total(w.countPass(t))
	before := l.pass(t, w)
	gh := l.yardstick(t, w)

	progress("%d comments are written", b.comments)
	w.atOnce(func() { must(t, w.repo.SeedComments(reviewer, w.numbers()[:b.on], b.comments)) })
	w.hub.ResetLog()
	during := l.pass(t, w)
	askedDuring := len(w.hub.Requests())
	events := w.count(t, `SELECT COUNT(*) FROM events WHERE processed_at = 0`)
	w.hub.ResetLog()
	after := l.pass(t, w)
	reads, writes := 0, 0
	for _, r := range w.hub.Requests() {
		if r.Write {
			writes++
		} else {
			reads++
		}
	}
	progress("%d events wait; the pass after it read %d and wrote %d times", events, reads, writes)
	return []figure{
		seconds("CPU", during.CPU).atMost(b.cpu.Seconds()),
		ratio("CPU / gh api user", during.CPU, gh).keep(),
		megabytes("peak memory", during.Peak).atMost(60),
		count("requests", askedDuring),
		count("reads of the pass after it", reads).atMost(float64(asked + b.comments/100 + 8)),
		count("writes of the pass after it", writes),
		milliseconds("CPU of the pass before", before.CPU),
		milliseconds("CPU of the pass after it", after.CPU),
		ratio("CPU of the pass after it / gh api user", after.CPU, gh).keep(),
		ratio("CPU of the pass after it : of the pass before", after.CPU, before.CPU).keep(),
	}
}

// total is how many requests were counted.
func total(c counts) int { return c.rest + c.sweeps + c.rotations + c.boxes + c.other }

// numbers are those of the pull requests of the first repository.
func (w *world) numbers() []int {
	var out []int
	for _, p := range w.repo.Pulls() {
		out = append(out, p.Number)
	}
	return out
}

//go:build unix

// Package bench measures what an idle pass costs: requests,
// points, wall time and memory with many open tracked pull requests in which
// nothing is new. It holds tests only.
//
// TestIdlePass counts for small numbers and always runs. TestMeasure also
// measures, of a checkout that script/bench builds, and prints a table. Counts
// are asserted; times are never, because a machine may be busy.
package bench

import (
	"fmt"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github"
)

func TestIdlePass(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, pulls := range []int{10, 60} {
		t.Run(fmt.Sprint(pulls), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, self(t), pulls)
			w.checkIdle(t)
			w.checkRotation(t)
		})
	}
}

// objectsOfAPull is what an idle pass allocates for each open pull request at most: its light
// row, which is read, and its place in what is asked about it. A whole row takes some 30 more.
const objectsOfAPull = 20

// TestIdlePassReadsLittleOfEachPull: of a pull request that is as it was an idle pass reads
// what it asks GitHub by, and not all that is stored.
func TestIdlePassReadsLittleOfEachPull(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	objects := map[int]int{}
	for _, pulls := range []int{50, 150} {
		w := newWorldOf(t, self(t), shape{repos: 1, pulls: pulls, comments: 1})
		objects[pulls], _ = w.countObjects(t)
	}
	each := (objects[150] - objects[50]) / 100
	t.Logf("%d objects with 50, %d with 150: %d for each further one", objects[50], objects[150], each)
	if each > objectsOfAPull {
		t.Errorf("%d objects for each further pull request, want at most %d", each, objectsOfAPull)
	}
}

// TestIdlePassWithReviews: where reviewers have done their part, and people are waited
// for, an idle pass asks and writes no more than without reviewers.
func TestIdlePassWithReviews(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, m := range []mode{reviewing, asking} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			w := newReviewedWorld(t, self(t), 10, m)
			w.checkIdle(t)
			w.checkRotation(t)
			w.checkIdle(t)
		})
	}
}

// TestIdlePassWithMerging: of what is approved and waits for a person's word the merge boxes
// are read in every pass, by one query for 20 of them that costs a point, and what the base
// demands by two requests to which nothing changed; nothing is written.
func TestIdlePassWithMerging(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	w := newReviewedWorld(t, self(t), 20, merging)
	w.checkIdleAnd(t, counts{rest: 2, notModified: 2, points: 1, boxes: 1})
	w.checkIdleAnd(t, counts{rest: 2, notModified: 2, points: 1, boxes: 1})
}

// checkIdle makes an idle pass and checks what it asks and writes.
func (w *world) checkIdle(t *testing.T) counts {
	t.Helper()
	return w.checkIdleAnd(t, counts{})
}

// checkIdleAnd is the same of a pass that asks more.
func (w *world) checkIdleAnd(t *testing.T, more counts) counts {
	t.Helper()
	before := w.written(t)
	c := w.countPass(t)
	sweeps := (w.pulls + github.MaxSweep - 1) / github.MaxSweep
	if want := (counts{rest: 3 + more.rest, notModified: 3 + more.notModified, sweeps: sweeps, points: sweeps + more.points, boxes: more.boxes}); c != want {
		t.Errorf("an idle pass over %d pull requests asked %+v, not %+v", w.pulls, c, want)
		for _, r := range w.hub.Requests() {
			t.Logf("%s %s?%s %d %.200s", r.Method, r.Path, r.Query, r.Status, r.Body)
		}
	}
	after := w.written(t)
	if after.tables != before.tables {
		t.Errorf("an idle pass changed the database:\n%s", firstDifference(before.tables, after.tables))
	}
	if len(after.heartbeats) != 1 || after.heartbeats[0] == before.heartbeats[0] {
		t.Errorf("the heartbeats were %s and are %s", before.heartbeats, after.heartbeats)
	}
	if n := after.lines - before.lines; n != 1 {
		t.Errorf("an idle pass logged %d lines", n)
	}
	if got, want := fmt.Sprint(after.files), fmt.Sprint(before.files); got != want {
		t.Errorf("an idle pass left the files %s, there were %s", got, want)
	}
	return c
}

// checkRotation lets the details grow old: one batch of them is read, beside
// what an idle pass asks.
func (w *world) checkRotation(t *testing.T) counts {
	t.Helper()
	w.ageDetails(t)
	c := w.countPass(t)
	if c.rest != 3 || c.notModified != 3 || c.rotations != 1 || c.other != 0 {
		t.Errorf("a pass with rotation asked %+v", c)
	}
	return c
}

// countPass makes a pass and counts what it asks.
func (w *world) countPass(t *testing.T) counts {
	t.Helper()
	return w.countOf(t, func() { w.tick(t) })
}

// countOf is what something that makes a pass asks.
func (w *world) countOf(t *testing.T, pass func()) counts {
	t.Helper()
	w.hub.ResetLog()
	before := w.counts().points
	pass()
	c := w.counts()
	c.points -= before
	return c
}

func firstDifference(a, b string) string {
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	at := func(s string) string { return s[max(0, from-200):min(len(s), from+200)] }
	return "before: …" + at(a) + "…\nafter:  …" + at(b) + "…"
}

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
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

func TestIdlePass(t *testing.T) {
	testhome.OnlyLong(t)
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
// row, which is read, and the answer to the light query. A whole row takes some 30 more.
const objectsOfAPull = 40

// TestIdlePassReadsLittleOfEachPull: of a pull request that is as it was an idle pass reads
// what it asks GitHub by, and not all that is stored.
func TestIdlePassReadsLittleOfEachPull(t *testing.T) {
	testhome.OnlyLong(t)
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
	testhome.OnlyLong(t)
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

// TestIdlePassOverARoadmap: a followed roadmap of a hundred issues that wait for each other costs an
// idle pass no request and no write.
func TestIdlePassOverARoadmap(t *testing.T) {
	testhome.OnlyLong(t)
	w := newWorldOf(t, self(t), shape{repos: 1, pulls: 10, comments: 1})
	w.checkIdle(t)
	w.follow(t, 100)
	w.untilQuiet(t)
	after := func(minutes int) { // later: what has just changed is in the list of every pass
		at := time.Now().Add(time.Duration(minutes) * time.Minute)
		w.still.Store(&at)
	}
	for minutes := 10; minutes < 14; minutes++ {
		after(minutes)
		w.tick(t)
	}
	w.update(t, func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		live, err := tx.ListLiveRoadmaps(ctx)
		if err != nil || len(live) != 1 {
			return fmt.Errorf("%d roadmaps: %w", len(live), err)
		}
		all, err := tx.ListIssuesBelow(ctx, live[0])
		waiting := 0
		for _, i := range all {
			if i.Ref != "" && len(i.Needs) > 0 {
				waiting++
			}
		}
		if waiting != 100 {
			t.Errorf("%d of %d issues below the roadmap wait", waiting, len(all))
		}
		return err
	})
	after(14)
	w.checkIdle(t)
}

// follow adds a roadmap whose issues exist, each blocked by the one before, the first by a person's.
func (w *world) follow(t *testing.T, nodes int) {
	t.Helper()
	open := func(title string, labels ...string) int {
		n, err := w.repo.OpenIssue(operator, title, "Do it.", labels...)
		must(t, err)
		return n
	}
	lead, before := open("The plan"), open("A question")
	var children []roadmap.Child
	for i := range nodes {
		n := open(fmt.Sprint("Part ", i))
		must(t, w.repo.AddSubIssue(lead, operator, strconv.Itoa(n)))
		must(t, w.repo.Block(n, operator, strconv.Itoa(before)))
		must(t, w.repo.Label(n, operator, label))
		children = append(children, roadmap.Child{Node: fmt.Sprint("n", i), Position: i, Title: fmt.Sprint("Part ", i), Flow: work.FlowSmallJob, Step: roadmap.Labelled, Number: n})
		before = n
	}
	w.update(t, func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		id, err := tx.AddItem(ctx, work.Item{RepoID: repo.ID, Number: lead, Flow: work.FlowRoadmap, State: work.StateMerged, Title: "The plan", Body: "Do it.", Author: work.Account{Login: operator}, Label: "agent:roadmap", LabelEvent: "1"})
		if err != nil {
			return err
		}
		for i := range children {
			children[i].ItemID = id
		}
		return tx.AddRoadmap(ctx, roadmap.Record{ItemID: id, RepoID: repo.ID, State: roadmap.Followed, Revision: 1, Look: 1, LookAt: w.now()}, children)
	})
}

// TestIdlePassWithMerging: of what is approved and waits for a person's word the merge boxes
// are read in every pass, by one query for 20 of them that costs a point, and what the base
// demands by two requests to which nothing changed; nothing is written.
func TestIdlePassWithMerging(t *testing.T) {
	testhome.OnlyLong(t)
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

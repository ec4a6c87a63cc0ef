package ingest

import (
	"context"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A list that takes longer than a pass is read on by the next passes: unchanged pages are asked for again
// until they are older than the overlap, and nothing is left out.
func TestAListThatTakesLongerThanAPass(t *testing.T) {
	const written = 30
	m := newMachine(t, news{seed: 1, pulls: written, seconds: 1}, 2)
	m.pass(fate{})
	for i := range written {
		m.hub.now = noon.Add(time.Duration(i-written) * time.Second)
		m.said(int64(5000+i), 2000+i)
	}
	m.hub.now = noon
	for passes := 1; !m.pass(fate{latency: time.Second}); passes++ {
		m.hub.now = m.hub.now.Add(time.Minute)
		if passes > 60 {
			t.Fatalf("not done:\n%s", m.progress())
		}
	}
	for i := range written {
		if !m.knows(int64(5000+i), 2000+i) {
			t.Errorf("the comment on #%d is not known", 2000+i)
		}
	}
}

// Whether a pause lasts is known after all comments: the one that ends it may be on a later page
// than diff comments made after it, which are in another list. Those count, though they are read
// before.
func TestAPauseIsJudgedWithTheLastComment(t *testing.T) {
	for _, page := range []int{100, 2} {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, page)
		m.pass(fate{}) // reads the conversation, once
		d := m.hub.pulls[2000]
		m.hub.timelines[2000] = append(m.hub.timelines[2000][:1], github.TimelineEvent{ID: 900, Event: "labeled", Label: "agent:ignore", Actor: ann, CreatedAt: noon.Add(-50 * time.Minute)})
		d.Labels, d.LabelChanges = []string{"agent:bugfix", "agent:ignore"}, 2
		d.UpdatedAt = noon
		m.hub.pulls[2000] = d
		at := func(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }
		m.say(1, "In the pause.", at(40))
		m.say(2, "In it as well.", at(39))
		m.say(3, "/mergexo resume", at(35))
		after := github.ReviewComment{ID: 4, Pull: 2000, Author: ann, CreatedAt: at(30), UpdatedAt: at(30), Path: "a.go", Line: 1, Body: "After it."}
		m.hub.add("reviews", after.UpdatedAt, after)
		for range 5 {
			if m.pass(fate{}) {
				break
			}
		}
		got := m.outcomes()
		if got["1"] != work.OutcomePaused || got["2"] != work.OutcomePaused || got["4"] != "" || len(got) != 4 {
			t.Errorf("by pages of %d: %v", page, got)
		}
	}
}

// If one second has more comments than a page, the last page stays unchanged when one comment is
// deleted and a late one takes its place. The late one is still found, because each pass
// asks for all pages of that second.
func TestALateCommentOfAFullSecond(t *testing.T) {
	m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 2)
	m.pass(fate{})
	for id := range int64(5) {
		m.say(10+id, "Rename it.", noon.Add(-2*time.Second))
	}
	m.pass(fate{})
	list := m.hub.lists["comments"]
	late := list[0].what.(github.Comment)
	late.ID = 99
	m.hub.lists["comments"] = append([]entry{list[1], {list[0].at, late}}, list[2:]...)
	m.pass(fate{})
	if _, known := m.outcomes()["99"]; !known {
		t.Errorf("it is not known:\n%s", m.progress())
	}
}

// say adds a comment by somebody on the first pull request.
func (m *machine) say(id int64, body string, at time.Time) {
	c := github.Comment{ID: id, Number: 2000, Author: ann, CreatedAt: at, UpdatedAt: at, Body: body}
	m.hub.comments = append(m.hub.comments, c)
	m.hub.add("comments", c.UpdatedAt, c)
	m.hub.sort()
}

// outcomes returns the outcomes of the comments on the first pull request, by their ids.
func (m *machine) outcomes() map[string]string {
	all := map[string]string{}
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		events, err := tx.ListEvents(ctx, repo.ID, 2000)
		for _, e := range events {
			if e.Kind.Written() {
				all[e.Source] = e.Outcome
			}
		}
		return err
	})
	return all
}

// Pages of one second differ by number only. An unchanged one proves nothing about those before it:
// there one comment may be deleted and a late one have appeared, and a walk may be cut there.
func TestALateCommentBeforeAPageThatIsAsItWas(t *testing.T) {
	testhome.NotShort(t)
	for ends := range 20 {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 2)
		p := &people{machine: m, id: 50_000}
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Minute)
		for range 8 {
			p.write(m.hub.now, 0)
		}
		late := &p.said[2]
		late.shown = m.hub.now.Add(time.Minute)
		number, id := late.Number, late.ID
		p.show()
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(overlap + time.Minute)
		p.said = append(p.said[:3:3], p.said[4:]...) // the one after it is deleted
		p.show()
		m.pass(fate{ends: 1 + ends})
		for range 3 {
			m.hub.now = m.hub.now.Add(overlap)
			m.pass(fate{})
		}
		if !m.knows(id, number) {
			t.Errorf("after a pass of %d requests it is not known:\n%s", 1+ends, m.progress())
		}
	}
}

// An edited comment moves to the end of its list, and one written after a deletion takes the free
// place. If a second fills its pages, that place is on the last of them, and the empty page after
// it stays unchanged. Once they are old, no pass reads them again.
func TestNewsOnTheLastPageOfAFullSecond(t *testing.T) {
	const full = 100
	for pages := 1; pages <= 2; pages++ {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, full)
		m.pass(fate{})
		for id := range int64(full * pages) {
			m.say(1000+id, "Rename it.", noon.Add(-2*time.Second))
		}
		for range 4 {
			m.pass(fate{})
			m.hub.now = m.hub.now.Add(time.Minute)
		}
		reads := func() int {
			m.hub.walked["comments"] = nil
			m.pass(fate{})
			return len(m.hub.walked["comments"])
		}
		if n := reads(); n != 1+pages+1 {
			t.Errorf("of the page before them, %d pages and an empty one an idle pass reads %d", pages, n)
		}
		list := m.hub.lists["comments"]
		m.hub.lists["comments"] = append(list[:3:3], list[4:]...)
		m.say(5000, "Rename both.", m.hub.now.Add(-time.Second))
		m.pass(fate{})
		if _, known := m.outcomes()["5000"]; !known {
			t.Errorf("of %d pages: it is not known", pages)
		}
		m.hub.now = m.hub.now.Add(overlap + 10*time.Second)
		m.pass(fate{})
		if n := reads(); n != 1 {
			t.Errorf("of %d pages that are older than what a list may still lack, an idle pass reads %d", pages, n)
		}
	}
}

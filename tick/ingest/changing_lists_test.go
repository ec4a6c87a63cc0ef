package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// TestChangingLists: people keep writing, editing and deleting, lists lag by up to the overlap, and
// passes in between have little time or die. Everything that the lists show is known after each pass that came to the end, and
// late items at the latest after the overlap.
func TestChangingLists(t *testing.T) {
	checks(t, 60)
	sameEachTime(t)
	rapid.Check(t, func(rt *rapid.T) {
		page := rapid.SampledFrom([]int{2, 3, 5, 10, 100}).Draw(rt, "page")
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, page)
		p := &people{machine: m, draw: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2)), id: 50_000}
		p.untilDone(rt)
		for range rapid.IntRange(1, 7).Draw(rt, "rounds") {
			written := rapid.IntRange(0, 25).Draw(rt, "comments")
			if page == 100 {
				written = rapid.SampledFrom([]int{0, 1, 99, 100, 101, 199, 200}).Draw(rt, "many")
			}
			spread := rapid.SampledFrom([]int{1, 20, 120}).Draw(rt, "spread")
			m.hub.now = m.hub.now.Add(time.Duration(spread+rapid.IntRange(0, 150).Draw(rt, "later")) * time.Second)
			lag := rapid.SampledFrom([]int{0, 0, 20, 300}).Draw(rt, "lag")
			for range written {
				p.write(m.hub.now.Add(-time.Duration(p.draw.IntN(spread))*time.Second), lag)
			}
			p.edit(rapid.IntRange(0, 3).Draw(rt, "edited"))
			p.remove(rapid.IntRange(0, 3).Draw(rt, "deleted"))
			p.show()
			p.untilDone(rt)
			p.check(rt, func(c comment) bool { return c.shown.Equal(c.UpdatedAt) })
		}
		m.hub.now = m.hub.now.Add(overlap)
		p.show()
		p.untilDone(rt)
		m.hub.now = m.hub.now.Add(overlap)
		p.untilDone(rt)
		p.untilDone(rt)
		p.check(rt, func(comment) bool { return true })
	})
}

// people add, edit and delete comments.
type people struct {
	*machine
	draw *rand.Rand
	id   int64
	said []comment
}

// comment is a comment that the list shows from some moment on.
type comment struct {
	github.Comment
	shown time.Time
}

func (p *people) write(at time.Time, lag int) {
	p.id++
	at = at.Truncate(time.Second)
	c := comment{github.Comment{ID: p.id, Number: 2000, Author: ann, CreatedAt: at, UpdatedAt: at, Body: fmt.Sprint("Rename it. ", p.id)}, at}
	if lag > 0 && p.draw.IntN(3) == 0 {
		c.shown = at.Add(time.Duration(1+p.draw.IntN(lag)) * time.Second)
	}
	p.said = append(p.said, c)
}

func (p *people) edit(n int) {
	for range min(n, len(p.said)) {
		c := &p.said[p.draw.IntN(len(p.said))]
		if !c.shown.After(p.hub.now) {
			c.Body += " Please."
			c.UpdatedAt = p.hub.now.Truncate(time.Second)
			c.shown = c.UpdatedAt
		}
	}
}

func (p *people) remove(n int) {
	for range min(n, len(p.said)) {
		i := p.draw.IntN(len(p.said))
		p.said = slices.Delete(p.said, i, i+1)
	}
}

// show updates the list to what it shows now.
func (p *people) show() {
	p.hub.lists["comments"], p.hub.comments = nil, nil
	for _, c := range p.said {
		if !c.shown.After(p.hub.now) {
			p.hub.comments = append(p.hub.comments, c.Comment)
			p.hub.add("comments", c.UpdatedAt, c.Comment)
		}
	}
	p.hub.sort()
}

// check looks for comments among the stored ones.
func (p *people) check(t rapid.TB, due func(comment) bool) {
	t.Helper()
	known := map[string]bool{}
	p.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		events, err := tx.ListEvents(ctx, repo.ID, 2000)
		for _, e := range events {
			known[e.Source+" "+e.Body] = true
		}
		return err
	})
	for _, c := range p.said {
		if due(c) && !known[fmt.Sprint(c.ID, " ", c.Body)] {
			t.Fatalf("at %s comment %d of %s, listed since %s, is not known:\n%s", p.hub.now, c.ID, c.UpdatedAt, c.shown, p.progress())
		}
	}
}

// untilDone runs passes until one reads all. Some have little time or die, and some are late.
func (p *people) untilDone(rt *rapid.T) {
	for range 500 {
		f := fate{latency: time.Duration(rapid.IntRange(0, 1500).Draw(rt, "latency")) * time.Millisecond}
		if rapid.IntRange(0, 5).Draw(rt, "death") == 0 {
			f.ends = rapid.IntRange(1, 20).Draw(rt, "ends")
		}
		if p.pass(f) {
			return
		}
		p.hub.now = p.hub.now.Add(time.Duration(rapid.SampledFrom([]int{0, 10, 60, 310}).Draw(rt, "late")) * time.Second)
		p.show()
	}
	rt.Fatalf("not done:\n%s", p.progress())
}

// A walk that begins where an earlier one was cut moves no cursor: what the earlier one passed may
// have been younger than the overlap then, and the list may show something there only later.
func TestAWalkThatWasCutComesBack(t *testing.T) {
	testhome.NotShort(t)
	for requests := 1; requests <= 20; requests++ {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 2)
		p := &people{machine: m, draw: rand.New(rand.NewPCG(1, 2)), id: 50_000}
		for !p.pass(fate{}) {
			m.hub.now = m.hub.now.Add(time.Minute)
		}
		m.hub.now = m.hub.now.Add(time.Hour)
		begun := m.hub.now
		for n := range 12 {
			p.write(begun.Add(-4*time.Minute+time.Duration(n)*10*time.Second), 0)
		}
		p.write(begun.Add(-4*time.Minute+5*time.Second), 0)
		late := &p.said[len(p.said)-1]
		late.shown = late.UpdatedAt.Add(overlap)
		p.show()
		p.pass(fate{ends: requests})
		m.hub.now = begun.Add(2 * overlap)
		p.show()
		for range 3 {
			for !p.pass(fate{}) {
				m.hub.now = m.hub.now.Add(time.Second)
			}
			m.hub.now = m.hub.now.Add(time.Minute)
		}
		p.check(t, func(comment) bool { return true })
	}
}

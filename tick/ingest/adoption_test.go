package ingest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
)

// TestAdoption: the database is lost. With anything on GitHub, any speed of GitHub, any time or
// request limit, any refusal and an end or a death anywhere, each pass gets further or is done. In
// the end the same is stored as by one pass with unlimited time. No pass can write to this GitHub.
func TestAdoption(t *testing.T) {
	checks(t, 20)
	rapid.Check(t, func(rt *rapid.T) {
		of := func(name string, sizes ...int) int { return rapid.SampledFrom(sizes).Draw(rt, name) }
		l := lost{
			seed:   rapid.Uint64().Draw(rt, "seed"),
			issues: of("issues", 0, 1, 3), pulls: of("pulls", 0, 1, 4, 12, 30, 45), comments: of("comments", 0, 5, 40, 120, 400),
			people: of("people", 0, 3, 30, 80), ours: of("ours", 0, 3, 8, 10),
		}
		whole := newLostMachine(t, l, 10_000)
		for i := 0; !whole.pass(fate{}); i++ {
			if i > 100 {
				rt.Fatalf("an undisturbed machine is not done:\n%s", whole.progress())
			}
		}
		whole.pass(fate{}) // asks about those that were found
		want := whole.stored()

		// A conversation must fit into a pass: its pages are read one after the other.
		m := newLostMachine(t, l, max(rapid.IntRange(2, 25).Draw(rt, "page"), l.comments/8))
		m.fastest = of("fastest", 0, 100, 200)
		for i := 0; ; i++ {
			if i > 1_000 {
				rt.Fatalf("not done after %d passes:\n%s", i, m.progress())
			}
			before := m.progress()
			f := m.drawFate(rt)
			if m.pass(f) && f.refused == 0 { // a refused read is still open
				break
			}
			if f.dies > 0 {
				m.revive()
			}
			if passedOver := m.passedOver(); len(passedOver) > 0 {
				rt.Fatalf("the walk is past %v, which nobody knows:\n%s", passedOver, m.progress())
			}
			if f.clean() && m.progress() == before {
				rt.Fatalf("a pass of %+v got no further:\n%s", f, before)
			}
		}
		m.pass(fate{})
		if d := differences(m.stored(), want); d != "" {
			rt.Fatalf("stored is something else:\n%s", d)
		}
	})
}

// differences returns the lines that only one of two texts has.
func differences(got, want string) string {
	var out []string
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "+ "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "- "+line)
		}
	}
	if len(out) == 0 && len(a) != len(b) {
		out = append(out, "a line is there twice")
	}
	return strings.Join(out, "\n")
}

// sameEachTime makes a property draw the same each time, unless -rapid.seed is set: code that fails
// with other seeds must not fail an unrelated change.
func sameEachTime(t *testing.T) {
	t.Helper()
	seed := flag.Lookup("rapid.seed")
	if usual := seed.Value.String(); usual == "0" {
		t.Cleanup(func() { _ = seed.Value.Set(usual) })
		_ = seed.Value.Set("3")
	}
}

// drawFate draws what happens to a pass. It allows at least one pull request and the
// authors of one page of comments: with less no pass could get further.
func (m *machine) drawFate(rt *rapid.T) fate {
	f := fate{latency: time.Duration(rapid.IntRange(m.fastest, 250).Draw(rt, "latency")) * time.Millisecond}
	some := func(name string) int { return rapid.IntRange(1, 80).Draw(rt, name) }
	switch rapid.IntRange(0, 6).Draw(rt, "fate") {
	case 0:
		f.ends = some("ends")
	case 1:
		if !testpg.Set() { // a state folder is restored with its database
			f.dies, f.death = some("dies"), m.keep
		}
	case 2:
		f.allowed = 90 + some("allowed")
	case 3:
		f.refused = some("refused")
	}
	return f
}

// keep copies what is stored at this moment. A pass that dies now leaves no more behind.
func (m *machine) keep() {
	if err := m.db.Snapshot(context.Background(), filepath.Join(m.dir, "kept")); err != nil { // the pass's own context may be over
		m.t.Error(err)
	}
}

// revive restores the state folder to the moment of the pass's death.
func (m *machine) revive() {
	m.t.Helper()
	kept := filepath.Join(m.dir, "kept")
	if _, err := os.Stat(kept); err != nil {
		return // it came to its end before
	}
	m.deaths++
	name := fmt.Sprint("revived", m.deaths)
	err := errors.Join(m.db.Close(), os.Rename(kept, filepath.Join(m.dir, name)))
	if err != nil {
		m.t.Fatal(err)
	}
	m.open(name)
}

// lost is what a repository has that the lost database had.
type lost struct {
	seed                            uint64
	issues, pulls, comments, people int
	ours                            int // of ten pull requests
}

// newLostMachine returns a machine that never read this repository.
func newLostMachine(t *testing.T, l lost, page int) *machine {
	t.Helper()
	m := emptyMachine(t, page)
	fillLost{m, l, rand.New(rand.NewPCG(l.seed, 1)), new(int64(1000))}.fill()
	return m
}

// fillLost fills a GitHub with what earlier passes made and what people commented on it.
type fillLost struct {
	*machine
	lost
	draw *rand.Rand
	last *int64
}

func (f fillLost) id() int64 { *f.last++; return *f.last }

func (f fillLost) chance(of, most int) bool { return f.draw.IntN(most) < of }

// past is a moment in an hour long ago.
func (f fillLost) past() time.Time {
	return noon.Add(-3 * time.Hour).Add(time.Duration(f.draw.IntN(3600)) * time.Second)
}

func (f fillLost) fill() {
	for i := range f.pulls {
		f.pull(1000+i, 2000+i)
	}
	for i := range f.issues {
		f.issue(3000 + i)
	}
	for range f.comments {
		if len(f.numbers) > 0 {
			f.comment(f.numbers[f.draw.IntN(len(f.numbers))])
		}
	}
	f.hub.sort()
}

// issue adds an issue that asks for work.
func (f fillLost) issue(number int) {
	is := github.Issue{ID: f.id(), NodeID: fmt.Sprint("I", number), Number: number, Title: fmt.Sprint("Issue ", number), State: "open", Author: f.somebody(), UpdatedAt: f.past()}
	is.Labels = f.labels(number)
	f.hub.issues[number] = is
	f.hub.add("issues", is.UpdatedAt, is)
	f.numbers = append(f.numbers, number)
}

// labels sets the labels of an issue or a pull request. A few are paused, or were.
func (f fillLost) labels(number int) (now []string) {
	at := noon.Add(-4 * time.Hour)
	set := func(event, label string) {
		at = at.Add(time.Minute)
		id := f.id()
		f.hub.timelines[number] = append(f.hub.timelines[number], github.TimelineEvent{ID: id, NodeID: fmt.Sprint("E", id), Event: event, Label: label, Actor: ann, CreatedAt: at})
	}
	set("labeled", "agent:bugfix")
	now = []string{"agent:bugfix"}
	switch f.draw.IntN(12) {
	case 0:
		set("labeled", "agent:ignore")
		now = append(now, "agent:ignore")
	case 1:
		set("labeled", "agent:ignore")
		set("unlabeled", "agent:ignore")
	}
	return now
}

// pull adds a pull request: one of ours, by its mark or by a commit; or one that only looks like
// it.
func (f fillLost) pull(issue, number int) {
	if !f.chance(1, 20) { // otherwise the issue was deleted
		f.issue(issue)
	}
	p := github.Pull{
		Number: number, NodeID: nodeOf(number), State: work.PullOpen, Author: us, Base: "main", HeadOID: fmt.Sprint("head", number),
		Head: work.BranchName(work.FlowBugfix, issue, fmt.Sprint("Issue ", issue), 0), CreatedAt: noon.Add(-3 * time.Hour), UpdatedAt: f.past(),
	}
	turn := fmt.Sprintf("%016x", number)
	mark := work.MarkPull(work.PullMark{Issue: issue, Flow: work.FlowBugfix, Turn: turn})
	commit := work.Commit{OID: p.HeadOID, Message: "Did it"}
	kind := 3 + f.draw.IntN(3)
	if f.chance(f.lost.ours, 10) {
		kind = f.draw.IntN(2)
	}
	switch kind {
	case 0:
		p.Body = "Did it.\n\n" + mark
	case 1: // somebody rewrote its description
		commit.Message += "\n\n" + work.TrailerTurn + ": " + turn
	case 2:
		p.Body, p.CrossRepo = mark, true
	case 3:
		p.Body, p.Author = mark, ann
	case 4:
		p.Head = "feature"
	}
	f.machine.ours[number] = kind < 2
	f.hub.commits[number] = []work.Commit{commit}
	f.hub.open = append(f.hub.open, p)
	is := github.Issue{ID: f.id(), NodeID: p.NodeID, Number: number, IsPull: true, Body: p.Body, State: "open", Author: p.Author, UpdatedAt: p.UpdatedAt}
	d := github.PullDetail{Pull: p}
	d.Labels = f.labels(number)
	d.LabelChanges = len(f.hub.timelines[number])
	f.hub.pulls[number] = d
	is.Labels = d.Labels
	f.hub.add("issues", is.UpdatedAt, is)
	f.numbers = append(f.numbers, number)
}

// comment adds a comment by somebody, and often our answer.
func (f fillLost) comment(number int) {
	said := []string{"Rename it.", "Why?", "/mergexo status", "/mergexo pause", "/mergexo resume"}
	at := f.past()
	kind := work.EventSource
	if _, isPull := f.hub.pulls[number]; isPull {
		kind = work.EventIssue
	}
	c := f.say(number, f.somebody(), said[min(f.draw.IntN(30), 4)], at)
	if c.Body[0] != '/' && f.chance(1, 2) {
		key := work.EventKey(number, kind, fmt.Sprint(c.ID), work.ContentHash(c.Body))
		f.say(number, us, work.Mark("Done.", work.Marks{Token: fmt.Sprintf("%064x", f.id()), Handled: []string{key}}), at.Add(time.Minute))
	}
}

func (f fillLost) say(number int, who work.Account, body string, at time.Time) github.Comment {
	id := f.id()
	if body[0] != '/' && who != us {
		body += fmt.Sprint(" ", id)
	}
	c := github.Comment{ID: id, NodeID: fmt.Sprint("C", id), Number: number, Author: who, Body: body, CreatedAt: at, UpdatedAt: at}
	f.hub.comments = append(f.hub.comments, c)
	return c
}

func (f fillLost) somebody() work.Account {
	n := f.draw.IntN(f.people + 2)
	if n < 2 {
		return []work.Account{ann, eve}[n]
	}
	return work.Account{ID: int64(crowd + n), Login: fmt.Sprint("person", n)}
}

// adopted is how far what is open was listed, and how many people were asked about.
func (m *machine) adopted(ctx context.Context, tx *store.Tx, repo work.Repo) (lines []string, err error) {
	place, err := tx.GetFirstLook(ctx, repo.ID)
	known := 0
	for id := range int64(crowd + 100) {
		_, _, asked, err := tx.GetPermission(ctx, repo.ID, id)
		if err != nil {
			return nil, err
		}
		if asked {
			known++
		}
	}
	return []string{"listed " + place, fmt.Sprint(known, " people")}, err
}

// passedOver returns our pull requests that the list has passed and that are neither tracked nor in
// the backlog.
func (m *machine) passedOver() (numbers []int) {
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		place, err := tx.GetFirstLook(ctx, repo.ID)
		if err != nil {
			return err
		}
		past, _ := time.Parse(time.RFC3339, place) // what changed before it was listed
		if place == work.FirstLookDone {
			past = m.hub.now
		}
		waiting, err := tx.ListBacklog(ctx, repo.ID)
		for _, p := range m.hub.open {
			_, tracked, err := tx.GetPull(ctx, repo.ID, p.Number)
			if err != nil {
				return err
			}
			if p.UpdatedAt.Before(past) && m.ours[p.Number] && !tracked && !slices.ContainsFunc(waiting, func(b store.Backlogged) bool { return b.Number == p.Number }) {
				numbers = append(numbers, p.Number)
			}
		}
		return err
	})
	return numbers
}

// planned is what passes would write to GitHub, and the turns that they would begin.
func (m *machine) planned(ctx context.Context, tx *store.Tx, repo work.Repo) (lines []string, err error) {
	notices, err := tx.ChooseNotices(ctx, repo.ID, nil)
	for _, a := range notices {
		first, _, _ := strings.Cut(a.Body, "\n")
		lines = append(lines, fmt.Sprintf("planned %s %s: %s", a.Kind, a.Token, first)) // a text that each person gets once may be anywhere
	}
	slices.Sort(lines)
	return lines, err
}

// Adopting plans labels only where those that the first look read are wrong: of everything else
// nobody asks again.
func TestAdoptionPlansOnlyLabelsThatAreWrong(t *testing.T) {
	m := newLostMachine(t, lost{seed: 1, pulls: 30, ours: 10}, 10)
	stale := map[int]bool{1003: true, 2007: true, 2012: true} // the lost database set labels on these
	for n := range stale {
		if d, isPull := m.hub.pulls[n]; isPull {
			d.Labels = append(d.Labels, "agent:working")
			m.hub.pulls[n] = d
			continue
		}
		is := m.hub.issues[n]
		is.Labels = append(is.Labels, "AGENT:working")
		m.hub.issues[n] = is
	}
	for !m.pass(fate{}) {
	}
	m.pass(fate{}) // takes in those that were found singly
	planned, adopted := map[int]bool{}, 0
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		pulls, err := tx.ListOpenPulls(ctx, repo.ID)
		adopted = len(pulls)
		notices, err2 := tx.ChooseNotices(ctx, repo.ID, nil)
		for _, a := range notices {
			if a.Kind == work.ActionLabels {
				planned[a.Number] = true
			}
		}
		return errors.Join(err, err2)
	})
	if adopted < 25 || !maps.Equal(planned, stale) {
		t.Errorf("of %d adopted pull requests and their issues, labels are planned on %v, not on %v", adopted, planned, stale)
	}
}

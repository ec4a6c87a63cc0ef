package ingest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"

	"github.com/mergexo/gh-mergexo/tick/tell"
)

// TestNumbers: with any news, any speed of GitHub, any time limit and a death anywhere, each pass
// gets further or is done. In the end the same is stored as by one pass with unlimited time and
// lists of one page.
func TestNumbers(t *testing.T) {
	checks(t, 30)
	sameEachTime(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := news{
			seed:   rapid.Uint64().Draw(rt, "seed"),
			issues: rapid.IntRange(0, 8).Draw(rt, "issues"), pulls: rapid.IntRange(0, 55).Draw(rt, "pulls"),
			comments: rapid.IntRange(0, 60).Draw(rt, "comments"), lines: rapid.IntRange(0, 30).Draw(rt, "lines"),
			seconds: rapid.SampledFrom([]int{1, 10, 3000}).Draw(rt, "seconds"), young: rapid.Bool().Draw(rt, "young"),
		}
		whole := newMachine(t, n, 10_000)
		whole.pass(fate{})
		want := whole.stored()

		least := 2
		if n.seconds == 1 { // a pass must have time for all pages of a second
			least = 10
		}
		m := newMachine(t, n, rapid.IntRange(least, 20).Draw(rt, "page"))
		for i := 0; ; i++ {
			if i > 2_000 {
				rt.Fatalf("not done after %d passes:\n%s", i, m.stored())
			}
			before := m.progress()
			f := fate{latency: time.Duration(rapid.IntRange(0, 400).Draw(rt, "latency")) * time.Millisecond}
			switch rapid.IntRange(0, 4).Draw(rt, "fate") {
			case 0:
				f.ends = rapid.IntRange(1, 60).Draw(rt, "ends")
			case 1:
				f.refused = rapid.IntRange(1, 60).Draw(rt, "refused")
			}
			if m.pass(f) && f.refused == 0 { // a refused read is still open
				break
			}
			if f.clean() && m.progress() == before {
				rt.Fatalf("a pass got no further:\n%s", before)
			}
		}
		if got := m.stored(); got != want {
			rt.Fatalf("stored is\n%s\nand not\n%s", got, want)
		}
	})
}

// news is what is new in a repository.
type news struct {
	seed                                    uint64
	issues, pulls, comments, lines, seconds int
	young                                   bool // recent comments: lists may still lack some
}

// machine is a state folder and the GitHub that its passes read.
type machine struct {
	t   *testing.T
	hub *hub
	dir string
	db  *store.DB

	github  env.GitHub // the hub, or one with failures
	numbers []int
	ours    map[int]bool // pull requests of a lost database
	deaths  int
	fastest int // the least milliseconds of an answer
	retry   time.Duration
	note    string // of the last pass
}

// newMachine returns a machine that has read the empty repository before it is filled.
func newMachine(t *testing.T, n news, page int) *machine {
	t.Helper()
	m := emptyMachine(t, page)
	m.hub.now = noon.Add(-2 * time.Hour)
	m.pass(fate{}) // nothing is there yet
	m.hub.now = noon
	m.fill(n)
	return m
}

// emptyMachine returns a machine with an empty state folder and an empty GitHub.
func emptyMachine(t *testing.T, page int) *machine {
	t.Helper()
	h := &hub{
		time: &ticks{}, page: page, now: noon, lists: map[string][]entry{},
		issues: map[int]github.Issue{}, timelines: map[int][]github.TimelineEvent{}, pulls: map[int]github.PullDetail{},
		commits: map[int][]work.Commit{}, needs: map[int]int{}, walked: map[string][]time.Time{},
	}
	m := &machine{t: t, hub: h, github: h, dir: t.TempDir(), ours: map[int]bool{}}
	m.open("state.db")
	return m
}

// open opens a database in the state folder.
func (m *machine) open(name string) {
	m.t.Helper()
	m.db = testdb.Open(m.t, filepath.Join(m.dir, name), m.hub.Now)
}

// checks sets how often a property is tried by MERGEXO_TEST=long, unless -rapid.checks does; a tenth of it
// otherwise.
func checks(t *testing.T, times int) {
	t.Helper()
	if !testhome.Long() {
		times = max(1, times/10)
	}
	if checksGiven() {
		return
	}
	usual := flag.Lookup("rapid.checks").Value.String()
	t.Cleanup(func() {
		if err := flag.Set("rapid.checks", usual); err != nil {
			t.Error(err)
		}
	})
	if err := flag.Set("rapid.checks", strconv.Itoa(times)); err != nil {
		t.Fatal(err)
	}
}

// checksGiven reports whether the command line says how often a property is tried: looked up before a
// test sets it.
var checksGiven = sync.OnceValue(func() (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	return given
})

// fill adds the news, with stamps in the past.
func (m *machine) fill(n news) {
	m.t.Helper()
	h, draw := m.hub, rand.New(rand.NewPCG(n.seed, 1))
	id := int64(1000)
	next := func() int64 { id++; return id }
	at := func() time.Time {
		return noon.Add(-time.Hour).Add(time.Duration(draw.IntN(n.seconds)) * time.Second)
	}
	written := at
	if n.young {
		written = func() time.Time {
			return noon.Add(-time.Duration(draw.IntN(n.seconds)) * time.Second / 10).Truncate(time.Second)
		}
	}
	timeline := func(number int) (labels []string) {
		labels = []string{"agent:bugfix"}
		set := noon.Add(-90 * time.Minute)
		tl := []github.TimelineEvent{{ID: next(), Event: "labeled", Label: "agent:bugfix", Actor: ann, CreatedAt: set}}
		if draw.IntN(3) == 0 {
			tl = append(tl, github.TimelineEvent{ID: next(), Event: "labeled", Label: "agent:ignore", Actor: ann, CreatedAt: at()})
			if draw.IntN(2) == 0 {
				tl = append(tl, github.TimelineEvent{ID: next(), Event: "unlabeled", Label: "agent:ignore", Actor: ann, CreatedAt: tl[1].CreatedAt.Add(time.Duration(draw.IntN(n.seconds)) * time.Second)})
			} else {
				labels = append(labels, "agent:ignore")
			}
		}
		h.timelines[number] = tl
		return labels
	}
	var numbers []int
	for i := range n.issues {
		number := 1 + i
		is := github.Issue{ID: next(), NodeID: fmt.Sprint("I", number), Number: number, Title: "Issue", State: "open", Author: ann, UpdatedAt: at()}
		is.Labels = timeline(number)
		h.issues[number] = is
		h.add("issues", is.UpdatedAt, is)
		numbers = append(numbers, number)
	}
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		for i := range n.pulls {
			issue, number := 1000+i, 2000+i
			item, err := tx.AddItem(ctx, work.Item{RepoID: repo.ID, Number: issue, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback, Label: "agent:bugfix", LabelEvent: "1"})
			if err != nil {
				return err
			}
			if _, err := tx.PutPull(ctx, work.PullRequest{RepoID: repo.ID, ItemID: item, Number: number, NodeID: nodeOf(number), State: work.PullOpen, Branch: "b", HeadOID: "aaa", Base: "main"}); err != nil {
				return err
			}
			d := github.PullDetail{Pull: github.Pull{Number: number, NodeID: nodeOf(number), State: work.PullOpen, HeadOID: "aaa", Base: "main", UpdatedAt: at()}}
			d.Labels = timeline(number)
			for _, e := range h.timelines[number] {
				if e.Label != "" {
					d.LabelChanges++
				}
			}
			h.pulls[number] = d
			numbers = append(numbers, issue, number)
		}
		return nil
	})
	if len(numbers) == 0 {
		numbers = []int{5000}
	}
	said := []string{"Rename it.", "Why?", "/mergexo resume", "/mergexo pause", "/mergexo status"}
	for range n.comments {
		c := github.Comment{ID: next(), Number: numbers[draw.IntN(len(numbers))], Author: []work.Account{ann, ann, eve}[draw.IntN(3)], CreatedAt: written()}
		c.Body, c.UpdatedAt = fmt.Sprint(said[min(draw.IntN(12), 4)]), c.CreatedAt
		if c.Body[0] != '/' {
			c.Body += fmt.Sprint(" ", c.ID)
		}
		h.comments = append(h.comments, c)
		h.add("comments", c.UpdatedAt, c)
	}
	for range n.lines {
		c := github.ReviewComment{ID: next(), Pull: numbers[draw.IntN(len(numbers))], Author: ann, CreatedAt: written(), Path: "a.go", Line: 1}
		c.Body, c.UpdatedAt = fmt.Sprint("Here. ", c.ID), c.CreatedAt
		h.add("reviews", c.UpdatedAt, c)
		if d, ok := h.pulls[c.Pull]; ok {
			d.Threads = append(d.Threads, github.Thread{NodeID: fmt.Sprint("T", c.ID), Top: c.ID, Comments: []github.ReviewComment{c}})
			h.pulls[c.Pull] = d
		}
	}
	h.sort()
	m.numbers = numbers
}

// pass runs a pass, and reports whether there is nothing more to read.
func (m *machine) pass(f fate) (done bool) {
	m.t.Helper()
	m.hub.time.begin(f)
	labels := work.Labels{Design: "agent:design", Bugfix: "agent:bugfix", SmallJob: "agent:small-job", Ignore: "agent:ignore", Working: "agent:working", Blocked: "agent:blocked", Done: "agent:done"}
	settings := config.Repo{Name: app, Labels: labels}
	e := &env.Env{
		TokenVariable: func(string) string { return "" },
		Config:        &config.Config{Repos: []config.Repo{settings}}, Store: m.db, Now: m.hub.Now, Log: slog.New(slog.DiscardHandler), AtOnce: m.retry == 0,
		Remotes:   []env.Remote{{Name: app, Settings: settings, GitHub: m.github}},
		Preflight: func(context.Context) error { return errors.New("no git") },
	}
	e.Config.Runtime.IngestTimeout, e.Config.Runtime.RetryBase = 15*time.Second, m.retry
	err := m.db.Update(m.t.Context(), func(tx *store.Tx) error {
		return errors.Join(e.OpenRepos(m.t.Context(), tx), e.LoadAccounts(m.t.Context(), tx, nil))
	})
	if err != nil {
		m.t.Fatal(err)
	}
	p := New(e, tell.NewNotices(e))
	p.until = m.hub.time.until
	rep := env.NewReport(time.Time{})
	if err := p.ingestRepo(m.t.Context(), e.All[0], nil, rep); err != nil {
		if f.clean() && !github.OutOfTime(err) {
			m.t.Fatal(err)
		}
		return false
	}
	m.note = rep.Repos()[0].Note
	return m.note == ""
}

func (m *machine) update(do func(context.Context, *store.Tx, work.Repo) error) {
	m.t.Helper()
	err := m.db.Update(m.t.Context(), func(tx *store.Tx) error {
		repos, err := tx.ListRepos(m.t.Context())
		if err != nil || len(repos) == 0 {
			return err
		}
		return do(m.t.Context(), tx, repos[0])
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// stored returns what the database has of what was read.
func (m *machine) stored() string {
	var lines []string
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		for _, n := range m.numbers {
			events, err := tx.ListEvents(ctx, repo.ID, n)
			if err != nil {
				return err
			}
			for _, e := range events {
				lines = append(lines, fmt.Sprintf("event %s %q", e.Key, e.Outcome))
			}
			if item, ok, err := tx.FindItem(ctx, repo.ID, n); err != nil {
				return err
			} else if ok {
				lines = append(lines, fmt.Sprintf("item %d %s %s", n, item.Flow, item.State))
			}
			if pull, ok, err := tx.GetPull(ctx, repo.ID, n); err != nil {
				return err
			} else if ok {
				lines = append(lines, fmt.Sprintf("pull %d %s %s", n, pull.State, pull.Fingerprint))
			}
		}
		planned, err := m.planned(ctx, tx, repo)
		lines = append(lines, planned...)
		return err
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// progress is stored with how far the lists were walked.
func (m *machine) progress() string {
	text := m.stored()
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		adopted, err := m.adopted(ctx, tx, repo)
		if err != nil {
			return err
		}
		text += "\n" + strings.Join(adopted, "\n")
		pages, err := tx.ListValidators(ctx, repo.ID)
		backlog, err2 := tx.ListBacklog(ctx, repo.ID)
		for _, b := range backlog {
			text += fmt.Sprintf("\nbacklog %d, %d tries", b.Number, b.Tries)
		}
		text += fmt.Sprintf("\n%d pages, since %s %s %s", len(pages), repo.IssuesSince, repo.CommentsSince, repo.ReviewCommentsSince)
		return errors.Join(err, err2)
	})
	return text
}

package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// lively is a hub on which people write while a pass reads it, and of which one pull request
// cannot be read now and then.
type lively struct {
	*hub
	mu      sync.Mutex
	deed    func()
	broken  bool
	changes int // of the pull request that cannot be read now and then
}

func (l *lively) moved(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deed()
	f()
}

func (l *lively) ListIssues(ctx context.Context, p github.PageRequest) (out github.Page[github.Issue], err error) {
	l.moved(func() { out, err = l.hub.ListIssues(ctx, p) })
	return out, err
}

func (l *lively) ListComments(ctx context.Context, p github.PageRequest) (out github.Page[github.Comment], err error) {
	l.moved(func() { out, err = l.hub.ListComments(ctx, p) })
	return out, err
}

func (l *lively) ListReviewComments(ctx context.Context, p github.PageRequest) (out github.Page[github.ReviewComment], err error) {
	l.moved(func() { out, err = l.hub.ListReviewComments(ctx, p) })
	return out, err
}

func (l *lively) CommentsOf(ctx context.Context, r work.RepoName, n int, since time.Time) (out []github.Comment, err error) {
	l.moved(func() { out, err = l.hub.CommentsOf(ctx, r, n, since) })
	return out, err
}

func (l *lively) Details(ctx context.Context, ids []string) (all []github.PullDetail, missing []string, err error) {
	for _, id := range ids {
		if l.broken && numberOf(id) == 2001 {
			return nil, nil, errors.Join(&github.Error{Status: 502}, l.time.ask(ctx))
		}
	}
	return l.hub.Details(ctx, ids)
}

func (l *lively) Sweep(ctx context.Context, r work.RepoName, ids []string) (github.Sweep, error) {
	s, err := l.hub.Sweep(ctx, r, ids)
	for i := range s.Pulls {
		if s.Pulls[i].Number == 2001 && l.changes > 0 {
			s.Pulls[i].Fingerprint = fmt.Sprint("changed ", l.changes)
		}
	}
	return s, err
}

// gitHub is what a pass reads.
type gitHub interface{ env.GitHub }

func passOf(m *machine, on gitHub, f fate) (done bool, err error) {
	m.hub.time.begin(f)
	labels := work.Labels{Design: "agent:design", Bugfix: "agent:bugfix", SmallJob: "agent:small-job", Ignore: "agent:ignore"}
	settings := config.Repo{Name: app, Labels: labels}
	e := &env.Env{
		Config: &config.Config{Repos: []config.Repo{settings}}, Store: m.db, Now: m.hub.Now, Log: slog.New(slog.DiscardHandler), AtOnce: true,
		Remotes:   []env.Remote{{Name: app, Settings: settings, GitHub: on, Adoption: m.hub}},
		Preflight: func(context.Context) error { return errors.New("no git") },
	}
	e.Config.Runtime.IngestTimeout, e.Config.Runtime.RetryBase = 15*time.Second, time.Millisecond
	err = m.db.Update(m.t.Context(), func(tx *store.Tx) error {
		return errors.Join(e.OpenRepos(m.t.Context(), tx), e.LoadAccounts(m.t.Context(), tx))
	})
	if err != nil {
		m.t.Fatal(err)
	}
	p := New(e, notice.New(e))
	p.until = m.hub.time.until
	rep := env.NewReport(time.Time{})
	if err := p.ingestRepo(m.t.Context(), e.All[0], nil, rep); err != nil {
		return false, err
	}
	return rep.Repos()[0].Note == "", nil
}

// TestListsMoveWhileTheyAreWalked: people write between any two requests, and edit and delete
// between passes, lists lag, one of two pull requests cannot be read now and then, and passes
// are short or die: in the end all that is there is known.
func TestListsMoveWhileTheyAreWalked(t *testing.T) {
	checks(t, 10)
	rapid.Check(t, func(rt *rapid.T) {
		page := rapid.SampledFrom([]int{2, 3, 5, 10}).Draw(rt, "page")
		m := newMachine(t, news{seed: 1, pulls: 2, seconds: 1}, page)
		draw := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		p := &people{machine: m, draw: draw, id: 50_000}
		spread := rapid.SampledFrom([]int{1, 3, 20, 400}).Draw(rt, "spread")
		lag := rapid.SampledFrom([]int{0, 0, 20, 290}).Draw(rt, "lag")
		busy := rapid.IntRange(0, 4).Draw(rt, "busy")
		quiet := false
		l := &lively{hub: m.hub}
		write := func(n int) {
			for range n {
				p.write(m.hub.now.Add(-time.Duration(draw.IntN(spread))*time.Second), lag)
				c := &p.said[len(p.said)-1]
				c.Number += draw.IntN(2)
				if lag == 0 && draw.IntN(4) > 0 { // what is written is stamped when it is
					c.CreatedAt, c.UpdatedAt = m.hub.now, m.hub.now
					c.shown = m.hub.now
				} else if c.shown.Before(m.hub.now) {
					c.shown = m.hub.now
				}
			}
		}
		l.deed = func() {
			if quiet || busy == 0 || draw.IntN(5) > busy {
				return
			}
			if draw.IntN(2) == 0 {
				m.hub.now = m.hub.now.Add(time.Second)
			}
			write(draw.IntN(3))
			p.show()
		}
		pass := func(f fate) bool {
			done, err := passOf(m, l, f)
			if err != nil && f.clean() && f.allowed == 0 && !batch.OutOfTime(err) {
				rt.Fatal(err)
			}
			return done
		}
		for range rapid.IntRange(2, 12).Draw(rt, "passes") {
			if l.broken = draw.IntN(3) == 0; l.broken {
				l.changes++
			}
			write(draw.IntN(25))
			p.edit(draw.IntN(4))
			p.remove(draw.IntN(3))
			p.show()
			f := fate{latency: time.Duration(draw.IntN(1200)) * time.Millisecond}
			switch draw.IntN(6) {
			case 0:
				f.ends = 1 + draw.IntN(20)
			case 1:
				f.allowed = 6 + draw.IntN(10)
			}
			p.show()
			pass(f)
			m.hub.now = m.hub.now.Add(time.Duration([]int{1, 10, 60, 310}[draw.IntN(4)]) * time.Second)
		}
		quiet, l.broken = true, false
		p.show()
		until := func() {
			for i := 0; !pass(fate{latency: 100 * time.Millisecond}); i++ {
				if i > 300 {
					rt.Fatalf("not done:\n%s", m.progress())
				}
				m.hub.now = m.hub.now.Add(time.Second)
				p.show()
			}
		}
		until()
		for range 2 {
			m.hub.now = m.hub.now.Add(batch.Overlap + time.Second)
			p.show()
			until()
			pass(fate{})
		}
		known := map[string]bool{}
		m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
			for _, n := range []int{2000, 2001} {
				events, err := tx.ListEvents(ctx, repo.ID, n)
				if err != nil {
					return err
				}
				for _, e := range events {
					known[e.Source+" "+e.Body] = true
				}
			}
			return nil
		})
		for _, c := range p.said {
			if c.shown.Sub(c.UpdatedAt) > batch.Overlap-30*time.Second {
				continue // no list lags as long
			}
			if !known[fmt.Sprint(c.ID, " ", c.Body)] {
				rt.Fatalf("at %s comment %d on #%d of %s, listed since %s, is not known:\n%s", m.hub.now, c.ID, c.Number, c.UpdatedAt, c.shown, m.progress())
			}
		}
	})
}

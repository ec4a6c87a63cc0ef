package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// lively is a hub on which something happens while a pass reads it, and of which one pull request
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

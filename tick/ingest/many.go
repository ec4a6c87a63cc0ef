package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A few repositories of a host are read in each pass: that is cheap and shows every change at once. Of
// more than handful, one query a hundred shows the newest stamps of issues and pull requests. A
// repository is read if they moved or are younger than settled, if something in it is known to be
// unread, and in turn: no stamp shows what a person does to a check.
const handful = 4

// settled is the age from which a stamp shows all: lists lag, and two changes in one second share one.
const settled = 2 * time.Minute

// turnOf is the longest time between two reads of a repository, one of n: ten seconds for each. A read
// takes a point of the 5,000 an hour.
func turnOf(n int) time.Duration { return min(10*time.Second*time.Duration(n), time.Hour) }

// mostReads is how many of many repositories a pass reads; the next one reads the others. Each takes four
// requests or more of the 900 a minute that GitHub allows a login:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
const mostReads = 120

// manyAtOnce is how many of many repositories are read side by side.
const manyAtOnce = 24

// checksFor is how long after a change of a pull request each pass looks for results of its checks.
const checksFor = time.Hour

// stamps is what the query about many showed of a repository.
type stamps struct {
	work.Stamps
	doubted bool  // it has another name than the stored one, or is archived
	err     error // why GitHub shows nothing
}

// oneOfMany is one of many repositories that a pass may read.
type oneOfMany struct {
	*env.Repo
	unread bool    // something in it is known to be unread
	shown  *stamps // nil: GitHub did not show it
	failed error   // the query about it
}

// due reports whether a repository, one of n, is read now.
func (c oneOfMany) due(n int, now time.Time) bool {
	row := c.Row
	switch {
	case row.NodeID == "", row.HeartbeatAt.IsZero(), c.unread, c.shown == nil, c.shown.doubted, c.shown.err != nil:
		return true
	case !c.shown.Issues.Equal(row.Newest.Issues), !c.shown.Pulls.Equal(row.Newest.Pulls):
		return true // a stamp that went back, too: what changed last is gone
	case now.Sub(row.Newest.Issues) < settled, now.Sub(row.Newest.Pulls) < settled:
		return true
	}
	return now.Sub(row.HeartbeatAt).Abs() >= turnOf(n)
}

// readMany reads those of a host's many repositories that are due, of n that share the login's limits.
func (p *Ingest) readMany(ctx context.Context, repos []*env.Repo, n int, rep *env.Report) {
	if len(repos) == 0 {
		return
	}
	var chosen []oneOfMany
	err := p.contain(ctx, "choose what is read on "+repos[0].Name.Host, repos[0], func() (err error) {
		chosen, err = p.choose(ctx, repos, n, rep)
		return err
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, store.ErrTaken) {
		return
	}
	if err != nil {
		for _, r := range repos {
			p.repoFailed(ctx, r, fmt.Errorf("choose what is read: %w", err), rep)
		}
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, manyAtOnce)
	for _, c := range chosen {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			p.ingestOne(ctx, c.Repo, c.shown, rep)
		})
	}
	wg.Wait()
}

// choose returns the repositories that this pass reads, those first that were read longest ago, and
// reports the others.
func (p *Ingest) choose(ctx context.Context, repos []*env.Repo, n int, rep *env.Report) ([]oneOfMany, error) {
	now := repos[0].GitHub.Now()
	var unread store.BusySet      // in which something is known to be unread
	var labels map[int64][]string // whose open issues were listed once
	err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		if unread, err = tx.ListUnread(ctx, now.Add(-checksFor), now); err == nil {
			labels, err = tx.ListAllSeenLabels(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []oneOfMany
	for _, r := range repos {
		unlisted := func(label string) bool { return !slices.Contains(labels[r.Row.ID], label) }
		all = append(all, oneOfMany{Repo: r, unread: unread[r.Row.ID] || slices.ContainsFunc(r.Settings.StartLabels(), unlisted)})
	}
	p.askStamps(ctx, all)
	var due []oneOfMany
	for _, c := range all {
		switch {
		case errors.Is(c.failed, context.Canceled):
		case c.failed != nil:
			p.repoFailed(ctx, c.Repo, c.failed, rep)
		case c.due(n, now):
			due = append(due, c)
		default:
			rep.Repo(p.config.Called(c.Name), func(x *env.RepoReport) { x.Ingested = true })
		}
	}
	first, others := longestAgo(due)
	for _, c := range others {
		note := fmt.Sprintf("the next pass reads it: one pass reads %d repositories of a host at most", mostReads)
		rep.Repo(p.config.Called(c.Name), func(x *env.RepoReport) { x.Note = note })
	}
	return first, nil
}

// longestAgo returns those of the repositories that were read longest ago, as many as a pass reads, and
// the others.
func longestAgo(due []oneOfMany) (first, others []oneOfMany) {
	sorted.By(due, func(a, b oneOfMany) int { return a.Row.HeartbeatAt.Compare(b.Row.HeartbeatAt) })
	most := min(len(due), mostReads)
	return due[:most], due[most:]
}

// askStamps asks what GitHub shows of the repositories that were read before.
func (p *Ingest) askStamps(ctx context.Context, all []oneOfMany) {
	var known []*oneOfMany
	for i, c := range all {
		if c.Row.NodeID != "" && !c.Row.HeartbeatAt.IsZero() {
			known = append(known, &all[i])
		}
	}
	var asks []func(context.Context) error
	for some := range slices.Chunk(known, github.MaxStamps) {
		asks = append(asks, func(ctx context.Context) error {
			ids := make([]string, len(some))
			for i, c := range some {
				ids[i] = c.Row.NodeID
			}
			ctx, cancel := context.WithTimeout(ctx, p.config.Runtime.IngestTimeout)
			defer cancel()
			shown, err := some[0].GitHub.Stamps(ctx, ids)
			for _, c := range some {
				is, ok := shown[c.Row.NodeID]
				switch {
				case err != nil && github.IsItemError(err): // one of them may be the reason: each is read
					c.shown = &stamps{err: err}
				case err != nil:
					c.failed = err
				case ok:
					same := strings.EqualFold(is.FullName, c.Row.Current.FullName()) && !is.Archived
					c.shown = &stamps{Stamps: work.Stamps{Issues: is.Issues, Pulls: is.Pulls}, doubted: !same}
				}
			}
			return nil
		})
	}
	github.AtOnce(ctx, sweepsAtOnce, asks)
}

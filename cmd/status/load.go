// Package status shows work items to people and programs: the board of status, the story of show,
// and both as JSON. It reads only the database.
package status

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/live"
	"github.com/mergexo/gh-mergexo/cmd/looks"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// Board is what the database holds about the configured repositories.
type Board struct {
	repos []repoStatus
	items []Facts
	left  []looks.Left
	ended []ended      // within lately
	all   bool         // items includes finished ones
	day   spending.Day // usage of the last 24 hours, over all repositories

	untold []news.Untold // notification targets that did not accept messages

	budgets work.Budgets
	halt    *folder.Halt // `pause --all` is in force; nil: it is not

	now    time.Time                // by GitHub's clock, like stored times
	clocks map[string]time.Duration // how far this machine's clock is ahead, by host
}

// repoStatus is one configured repository. Before a pass has seen it, it has only its name.
type repoStatus struct {
	work.Repo
	called  string // its name, with its host if that is ambiguous
	counts  store.Counts
	ignored []string      // its times that lie in the future
	stopped *merging.Halt // merging is stopped until a person resumes it; nil: it is not
	watched looks.Repo    // how it is watched, and when it is read next
}

// Query selects the content of a board.
type Query struct {
	Config *config.Config  // required
	Repos  []work.RepoName // of the config
	All    bool            // include merged, completed and closed items
	Now    time.Time       // by this machine's clock
	Halt   *folder.Halt    // `pause --all` is in force; nil: it is not
}

// Empty is the board before any pass.
func Empty(q Query) Board {
	return Board{budgets: q.Config.Runtime.Budgets, halt: q.Halt, repos: terminal.Each(q.Repos, func(name work.RepoName) repoStatus {
		return repoStatus{Repo: work.Repo{Name: name}, called: q.Config.Called(name)}
	})}
}

func Load(ctx context.Context, tx *store.Tx, q Query) (Board, error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return Board{}, err
	}
	clocks, err := tx.ListClocks(ctx)
	if err != nil {
		return Board{}, err
	}
	at, err := live.Load(ctx, tx, q.Config.Runtime.StateDir, q.Now)
	if err != nil {
		return Board{}, err
	}
	if len(q.Repos) > 0 {
		q.Now = q.Now.Add(-clocks[q.Repos[0].Host])
	}
	b := Board{now: q.Now, clocks: clocks, budgets: q.Config.Runtime.Budgets, halt: q.Halt, all: q.All}
	if b.day, err = snapshot.Day(ctx, tx, b.budgets, q.Now); err != nil {
		return Board{}, err
	}
	if b.untold, err = tx.ListUntold(ctx, q.Now.Add(-news.MostAge)); err != nil {
		return Board{}, err
	}
	if len(q.Repos) == len(q.Config.Repos) {
		if b.left, err = looks.LoadLeft(ctx, tx, q.Config, known, q.Now); err != nil {
			return Board{}, err
		}
	}
	watch, err := looks.Load(ctx, tx, q.Config, known, b.now)
	if err != nil {
		return Board{}, err
	}
	for _, name := range q.Repos {
		r := repoStatus{Repo: looks.FindRepo(known, name), called: q.Config.Called(name)}
		r.watched = watch(r.Repo)
		if err := b.addRepo(ctx, tx, q, r, at); err != nil {
			return Board{}, err
		}
	}
	newestFirst(b.ended)
	return b, nil
}

// addRepo reads a configured repository and its work items.
func (b *Board) addRepo(ctx context.Context, tx *store.Tx, q Query, r repoStatus, at live.Turns) error {
	r.ignored = env.IgnoredStamps(&r.Repo, q.Now)
	if r.ID != 0 {
		items, err := loadRepo(ctx, tx, q, r.Repo, b.day)
		if err != nil {
			return err
		}
		for _, f := range items {
			f.Worked, f.Local = at.Of(f.Turn), at.Now
			f.Live = f.Worked != nil
			b.items = append(b.items, f)
		}
		over, err := loadEnded(ctx, tx, q, r)
		if err != nil {
			return err
		}
		b.ended = append(b.ended, over...)
		if r.counts, err = tx.Counts(ctx, r.ID); err != nil {
			return err
		}
		if halt, stopped, err := tx.MergingStopped(ctx, r.ID); err != nil {
			return err
		} else if stopped {
			r.stopped = &halt
		}
	}
	b.repos = append(b.repos, r)
	return nil
}

// loadRepo reads a repository's work items and asks the plan, made from the same items, what holds
// them back.
func loadRepo(ctx context.Context, tx *store.Tx, q Query, r work.Repo, day spending.Day) ([]Facts, error) {
	v, err := snapshot.Board(ctx, tx, q.Config, r, day, q.Now, q.All)
	if err != nil {
		return nil, err
	}
	p := plan.For(v)
	waits, moves := p.Waits(), moved(p)
	var found []Facts
	for _, i := range v.Items {
		if !q.All && !i.State.Open() {
			continue
		}
		f := Facts{Item: i, Repo: r, Now: q.Now, Waits: waits[i.ID], Reviewing: moves[i.ID], Merge: plan.Merging(v, i), MergeDue: merges(p, i.ID)}
		f.configure(q)
		if f.stopped() {
			if f.Said, _, err = tx.GetAction(ctx, f.Stop.Token); err != nil {
				return nil, err
			}
		}
		found = append(found, f)
	}
	return found, nil
}

// merges reports whether a plan acts on the merge of an item's pull request.
func merges(p plan.Plan, item int64) bool {
	return slices.ContainsFunc(plan.Of[change.Merge](p), func(m change.Merge) bool { return m.Item == item })
}

// FindRepo finds the row of a configured repository.
func FindRepo(known []work.Repo, name work.RepoName) work.Repo { return looks.FindRepo(known, name) }

// configure adds what comes from the query and its config.
func (f *Facts) configure(q Query) {
	f.Called, f.Halt, f.Budgets = q.Config.Called(f.Repo.Name), q.Halt, q.Config.Runtime.Budgets
	f.Place = explain.Place{
		Pull: f.Pull.State == work.PullOpen, Comments: q.Config.Runtime.EnableIssueCommentRouting, Label: f.Label, Repo: f.Called, Spending: true,
	}
	if r, ok := q.Config.Repo(f.Repo.Name); ok {
		f.Place.Ignore = r.Labels.Ignore
	}
}

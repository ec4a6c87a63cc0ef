// Package status is what a person or a program reads of work items: the board of
// status, the story of show, and both as JSON. It reads the database alone.
package status

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// Board is what the database knows of the configured repositories.
type Board struct {
	repos []repoStatus
	items []Facts
	left  []leftRepo
	day   spending.Day // what was spent in the last 24 hours, over all repositories

	budgets work.Budgets
	halt    *env.Halt // everything on this machine is paused; nil: it is not

	now    time.Time                // by GitHub's clock, as what is stored
	clocks map[string]time.Duration // how far this machine's is ahead, by host
}

// repoStatus is one configured repository; one that no pass has seen yet has
// only its name.
type repoStatus struct {
	work.Repo
	called  string // its name, with its host where that is needed
	counts  store.Counts
	ignored []string // its times that lie in the future
}

// Query says what a board is about.
type Query struct {
	Config *config.Config  // required
	Repos  []work.RepoName // of the config
	All    bool            // also what is merged, completed or closed
	Now    time.Time       // by this machine's clock
	Halt   *env.Halt       // everything on this machine is paused; nil: it is not
}

// Empty is the board before any pass.
func Empty(q Query) Board {
	return Board{budgets: q.Config.Runtime.Budgets, halt: q.Halt, repos: terminal.Each(q.Repos, func(name work.RepoName) repoStatus {
		return repoStatus{Repo: work.Repo{Name: name}, called: q.Config.Called(name)}
	})}
}

// Load reads the board.
func Load(ctx context.Context, tx *store.Tx, q Query) (Board, error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return Board{}, err
	}
	clocks, err := tx.ListClocks(ctx)
	if err != nil {
		return Board{}, err
	}
	if len(q.Repos) > 0 {
		q.Now = q.Now.Add(-clocks[q.Repos[0].Host])
	}
	turns, err := loadTurns(ctx, tx, q)
	if err != nil {
		return Board{}, err
	}
	b := Board{now: q.Now, clocks: clocks, budgets: q.Config.Runtime.Budgets, halt: q.Halt}
	if b.day, err = loadDay(ctx, tx, b.budgets, q.Now); err != nil {
		return Board{}, err
	}
	if len(q.Repos) == len(q.Config.Repos) {
		if b.left, err = loadLeft(ctx, tx, q, known); err != nil {
			return Board{}, err
		}
	}
	for _, name := range q.Repos {
		r := repoStatus{Repo: FindRepo(known, name), called: q.Config.Called(name)}
		if err := b.addRepo(ctx, tx, q, r, turns); err != nil {
			return Board{}, err
		}
	}
	return b, nil
}

// addRepo reads a configured repository and its work items.
func (b *Board) addRepo(ctx context.Context, tx *store.Tx, q Query, r repoStatus, turns unfinishedTurns) error {
	r.ignored = env.IgnoredStamps(&r.Repo, q.Now)
	if r.ID != 0 {
		items, err := loadRepo(ctx, tx, q, r.Repo, b.day)
		if err != nil {
			return err
		}
		for _, f := range items {
			f.Turn = turns.unfinished[f.Item.ID]
			f.Live = f.Turn != nil && turns.live[f.Turn.Key]
			b.items = append(b.items, f)
		}
		if r.counts, err = tx.Counts(ctx, r.ID); err != nil {
			return err
		}
	}
	b.repos = append(b.repos, r)
	return nil
}

// unfinishedTurns are the turns that are under way, and those of them on which a
// living pass works.
type unfinishedTurns struct {
	unfinished map[int64]*work.Turn // by work item
	live       map[string]bool      // by key
}

func loadTurns(ctx context.Context, tx *store.Tx, q Query) (unfinishedTurns, error) {
	turns, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return unfinishedTurns{}, err
	}
	found := unfinishedTurns{unfinished: make(map[int64]*work.Turn, len(turns))}
	for i, t := range turns {
		found.unfinished[t.ItemID] = &turns[i]
	}
	found.live, err = env.Dirs{State: q.Config.Runtime.StateDir}.LiveTurns()
	return found, err
}

// loadRepo reads a repository's work items, and what holds them back.
func loadRepo(ctx context.Context, tx *store.Tx, q Query, r work.Repo, day spending.Day) ([]Facts, error) {
	items, err := loadItems(ctx, tx, q, r)
	if err != nil {
		return nil, err
	}
	waits, err := snapshot.Waits(ctx, tx, q.Config, r, day, q.Now)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].configure(q)
		items[i].Held = waits[items[i].number()]
	}
	return items, nil
}

// FindRepo finds the row of a configured repository: of those that have had the name
// the one that has it, or had it last.
func FindRepo(known []work.Repo, name work.RepoName) work.Repo {
	found := work.Repo{Name: name}
	for _, r := range known {
		if !r.Name.Equal(name) {
			continue
		}
		if r.LeftAt.IsZero() {
			return r
		}
		if r.LeftAt.After(found.LeftAt) {
			found = r
		}
	}
	return found
}

// loadItems reads everything about a repository's work items but their turns.
func loadItems(ctx context.Context, tx *store.Tx, q Query, r work.Repo) ([]Facts, error) {
	list := tx.ListOpenItems
	if q.All {
		list = tx.ListItems
	}
	items, err := list(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	newest, err := loadPulls(ctx, tx, r.ID)
	if err != nil {
		return nil, err
	}
	pending, err := countPending(ctx, tx, r.ID, newest)
	if err != nil {
		return nil, err
	}
	paused, err := loadPauses(ctx, tx, r.ID)
	if err != nil {
		return nil, err
	}
	found := make([]Facts, len(items))
	for i, item := range items {
		spent, err := tx.ListSpent(ctx, item.ID)
		if err != nil {
			return nil, err
		}
		found[i] = Facts{
			Repo: r, Item: item, Pull: newest[item.ID], Pending: pending[item.ID], Spent: spending.Of(spent), Now: q.Now, Pause: paused[item.Number],
		}
		if p := newest[item.ID]; p != nil && found[i].Pause == nil {
			found[i].Pause = paused[p.Number]
		}
		if err := found[i].loadStop(ctx, tx); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// loadPulls reads the newest pull request of each work item.
func loadPulls(ctx context.Context, tx *store.Tx, repoID int64) (map[int64]*work.PullRequest, error) {
	pulls, err := tx.ListPulls(ctx, repoID)
	if err != nil {
		return nil, err
	}
	newest := make(map[int64]*work.PullRequest, len(pulls))
	for i, p := range pulls {
		if old := newest[p.ItemID]; old == nil || old.Number < p.Number {
			newest[p.ItemID] = &pulls[i]
		}
	}
	return newest, nil
}

// countPending counts for each work item what people said and no turn has taken yet.
func countPending(ctx context.Context, tx *store.Tx, repoID int64, newest map[int64]*work.PullRequest) (map[int64]int, error) {
	events, err := tx.ListPendingEvents(ctx, repoID)
	if err != nil {
		return nil, err
	}
	waiting, err := tx.ListStandingFollowups(ctx, work.StateAwaitingIssueFollowup)
	if err != nil {
		return nil, err
	}
	heard := make(map[int64]int64, len(waiting))
	for _, f := range waiting {
		heard[f.ItemID] = f.EventCursor
	}
	pending := map[int64]int{}
	for _, e := range events {
		if e.Kind.Said() && e.TurnID == 0 && e.ID > heard[e.ItemID] && !elsewhere(e, newest[e.ItemID]) {
			pending[e.ItemID]++
		}
	}
	return pending, nil
}

// elsewhere reports whether something was said on the issue with the pull request
// open: no turn answers that.
func elsewhere(e work.Event, pull *work.PullRequest) bool {
	return e.Kind == work.EventSource && pull != nil && e.CreatedAt.After(pull.CreatedAt)
}

// loadPauses reads what people have paused, by number.
func loadPauses(ctx context.Context, tx *store.Tx, repoID int64) (map[int]*work.Pause, error) {
	open, err := tx.ListOpenPauses(ctx, repoID)
	oldest := map[int]*work.Pause{}
	for i, p := range open {
		if oldest[p.Number] == nil {
			oldest[p.Number] = &open[i]
		}
	}
	return oldest, err
}

// configure adds what the query and its config say: what may be spent and answered, and by
// which label people take things over.
func (f *Facts) configure(q Query) {
	f.Called, f.Halt = q.Config.Called(f.Repo.Name), q.Halt
	f.Budgets, f.Answers = q.Config.Runtime.Budgets, q.Config.Runtime.EnableFeedbackLoop
	if r, ok := q.Config.Repo(f.Repo.Name); ok {
		f.Ignore = r.Labels.Ignore
	}
}

// loadStop reads why an item is blocked, and where GitHub says so.
func (f *Facts) loadStop(ctx context.Context, tx *store.Tx) error {
	stop, ok, err := tx.FindStop(ctx, f.Item.ID)
	if err != nil || !ok || !stop.Lasts() || !f.Item.State.Stands() {
		return err
	}
	f.Stop = &stop
	f.Said, _, err = tx.GetAction(ctx, stop.Token)
	return err
}

// loadDay reads what was spent in the last 24 hours.
func loadDay(ctx context.Context, tx *store.Tx, b work.Budgets, now time.Time) (spending.Day, error) {
	spent, err := tx.ListSpentSince(ctx, now.Add(-24*time.Hour))
	return spending.DayOf(spent, b, now), err
}

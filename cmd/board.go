package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick"
)

// board is what the database knows of the configured repositories.
type board struct {
	repos []repoStatus
	items []facts
	left  []leftRepo
	day   spending.Day // what was spent in the last 24 hours, over all repositories

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

// view runs fn in a read transaction of the state database. It is false when
// there is no database yet.
func (a *app) view(ctx context.Context, stateDir string, fn func(*store.Tx) error) (found bool, err error) {
	if err := guardState(stateDir); err != nil {
		return false, err
	}
	db, ok, err := store.OpenReadOnly(ctx, filepath.Join(stateDir, "state.db"))
	if err != nil || !ok {
		return ok, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return true, db.View(ctx, fn)
}

// loadBoard reads the board of some repositories: their open work items, or
// all.
func loadBoard(ctx context.Context, tx *store.Tx, names []work.RepoName, all bool, cfg *config.Config, now time.Time) (board, error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return board{}, err
	}
	turns, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return board{}, err
	}
	clocks, err := tx.ListClocks(ctx)
	if err != nil {
		return board{}, err
	}
	if len(names) > 0 {
		now = now.Add(-clocks[names[0].Host])
	}
	live, err := tick.Dirs{State: cfg.Runtime.StateDir}.LiveTurns()
	if err != nil {
		return board{}, err
	}
	unfinished := make(map[int64]*work.Turn, len(turns))
	for i, t := range turns {
		unfinished[t.ItemID] = &turns[i]
	}
	b := board{now: now, clocks: clocks}
	if b.day, err = loadDay(ctx, tx, cfg.Runtime.Budgets, now); err != nil {
		return board{}, err
	}
	if len(names) == len(cfg.Repos) {
		if b.left, err = loadLeft(ctx, tx, cfg, known, now); err != nil {
			return board{}, err
		}
	}
	for _, name := range names {
		r := repoStatus{Repo: findRepo(known, name), called: cfg.Called(name)}
		r.ignored = tick.IgnoredStamps(&r.Repo, now)
		if r.ID != 0 {
			items, err := loadItems(ctx, tx, r.Repo, all, now)
			if err != nil {
				return board{}, err
			}
			waits, err := tick.Waits(ctx, tx, cfg, r.Repo, b.day, now)
			if err != nil {
				return board{}, err
			}
			for _, f := range items {
				f.Turn = unfinished[f.Item.ID]
				f.Live = f.Turn != nil && live[f.Turn.Key]
				f.configure(cfg)
				f.Held = waits[f.number()]
				b.items = append(b.items, f)
			}
			if r.counts, err = tx.Counts(ctx, r.ID); err != nil {
				return board{}, err
			}
		}
		b.repos = append(b.repos, r)
	}
	return b, nil
}

// findRepo finds the row of a configured repository: of those that have had the name
// the one that has it, or had it last.
func findRepo(known []work.Repo, name work.RepoName) work.Repo {
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
func loadItems(ctx context.Context, tx *store.Tx, r work.Repo, all bool, now time.Time) ([]facts, error) {
	list := tx.ListOpenItems
	if all {
		list = tx.ListItems
	}
	items, err := list(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	pulls, err := tx.ListPulls(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	newest := make(map[int64]*work.PullRequest, len(pulls))
	for i, p := range pulls {
		if old := newest[p.ItemID]; old == nil || old.Number < p.Number {
			newest[p.ItemID] = &pulls[i]
		}
	}
	events, err := tx.ListPendingEvents(ctx, r.ID)
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
	paused, err := loadPauses(ctx, tx, r.ID)
	if err != nil {
		return nil, err
	}
	found := make([]facts, len(items))
	for i, item := range items {
		spent, err := tx.ListSpent(ctx, item.ID)
		if err != nil {
			return nil, err
		}
		found[i] = facts{
			Repo: r, Item: item, Pull: newest[item.ID], Pending: pending[item.ID], Spent: spending.Of(spent), Now: now, Pause: paused[item.Number],
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

// elsewhere reports whether something was said on the issue with the pull request
// open: no turn answers that.
func elsewhere(e work.Event, pull *work.PullRequest) bool {
	return e.Kind == work.EventSource && pull != nil && e.CreatedAt.After(pull.CreatedAt)
}

// loadPauses reads what people have taken over, by number.
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

// configure adds what the config says: what may be spent and answered, and by
// which label people take things over.
func (f *facts) configure(cfg *config.Config) {
	f.Called = cfg.Called(f.Repo.Name)
	f.Halt, _ = halted(cfg) // a state folder that is refused was not read
	f.Budgets, f.Answers = cfg.Runtime.Budgets, cfg.Runtime.EnableFeedbackLoop
	if r, ok := cfg.Repo(f.Repo.Name); ok {
		f.Ignore = r.Labels.Ignore
	}
}

// loadStop reads why an item stands still, and where GitHub says so.
func (f *facts) loadStop(ctx context.Context, tx *store.Tx) error {
	stop, ok, err := tx.FindStop(ctx, f.Item.ID)
	if err != nil || !ok || !stop.Lasts() || !f.Item.State.Stands() {
		return err
	}
	f.Stop = &stop
	f.Said, _, err = tx.GetAction(ctx, stop.Token)
	return err
}

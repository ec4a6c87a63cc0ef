package snapshot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// which says which items of a repository are read in addition to those that need a decision.
type which int

const (
	asking which = iota // if an item is ready, the open implementations, which its score depends on; else none
	open                // also those of roadmaps that have not ended
	all
)

func (p *Loader) read(ctx context.Context, tx *store.Tx, r *env.Repo, w which) (known.Snapshot, error) {
	v, from, err := p.begin(ctx, tx, r)
	if err != nil {
		return v, err
	}
	return from.fill(ctx, v, w)
}

// begin reads what the items are built from.
func (p *Loader) begin(ctx context.Context, tx *store.Tx, r *env.Repo) (known.Snapshot, *reading, error) {
	v := p.empty(r)
	v.Now = tx.Moment(p.now)
	elsewhere, err := p.elsewhere(ctx, tx, r)
	if err != nil {
		return v, nil, err
	}
	v.Held = append(v.Held, elsewhere...)
	from, err := newReading(ctx, tx, r, v.Now)
	if err == nil {
		err = from.waiting(ctx)
	}
	if err != nil {
		return v, from, err
	}
	from.limits, from.families = p.config.RoadmapLimits(r.Name), map[string]family{}
	from.accounts, from.writers = p.accounts.Operators(r.Name.Host), p.accounts.Writers(r.Name.Host)
	if r.Settings.Review.Enabled {
		if from.levels, err = tx.ListReviewerLevels(ctx, from.repo.ID); err != nil {
			return v, from, err
		}
		if v.Writers, err = tx.ListWriters(ctx, from.repo.ID, work.MostMentioned); err != nil {
			return v, from, err
		}
	}
	if err := from.unfolding(ctx, &v); err != nil {
		return v, from, err
	}
	return v, from, from.landings(ctx, &v)
}

func (r *reading) fill(ctx context.Context, v known.Snapshot, w which) (known.Snapshot, error) {
	ids, err := r.choose(ctx, w)
	if err != nil {
		return v, err
	}
	if v.Items, err = r.items(ctx, ids); err != nil {
		return v, err
	}
	if err := r.loadReactions(ctx, v.Items); err != nil {
		return v, err
	}
	return r.rest(ctx, v, len(ids))
}

// rest reads the pending commands that belong to no item, and the newest turn of each queue.
func (r *reading) rest(ctx context.Context, v known.Snapshot, items int) (_ known.Snapshot, err error) {
	if v.Tables, err = r.tables(ctx); err != nil {
		return v, err
	}
	if v.Untracked, err = r.untracked(ctx); err != nil || items == 0 {
		return v, err
	}
	v.Served, err = r.served(ctx)
	return v, err
}

// reading has the rows of a repository from which its items are built.
type reading struct {
	tx        *store.Tx
	repo      work.Repo
	now       time.Time
	settings  config.Repo
	reviewing string                 // hash of the settings for reviews
	facts     map[int64][]work.Event // pending events that are not comments and belong to no turn, by item id; 0: of no item
	waits     []int64                // items with pending comments that belong to no turn
	turns     map[int64]*work.Turn   // unfinished turns, by item id
	pauses    []work.Pause           // open pauses, oldest first
	accounts  []int64                // our accounts that merge
	writers   []int64                // all our accounts
	levels    map[string]store.Level // what reviewers' accounts may do, by login in lower case

	// Rows of one page of items:
	events  map[int64][]work.Event       // pending comments, by item id
	pulls   map[int64]work.PullRequest   // the newest of each item, by item id
	related map[int64]store.RelatedRows  // by item id
	stored  map[int64]store.Reviews      // reviews, by the pull request's id
	needs   map[int64][]store.Dependency // what items without a pull request depend on, by item id

	limits   func(work.RepoName) roadmap.Limits
	roadmaps []roadmap.Record  // of the repository, which have not ended
	families map[string]family // what is above and beside issues, by the issue whose sub-issues they are
}

func newReading(ctx context.Context, tx *store.Tx, repo *env.Repo, now time.Time) (r *reading, err error) {
	r = &reading{tx: tx, repo: repo.Row, now: now, settings: repo.Settings, turns: map[int64]*work.Turn{}}
	if r.reviewing, err = policyName(r.settings); err != nil {
		return r, err
	}
	turns, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return r, err
	}
	for _, t := range turns {
		if !t.Waits(now) { // its wait is over, or was stored by a wrong clock
			t.NotBefore = time.Time{}
		}
		if r.turns[t.ItemID] == nil {
			r.turns[t.ItemID] = &t
		}
	}
	r.pauses, err = tx.ListOpenPauses(ctx, r.repo.ID)
	return r, err
}

// choose returns the ids of the items to read, oldest first.
func (r *reading) choose(ctx context.Context, w which) ([]int64, error) {
	rows, err := r.list(ctx, w)
	if err != nil {
		return nil, err
	}
	ids, err := r.asking(ctx)
	if err != nil {
		return nil, err
	}
	states, err := r.tx.ListStatesOf(ctx, r.repo.ID, ids)
	if err != nil {
		return nil, err
	}
	ready := false
	for _, state := range states {
		ready = ready || state == work.StateReady
	}
	chosen := slices.Sorted(maps.Keys(states)) // a View asks the same again
	if w == open {
		for _, m := range r.roadmaps {
			chosen = append(chosen, m.ItemID)
		}
	}
	if ready && w == asking {
		if rows, err = r.list(ctx, open); err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(row work.Item) bool { return row.Flow != work.FlowImplementation })
	}
	ids = append(chosen, idsOf(rows)...)
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func idsOf(rows []work.Item) (ids []int64) {
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func (r *reading) list(ctx context.Context, w which) (rows []work.Item, err error) {
	switch w {
	case asking:
	case open:
		rows, err = r.tx.ListOpenItems(ctx, r.repo.ID)
	case all:
		rows, err = r.tx.ListItems(ctx, r.repo.ID)
	}
	return rows, err
}

// asking returns the items about which the plan has anything to decide or to report (see
// known.Item.NeedsDecision), and items whose stop comments may be out of date.
func (r *reading) asking(ctx context.Context) (ids []int64, err error) {
	rewritten, err := r.tx.ListRewritten(ctx, r.repo.ID)
	if err != nil {
		return nil, err
	}
	looking, err := r.tx.ListUndecidedReviews(ctx, r.repo.ID, r.reviewing)
	if err != nil {
		return nil, err
	}
	landing, err := r.candidates(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := r.tx.ListTakenStops(ctx)
	if err != nil {
		return nil, err
	}
	due, err := r.tx.ListDueWaits(ctx, r.repo.ID, r.now)
	if err != nil {
		return nil, err
	}
	var drafts []int64
	if r.settings.Draft == config.UntilGreen {
		if drafts, err = r.tx.ListDrafts(ctx, r.repo.ID); err != nil {
			return nil, err
		}
	}
	paused, err := r.paused(ctx)
	ids = slices.Concat(r.waits, rewritten, looking, landing, due, drafts, paused)
	for _, stop := range taken {
		ids = append(ids, stop.ItemID)
	}
	for id := range r.facts {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// paused returns the items that people have paused.
func (r *reading) paused(ctx context.Context) (ids []int64, err error) {
	if len(r.pauses) == 0 {
		return nil, nil
	}
	rows, err := r.tx.ListOpenItems(ctx, r.repo.ID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		pull, _, err := r.tx.FindPullOfItem(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		if r.pauseOf(row, pull) != nil {
			ids = append(ids, row.ID)
		}
	}
	return ids, nil
}

// pauseOf returns the oldest open pause of an item that is open or has a roadmap; nil if there is none.
func (r *reading) pauseOf(row work.Item, pull work.PullRequest) *work.Pause {
	at := slices.IndexFunc(r.pauses, func(p work.Pause) bool { return p.Number == row.Number || p.Number == pull.Number })
	leads := slices.ContainsFunc(r.roadmaps, func(m roadmap.Record) bool { return m.Number == row.Number })
	if at < 0 || !row.State.Open() && !leads {
		return nil
	}
	return &r.pauses[at]
}

// untracked returns the issues and pull requests that have pending commands but no work item.
func (r *reading) untracked(ctx context.Context) ([]known.Item, error) {
	byNumber := map[int][]work.Event{}
	for _, e := range r.facts[0] {
		if e.Kind == work.EventCommand {
			byNumber[e.Number] = append(byNumber[e.Number], e)
		}
	}
	var found []known.Item
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		i := known.Item{Item: work.Item{RepoID: r.repo.ID, Number: n}, Events: byNumber[n]}
		if err := cmp.Or(r.notices(ctx, &i), r.restarted(ctx, &i)); err != nil {
			return nil, err
		}
		found = append(found, i)
	}
	return found, nil
}

// served reads the newest turns of both queues for the round robin.
func (r *reading) served(ctx context.Context) (s known.RoundRobin, err error) {
	starts := slices.DeleteFunc(work.Kinds(), func(k work.Kind) bool { return !k.Start() })
	others := slices.DeleteFunc(work.Kinds(), work.Kind.Start)
	if s.Fresh, err = r.tx.LastTurn(ctx, r.repo.ID, starts...); err != nil {
		return s, err
	}
	s.Feedback, err = r.tx.LastTurn(ctx, r.repo.ID, others...)
	return s, err
}

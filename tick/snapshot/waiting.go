package snapshot

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// mostWaiting is about how much of what people wrote is read of a repository for a plan. Where
// more waits the first of each item are enough to tell whether a turn is due; the rest of what
// it takes is read of those items alone for which one is.
const mostWaiting = 4000

// waiting reads what waits: for a pass of what people wrote as much as a turn takes, or less
// where it waits on very many items, and how much there is besides; for people all of it.
func (r *reading) waiting(ctx context.Context, atOnce int, w which) error {
	if w != asking {
		r.most = math.MaxInt32
	}
	r.each = r.most
	items, err := r.tx.CountSaying(ctx, r.repo.ID)
	if err != nil {
		return err
	}
	if w == asking && items > 0 {
		r.each = max(1, min(r.most, atOnce/items))
	}
	if r.each < r.most {
		ids, err := r.tx.ListFromIssues(ctx, r.repo.ID)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r.fromIssue[id] = true
		}
	}
	if r.events, err = r.tx.ListWaiting(ctx, r.repo.ID, r.each); err != nil {
		return err
	}
	var full []int64
	for id, events := range r.events {
		if countSaid(events) == r.each {
			full = append(full, id)
		}
	}
	if len(full) == 0 {
		return nil
	}
	slices.Sort(full)
	counted, err := r.tx.CountWaiting(ctx, r.repo.ID, full)
	for _, c := range counted {
		if c.Count > r.each {
			r.more[c.Item] = known.More{Count: c.Count - r.each, Newest: c.Newest}
		}
	}
	return err
}

// cut reports whether less was read of what people wrote than a turn takes.
func (r *reading) cut(i known.Item) bool {
	return i.More.Count > 0 && countSaid(i.Events) < r.most
}

// plain reports whether nothing but comments on its open pull request may ask for a turn: the
// first of them then tell whether one is due.
func (r *reading) plain(i known.Item) bool {
	return i.State == work.StateAwaitingFeedback && i.Pull.State == work.PullOpen && i.Pause == nil && !r.fromIssue[i.ID] && countSaid(i.Events) == len(i.Events)
}

// widen reads as much as a turn takes of what people wrote.
func (r *reading) widen(ctx context.Context, i *known.Item) error {
	said, err := r.tx.ListFirstSaid(ctx, r.repo.ID, i.ID, r.most)
	if err != nil {
		return err
	}
	if i.More.Count -= len(said) - countSaid(i.Events); i.More.Count <= 0 {
		i.More = known.More{}
	}
	facts := known.Without(i.Events, func(e work.Event) bool { return e.Kind.Said() })
	i.Events = slices.SortedFunc(slices.Values(slices.Concat(facts, said)), func(a, b work.Event) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// Widen reads what people wrote on items for which turns are planned, as much as a turn takes,
// where less was read of it. It reports whether there was such an item: the plan is to be made
// again.
func (p *Loader) Widen(ctx context.Context, r *env.Repo, v known.Snapshot, items map[int64]bool) (widened bool, err error) {
	from := &reading{repo: r.Row, most: v.Policy.MaxEvents}
	narrow := func(i known.Item) bool { return items[i.ID] && from.cut(i) }
	if !slices.ContainsFunc(v.Items, narrow) {
		return false, nil
	}
	return true, p.Store.View(ctx, func(tx *store.Tx) error {
		from.tx = tx
		for n := range v.Items {
			i := &v.Items[n]
			if !narrow(*i) {
				continue
			}
			if err := from.widen(ctx, i); err != nil {
				return err
			}
			if err := from.notices(ctx, i); err != nil {
				return err
			}
			if looksBack(*i) {
				if err := from.past(ctx, i); err != nil {
					return err
				}
			}
		}
		return from.eyes(ctx, v.Items)
	})
}

func countSaid(events []work.Event) (n int) {
	for _, e := range events {
		if e.Kind.Said() {
			n++
		}
	}
	return n
}

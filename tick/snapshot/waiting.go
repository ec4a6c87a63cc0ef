package snapshot

import (
	"context"
	"math"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// mostWaiting is about how many comments of a repository are read for a plan. If more wait, the
// first of each item are enough to tell whether a turn is due; the rest that a turn takes is read
// only for items with a due turn.
const mostWaiting = 4000

// waiting loads pending events other than comments and the ids of items with pending comments. It
// sets how many comments per item are loaded later: all for display; for planning one turn's worth
// at most, fewer if many items have some.
func (r *reading) waiting(ctx context.Context, atOnce int, w which) (err error) {
	if w != asking {
		r.most = math.MaxInt32
	}
	r.each = r.most
	if r.facts, err = r.tx.ListPendingFacts(ctx, r.repo.ID); err != nil {
		return err
	}
	if r.waits, err = r.tx.ListItemsWithComments(ctx, r.repo.ID); err != nil {
		return err
	}
	if w == asking && len(r.waits) > 0 {
		r.each = max(1, min(r.most, atOnce/len(r.waits)))
	}
	if r.each == r.most {
		return nil
	}
	ids, err := r.tx.ListItemsWithIssueComments(ctx, r.repo.ID)
	for _, id := range ids {
		r.fromIssue[id] = true
	}
	return err
}

// written reads the pending comments of some items.
func (r *reading) written(ctx context.Context, items []int64) (err error) {
	items = slices.DeleteFunc(slices.Clone(items), func(id int64) bool { return !slices.Contains(r.waits, id) }) // each of the others would cost a statement
	if r.events, err = r.tx.ListPendingCommentsOf(ctx, r.repo.ID, items, r.each); err != nil {
		return err
	}
	var full []int64
	for id, events := range r.events {
		if len(events) == r.each {
			full = append(full, id)
		}
	}
	r.more = map[int64]known.More{}
	if len(full) == 0 {
		return nil
	}
	slices.Sort(full)
	counted, err := r.tx.CountPendingComments(ctx, r.repo.ID, full)
	for _, c := range counted {
		if c.Count > r.each {
			r.more[c.Item] = known.More{Count: c.Count - r.each, Newest: c.Newest}
		}
	}
	return err
}

// cut reports whether fewer comments were read than a turn takes.
func (r *reading) cut(i known.Item) bool {
	return i.More.Count > 0 && countSaid(i.Events) < r.most
}

// plain reports whether only comments on the open pull request can make a turn due. Then the first
// of them tell whether one is, unless threads are resolved, or one of the first was edited after
// later ones were written.
func (r *reading) plain(i known.Item) bool {
	return i.State == work.StateAwaitingFeedback && i.Pull.State == work.PullOpen && i.Pause == nil && !r.fromIssue[i.ID] && countSaid(i.Events) == len(i.Events) &&
		len(i.Resolved) == 0 && !slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.UpdatedAt.After(e.CreatedAt) })
}

// loadTurnComments reads as many comments as one turn takes.
func (r *reading) loadTurnComments(ctx context.Context, i *known.Item) error {
	said, err := r.tx.ListFirstPendingComments(ctx, r.repo.ID, i.ID, r.most)
	if err != nil {
		return err
	}
	if i.More.Count -= len(said) - countSaid(i.Events); i.More.Count <= 0 {
		i.More = known.More{}
	}
	i.Events = byAge(known.Without(i.Events, func(e work.Event) bool { return e.Kind.IsComment() }), said)
	return nil
}

// loadAllTurnComments calls loadTurnComments for the items with planned turns of which less was
// read. It reports whether there was one: then the plan must be made again.
func (r *reading) loadAllTurnComments(ctx context.Context, items []known.Item, planned map[int64]bool) (again bool, err error) {
	for n := range items {
		i := &items[n]
		if !planned[i.ID] || !r.cut(*i) {
			continue
		}
		again = true
		if err := r.loadTurnComments(ctx, i); err != nil {
			return again, err
		}
		if err := r.notices(ctx, i); err != nil {
			return again, err
		}
		if needsPast(*i) {
			if err := r.past(ctx, i); err != nil {
				return again, err
			}
		}
	}
	return again, nil
}

func countSaid(events []work.Event) (n int) {
	for _, e := range events {
		if e.Kind.IsComment() {
			n++
		}
	}
	return n
}

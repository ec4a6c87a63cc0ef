package snapshot

import (
	"cmp"
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// one reads one item whole.
func (r *reading) one(ctx context.Context, row work.Item) (known.Item, error) {
	w, err := r.written(ctx, []int64{row.ID})
	if err != nil {
		return known.Item{Item: row}, err
	}
	return r.item(ctx, row, w)
}

// item reads an item whole, but for what people wrote about it.
func (r *reading) item(ctx context.Context, row work.Item, w writing) (known.Item, error) {
	i := known.Item{Item: row, Events: byAge(r.facts[row.ID], w.events[row.ID]), More: w.more[row.ID], Turn: r.turns[row.ID]}
	for _, part := range []func(context.Context, *known.Item) error{r.pull, r.stop, r.spent, r.dependencies, r.notices, r.closings, r.reviews, r.landing} {
		if err := part(ctx, &i); err != nil {
			return i, err
		}
	}
	if i.More.Count > 0 && over(i) {
		if err := r.whole(ctx, &i); err != nil {
			return i, err
		}
	}
	if looksBack(i) {
		return i, r.past(ctx, &i)
	}
	return i, nil
}

// byAge puts facts among what people wrote, oldest first.
func byAge(facts, written []work.Event) []work.Event {
	if len(facts) == 0 || len(written) == 0 {
		return append(facts, written...)
	}
	all := slices.Concat(facts, written)
	slices.SortFunc(all, func(a, b work.Event) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return all
}

// over reports whether the item or its pull request has ended: nothing that waits is for a
// turn, and all of it is finished at once.
func over(i known.Item) bool {
	return !i.State.Open() || i.HasPull() && i.Pull.State != work.PullOpen
}

// whole reads all that waits.
func (r *reading) whole(ctx context.Context, i *known.Item) error {
	all, err := r.tx.ListItemEvents(ctx, i.ID)
	i.More = known.More{}
	i.Events = slices.DeleteFunc(all, func(e work.Event) bool { return e.TurnID != 0 || !e.ProcessedAt.IsZero() })
	return err
}

// pull reads the item's pull request, and who has either of them.
func (r *reading) pull(ctx context.Context, i *known.Item) (err error) {
	if i.Pull, _, err = r.tx.FindPullOfItem(ctx, i.ID); err != nil {
		return err
	}
	i.Pause = r.pauseOf(i.Item, i.Pull)
	if !i.HasPull() {
		return nil
	}
	threads, err := r.tx.ListThreads(ctx, i.Pull.ID)
	for _, t := range threads {
		if t.Resolved {
			i.Resolved = append(i.Resolved, t.Top)
		}
	}
	return err
}

// stop reads why the item is stopped, and what it waits for on its issue.
func (r *reading) stop(ctx context.Context, i *known.Item) (err error) {
	if i.Stop, _, err = r.tx.FindStop(ctx, i.ID); err != nil {
		return err
	}
	f, waits, err := r.tx.FindFollowup(ctx, i.ID)
	if waits && !i.HasPull() {
		i.Followup = &f
	}
	return err
}

// spent reads what the item's turns took, and what those were to mend that may go
// round in circles.
func (r *reading) spent(ctx context.Context, i *known.Item) (err error) {
	if i.Spent, err = r.tx.ListSpent(ctx, i.ID); err != nil {
		return err
	}
	if !slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind == work.EventCheck }) {
		return nil
	}
	i.Findings = map[int64][]string{}
	for n, s := range slices.Backward(i.Spent) {
		if s.Kind != work.KindFix || s.Reviewer != "" || len(i.Spent)-n > spending.MostMends {
			break
		}
		events, err := r.tx.ListTurnEvents(ctx, s.Turn)
		if err != nil {
			return err
		}
		i.Findings[s.Turn] = work.Findings(events)
	}
	return nil
}

// dependencies reads what an implementation that is to begin waits for.
func (r *reading) dependencies(ctx context.Context, i *known.Item) error {
	if i.State != work.StateReady {
		return nil
	}
	i.Dependencies = map[string]work.DependencyState{}
	seen, err := r.tx.ListDependencies(ctx, i.ID)
	for _, d := range seen {
		i.Dependencies[d.Ref] = d.State
	}
	return err
}

package snapshot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// together is how many items the same queries read.
const together = 250

// items reads whole items by their ids, oldest first.
func (r *reading) items(ctx context.Context, ids []int64) ([]known.Item, error) {
	all := make([]known.Item, 0, len(ids)) // items are large: allocate all at once
	for some := range slices.Chunk(ids, together) {
		rows, err := r.gather(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			item, err := r.item(ctx, row)
			if err != nil {
				return nil, err
			}
			all = append(all, item)
		}
	}
	return all, nil
}

// gather reads for several items what one query gives for all, and which rows each has, so that the
// others are not queried.
func (r *reading) gather(ctx context.Context, ids []int64) (rows []work.Item, err error) {
	if rows, err = r.tx.GetItems(ctx, ids); err != nil {
		return nil, err
	}
	if err := r.written(ctx, ids); err != nil {
		return nil, err
	}
	if r.pulls, err = r.tx.FindPullsOfItems(ctx, ids); err != nil {
		return nil, err
	}
	if r.related, err = r.tx.ListRelatedRows(ctx, ids); err != nil {
		return nil, err
	}
	pulls := make([]int64, 0, len(r.pulls))
	for _, p := range r.pulls {
		pulls = append(pulls, p.ID)
	}
	slices.Sort(pulls) // a View asks the same again
	if r.stored, err = r.tx.ListReviews(ctx, pulls); err != nil {
		return nil, err
	}
	var waiting []int64
	for _, row := range rows {
		if _, begun := r.pulls[row.ID]; depends(row) && !begun {
			waiting = append(waiting, row.ID)
		}
	}
	r.needs, err = r.tx.ListDependenciesOf(ctx, waiting)
	return rows, err
}

// item builds an item from what gather read.
func (r *reading) item(ctx context.Context, row work.Item) (known.Item, error) {
	i := known.Item{Item: row, Events: byAge(r.facts[row.ID], r.events[row.ID]), Turn: r.turns[row.ID], Pull: r.pulls[row.ID]}
	i.Pause = r.pauseOf(i.Item, i.Pull)
	if err := r.threads(ctx, &i); err != nil {
		return i, err
	}
	for _, part := range []func(context.Context, *known.Item) error{r.stop, r.spent, r.dependencies, r.seat, r.lead, r.faults, r.notices, r.closings, r.proposals, r.pastPauses, r.reviews, r.landing, r.untilGreen} {
		if err := part(ctx, &i); err != nil {
			return i, err
		}
	}
	if !i.State.Open() { // its pause lasts on the issue, which a label or a command may start again
		i.Pauses = slices.DeleteFunc(slices.Clone(r.pauses), func(p work.Pause) bool { return p.Number != i.Number })
	}
	if needsPast(i) {
		return i, r.past(ctx, &i)
	}
	return i, nil
}

// byAge merges facts and comments, oldest first.
func byAge(facts, written []work.Event) []work.Event {
	if len(facts) == 0 {
		return written
	}
	return sorted.Values(slices.Values(slices.Concat(facts, written)), func(a, b work.Event) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// threads reads which review threads of the pull request are resolved.
func (r *reading) threads(ctx context.Context, i *known.Item) (err error) {
	if !r.related[i.ID].Threads {
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
	if r.related[i.ID].Stop {
		if i.Stop, _, err = r.tx.FindStop(ctx, i.ID); err != nil {
			return err
		}
	}
	if i.HasPull() || !r.related[i.ID].Followup {
		return nil
	}
	f, waits, err := r.tx.FindFollowup(ctx, i.ID)
	if waits {
		i.Followup = &f
	}
	return err
}

// spent reads the costs of the item's turns, and what its last fix turns were to fix, if checks are
// red: fixes may go round in circles.
func (r *reading) spent(ctx context.Context, i *known.Item) (err error) {
	if !r.related[i.ID].Turns {
		return nil
	}
	if i.Spent, err = r.tx.ListSpent(ctx, i.ID); err != nil {
		return err
	}
	if !slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind == work.EventCheck }) {
		return nil
	}
	i.Findings = map[int64][]string{}
	for n, s := range slices.Backward(i.Spent) {
		if s.Kind != work.KindFix || s.Reviewer != "" || len(i.Spent)-n > spending.MaxFixes {
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

// dependencies adds what an item that is ready to begin waits for.
func (r *reading) dependencies(_ context.Context, i *known.Item) error {
	if !depends(i.Item) || i.HasPull() {
		return nil
	}
	i.Dependencies = map[string]work.DependencyState{}
	for _, ref := range i.DependsOn {
		i.Dependencies[ref] = work.DependencyOpen // until it is read
	}
	for _, d := range r.needs[i.ID] {
		for ref := range i.Dependencies {
			if strings.EqualFold(ref, d.Ref) {
				delete(i.Dependencies, ref)
			}
		}
		i.Dependencies[d.Ref] = cmp.Or(d.State, work.DependencyOpen) // empty: it could not be read
	}
	return nil
}

// depends reports whether an item may wait for issues.
func depends(i work.Item) bool { return len(i.DependsOn) > 0 || !i.Blocked.LookAt.IsZero() }

// asks reports whether a command with the verb waits.
func asks(i known.Item, verb work.Verb) bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool {
		cmd, _ := work.ParseCommand(e.Body)
		return e.Kind == work.EventCommand && cmd.Verb == verb
	})
}

// proposals reads the follow-ups proposed on the item's issue if a command asks for one.
func (r *reading) proposals(ctx context.Context, i *known.Item) (err error) {
	if asks(*i, work.VerbFollowup) {
		i.Proposals, err = r.tx.ListProposals(ctx, i.RepoID, i.Number)
	}
	return err
}

// pastPauses reads the pauses of the item if a command asks for one.
func (r *reading) pastPauses(ctx context.Context, i *known.Item) error {
	if !asks(*i, work.VerbPause) && !asks(*i, work.VerbHold) { // a hold pauses a roadmap
		return nil
	}
	for _, n := range []int{i.Number, i.Pull.Number} {
		pauses, err := r.tx.ListPauses(ctx, i.RepoID, n)
		if err != nil {
			return err
		}
		i.Pauses = append(i.Pauses, pauses...)
	}
	return nil
}

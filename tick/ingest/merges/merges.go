package merges

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// mostBoxes is how many merge boxes a pass reads of one repository: each is a request.
const mostBoxes = 20

// Merges reads the merge boxes of the pull requests that may be merged.
type Merges struct {
	*batch.Batch
	cut   bool // not all of them are read in this pass
	boxes []read
}

// read is a merge box that was read.
type read struct {
	pull work.PullRequest
	was  merging.Box
	box  merging.Box
	fell *fall // out of its base's merge queue; nil: it did not
}

// New takes merge boxes into a batch.
func New(b *batch.Batch) *Merges { return &Merges{Batch: b} }

// candidate is a pull request that may be merged.
type candidate struct {
	pull   work.PullRequest
	was    merging.Box // as it was read before
	at     time.Time   // when
	policy merging.Policy
	queued time.Time // when its head was last seen in the queue into which we put it; zero: we did not, took it out, or that is over
	half   bool      // its commit is on the base, which a person has to see to
}

// Read reads the box of each pull request that may be merged afresh, whatever else is new
// of it: in a pass that merges, no gate is as an earlier pass saw it. Where nothing is
// merged by us it costs nothing.
func (h *Merges) Read(ctx context.Context) error {
	all, err := h.candidates(ctx)
	if err != nil {
		return err
	}
	from := &env.BoxReader{R: h.R}
	for _, c := range all {
		err := h.readOne(ctx, c, from)
		if batch.OutOfTime(err) {
			return err
		}
		if github.IsStatus(err, 403) { // a token that may not see all of it reads everything else
			err = errors.New(err.Error())
		}
		if err := h.DeferOne(err, "read the merge box of #%d", c.pull.Number); err != nil {
			return err
		}
	}
	return nil
}

// candidates are those whose boxes this pass reads, by number; of too many, those that were
// not read for the longest time.
func (h *Merges) candidates(ctx context.Context) (all []candidate, err error) {
	merges := func(f work.Flow) bool { return h.R.Settings.MergePolicy(f).Auto }
	if !slices.ContainsFunc(work.Flows(), merges) {
		return nil, nil
	}
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		pulls, err := tx.ListMergeCandidates(ctx, h.Repo.ID)
		if err != nil {
			return err
		}
		times, err := tx.ListBoxReads(ctx, h.Repo.ID)
		if err != nil {
			return err
		}
		for _, pull := range pulls {
			if now, ok := h.PullRows[pull.Number]; ok {
				now.ID, now.ItemID = pull.ID, pull.ItemID
				pull = now
			}
			c := candidate{pull: pull, at: times[pull.ID]}
			ok, err := h.fill(ctx, tx, &c)
			if err != nil {
				return err
			}
			if ok {
				all = append(all, c)
			}
		}
		return nil
	})
	if h.cut = len(all) > mostBoxes; h.cut {
		slices.SortStableFunc(all, func(a, b candidate) int { return a.at.Compare(b.at) })
		all = all[:mostBoxes]
	}
	return all, err
}

// fill reads what is known of a candidate; false where it is none.
func (h *Merges) fill(ctx context.Context, tx *store.Tx, c *candidate) (bool, error) {
	item, err := tx.GetItem(ctx, c.pull.ItemID)
	if err != nil {
		return false, err
	}
	if c.policy = h.R.Settings.MergePolicy(item.Flow); !c.policy.Auto || c.pull.State != work.PullOpen {
		return false, nil
	}
	if c.was, _, err = tx.GetBox(ctx, c.pull.ID); err != nil || c.was.Head == "" {
		return err == nil, err
	}
	a, sent, err := tx.GetAction(ctx, work.EnqueueToken(h.Repo.Key(), c.pull.Number, c.was.Head))
	if err != nil || !sent || a.State != work.ActionApplied {
		return err == nil, err
	}
	out, taken, err := tx.GetAction(ctx, work.DequeueToken(h.Repo.Key(), c.pull.Number, c.was.Head, a.Renewals))
	if err != nil || taken && (out.State == work.ActionSent || out.State == work.ActionApplied) {
		return err == nil, err
	}
	m, _, err := tx.FindMerge(ctx, c.pull.ID, c.was.Head)
	if m.Stage != merging.Void && m.Stage != merging.Landed {
		c.queued, c.half = a.SeenAt, m.Stage == merging.Half
	}
	return err == nil, err
}

// readOne reads one box.
func (h *Merges) readOne(ctx context.Context, c candidate, from *env.BoxReader) error {
	box, err := from.Read(ctx, c.pull, c.policy, c.was)
	if err != nil {
		return err
	}
	was := c.was
	before, open, err := h.Open.Whole(ctx, c.pull.Number)
	if err != nil {
		return err
	}
	if open && was.Head != box.Head && before.HeadOID == box.Head {
		was = merging.Box{Head: box.Head, Onto: before.BaseOID} // as it was when its reviewers looked
	}
	one := read{pull: c.pull, was: c.was, box: box.Pinned(was)}
	if one.fell, err = h.fallen(ctx, c, &one.box); err != nil {
		return err
	}
	h.boxes = append(h.boxes, one)
	return nil
}

// Store stores what was read, once pull requests have their rows.
func (h *Merges) Store(ctx context.Context, tx *store.Tx, now time.Time) error {
	for _, one := range h.boxes {
		if err := tx.PutBox(ctx, one.pull.ID, one.box); err != nil {
			return err
		}
		if h.cut {
			if err := tx.MarkBoxRead(ctx, one.pull.ID, now); err != nil {
				return err
			}
		}
		if one.was.Forbids() && !one.box.Forbids() {
			if err := permitted(ctx, tx, one.pull); err != nil {
				return err
			}
		}
		if err := h.adopt(ctx, tx, one, now); err != nil {
			return err
		}
		if one.fell != nil {
			if err := one.fell.store(ctx, tx, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// permitted lifts what was refused for want of a permission that is there again.
func permitted(ctx context.Context, tx *store.Tx, pull work.PullRequest) error {
	head, why, err := tx.GetMergeTrouble(ctx, pull.ID)
	if err != nil || why.Kind != work.WhyMergePermission {
		return err
	}
	return tx.SetMergeTrouble(ctx, pull.ID, head, work.Reason{})
}

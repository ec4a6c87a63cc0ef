package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// mergeBox is a merge box that was read.
type mergeBox struct {
	mergeCandidate
	box  merging.Box
	left *queueExit // set if it left its base's merge queue
}

// mergeCandidate is a pull request that may be merged.
type mergeCandidate struct {
	pull   work.PullRequest
	issue  int
	given  []review.Verdict
	held   bool        // by its label
	paused bool        // by its label
	was    merging.Box // as last read
	policy merging.Policy
	queued time.Time // when its head was last seen in the queue where we put it; zero if we did not, took it out, or it has ended
	half   bool      // its commit is on the base but the pull request is open: a person must act
}

// readMergeBoxes reads the merge box of each pull request that may be merged, in every pass: gates
// are not decided by an earlier read. Without auto_merge it reads nothing.
func (h *reading) readMergeBoxes(ctx context.Context) error {
	if !slices.ContainsFunc(work.Flows(), func(f work.Flow) bool { return h.repo.Settings.MergePolicy(f).Auto }) {
		return nil
	}
	all := stored(ctx, h, h.mergeCandidates)
	asked := make([]env.BoxOf, len(all))
	for i, c := range all {
		asked[i] = env.BoxOf{Pull: c.pull, Issue: c.issue, Policy: c.policy, Was: c.was}
	}
	for i, read := range h.readBoxes(ctx, h.repo, asked) {
		c, err := all[i], read.Err
		if err == nil {
			err = h.takeMergeBox(ctx, c, read.Box)
		}
		if err := h.deferOne(err, "read the merge box of #%d", c.pull.Number); err != nil {
			return err
		}
	}
	return nil
}

// mergeCandidates returns the pull requests whose boxes this pass reads, by number.
func (h *reading) mergeCandidates(ctx context.Context, tx *store.Tx) (all []mergeCandidate, err error) {
	pulls, err := tx.ListMergeCandidates(ctx, h.row.ID)
	for _, pull := range pulls {
		c, ok := mergeCandidate{pull: pull}, false
		if ok, err = h.fillCandidate(ctx, tx, &c); err != nil {
			return nil, err
		}
		if ok {
			all = append(all, c)
		}
	}
	return all, err
}

// fillCandidate reads what is stored about a candidate; false if it is none.
func (h *reading) fillCandidate(ctx context.Context, tx *store.Tx, c *mergeCandidate) (bool, error) {
	item, err := tx.GetItem(ctx, c.pull.ItemID)
	if err != nil {
		return false, err
	}
	c.issue = item.Number
	if c.policy = h.repo.Settings.MergePolicy(item.Flow); !c.policy.Auto || c.pull.State != work.PullOpen {
		return false, nil
	}
	stored, err := tx.GetReviews(ctx, c.pull.ID)
	if err != nil {
		return false, err
	}
	c.given, c.held = stored.Verdicts, stored.Held != nil && stored.Held.Labelled
	pauses, err := tx.ListPauses(ctx, h.row.ID, c.pull.Number)
	if err != nil {
		return false, err
	}
	c.paused = slices.ContainsFunc(pauses, func(p work.Pause) bool { return p.Open() && p.LabelID != 0 })
	if c.was, _, err = tx.GetBox(ctx, c.pull.ID); err != nil || c.was.Head == "" {
		return err == nil, err
	}
	a, sent, err := tx.GetAction(ctx, work.EnqueueToken(h.row.Key(), c.pull.Number, c.was.Head))
	if err != nil || !sent || a.State != work.ActionApplied {
		return err == nil, err
	}
	out, taken, err := tx.GetAction(ctx, work.DequeueToken(h.row.Key(), c.pull.Number, c.was.Head, a.Renewals))
	if err != nil || taken && (out.State == work.ActionSent || out.State == work.ActionApplied) {
		return err == nil, err
	}
	m, _, err := tx.FindMerge(ctx, c.pull.ID, c.was.Head)
	if m.Stage != merging.Void && m.Stage != merging.Landed {
		c.queued, c.half = a.SeenAt, m.Stage == merging.Half
	}
	return err == nil, err
}

func (h *reading) takeMergeBox(ctx context.Context, c mergeCandidate, box merging.Box) (err error) {
	if c.was.Head == box.Head {
		box.Found = c.was.Found
	}
	one := mergeBox{mergeCandidate: c, box: box}
	if one.left, err = h.leftQueue(ctx, c, &one.box); err != nil {
		return err
	}
	h.guarded = h.guarded || box.Decision == "REVIEW_REQUIRED" || box.Rules.LastPush
	h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
		return h.storeMergeBox(ctx, tx, one, now)
	})
	return h.hearReviews(ctx, c, box)
}

// unheardFor is the age of a pull request's details at which they are read again because its merge
// box shows something else. They are sooner if the pull request changed right before they were read.
const unheardFor = 10 * time.Minute

// hearReviews asks what those may do whose reviews GitHub shows. It reads the details again if an
// approval of this head or a request for changes is in no verdict (nobody may have counted it when
// it came, as with auto_merge off), or if a label that holds or pauses is gone since the
// second in which they were read.
func (h *reading) hearReviews(ctx context.Context, c mergeCandidate, box merging.Box) error {
	labels := h.repo.Settings.Labels
	unheard := c.held && !work.HasLabel(box.Labels, labels.Hold) || c.paused && !work.HasLabel(box.Labels, labels.Ignore)
	for _, o := range box.Opinions() {
		counts := o.State == approved && o.Head == box.Head || o.State == changesRequested
		known := slices.ContainsFunc(c.given, func(v review.Verdict) bool { return v.ReviewID == o.ID })
		if !counts || known && o.State == approved || o.By.Bot || o.By.ID == c.pull.Author.ID || slices.Contains(h.accounts.Writers(h.repo.Name.Host), o.By.ID) {
			continue
		}
		may, err := h.permissions.mayPush(ctx, o.By, o.At)
		if err != nil {
			return err
		}
		unheard = unheard || may && !known
	}
	settled := c.pull.DetailsAt.Sub(c.pull.UpdatedAt) > stampLag
	if !unheard || settled && h.now().Sub(c.pull.DetailsAt) < unheardFor {
		return nil
	}
	h.again(c.pull.Number)
	return nil
}

// statusInBox returns the commit status of the reviews in a merge box.
func statusInBox(box merging.Box) (s shownStatus) {
	words := map[merging.CheckState]string{merging.Green: "success", merging.Runs: "pending", merging.Red: "failure"}
	for _, c := range box.Checks {
		if strings.EqualFold(c.Name, review.StatusContext) {
			s = shownStatus{words[c.State], box.StatusText, box.StatusAt}
		}
	}
	return s
}

// storeMergeBox stores a box. A refusal of the merge for a missing permission ends once the permission is back.
func (h *reading) storeMergeBox(ctx context.Context, tx *store.Tx, one mergeBox, now time.Time) error {
	if err := tx.PutBox(ctx, one.pull.ID, one.box); err != nil {
		return err
	}
	if err := restoreStatus(ctx, h, tx, one.pull, statusInBox(one.box)); err != nil {
		return err
	}
	if one.was.Forbids() && !one.box.Forbids() {
		head, why, err := tx.GetMergeTrouble(ctx, one.pull.ID)
		if err == nil && why.Kind == work.WhyMergePermission {
			err = tx.SetMergeTrouble(ctx, one.pull.ID, head, work.Reason{})
		}
		if err != nil {
			return err
		}
	}
	if err := h.adoptQueued(ctx, tx, one, now); err != nil || one.left == nil {
		return err
	}
	return one.left.store(ctx, tx, one)
}

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

// mergeBox is a pull request that may be merged, and its merge box.
type mergeBox struct {
	pull   work.PullRequest
	issue  int
	given  []review.Verdict
	held   bool // by its label
	paused bool // by its label
	policy merging.Policy
	queued time.Time   // when its head was last seen in the queue where we put it; zero if we did not, took it out, or it has ended
	half   bool        // its commit is on the base but the pull request is open: a person must act
	was    merging.Box // as last read
	now    merging.Box
	left   *queueExit // set if it left its base's merge queue
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
		one, err := all[i], read.Err
		if one.now = read.Box; err == nil {
			err = h.takeMergeBox(ctx, one)
		}
		if err := h.deferOne(err, "read the merge box of #%d", one.pull.Number); err != nil {
			return err
		}
	}
	return nil
}

// mergeCandidates returns the pull requests whose boxes this pass reads, by number, with what is stored about them.
func (h *reading) mergeCandidates(ctx context.Context, tx *store.Tx) (all []mergeBox, err error) {
	pulls, err := tx.ListMergeCandidates(ctx, h.row.ID)
	if err != nil {
		return nil, err
	}
	for _, pull := range pulls {
		item, err := tx.GetItem(ctx, pull.ItemID)
		if err != nil {
			return nil, err
		}
		c := mergeBox{pull: pull, issue: item.Number, policy: h.repo.Settings.MergePolicy(item.Flow)}
		if !c.policy.Auto || pull.State != work.PullOpen {
			continue
		}
		reviews, err := tx.GetReviews(ctx, pull.ID)
		if err != nil {
			return nil, err
		}
		c.given, c.held = reviews.Verdicts, reviews.Held != nil && reviews.Held.Labelled
		pauses, err := tx.ListPauses(ctx, h.row.ID, pull.Number)
		if err != nil {
			return nil, err
		}
		c.paused = slices.ContainsFunc(pauses, func(p work.Pause) bool { return p.Open() && p.LabelID != 0 })
		if c.was, _, err = tx.GetBox(ctx, pull.ID); err == nil && c.was.Head != "" {
			err = h.loadQueued(ctx, tx, &c)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// takeMergeBox notes a merge box. It has the details read again if an approval of this head or a request for changes
// is in no verdict (nobody may have counted it when it came, as with auto_merge off), or if a label that holds or
// pauses is gone since the second in which they were read. It asks what those may do whose reviews GitHub shows.
func (h *reading) takeMergeBox(ctx context.Context, one mergeBox) error {
	if one.was.Head == one.now.Head && one.was.Found.Kind != work.WhyMergeHeld { // whether it is held, its labels say
		one.now.Found = one.was.Found
	}
	if err := h.findQueueExit(ctx, &one); err != nil {
		return err
	}
	h.guarded = h.guarded || one.now.Decision == "REVIEW_REQUIRED" || one.now.Rules.LastPush
	h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
		return h.storeMergeBox(ctx, tx, one, now)
	})
	labels := h.repo.Settings.Labels
	unheard := one.held && !work.HasLabel(one.now.Labels, labels.Hold) || one.paused && !work.HasLabel(one.now.Labels, labels.Ignore)
	for _, o := range one.now.Opinions() {
		counts := o.State == approved && o.Head == one.now.Head || o.State == changesRequested
		known := slices.ContainsFunc(one.given, func(v review.Verdict) bool { return v.ReviewID == o.ID })
		if !counts || known && o.State == approved || o.By.Bot || o.By.ID == one.pull.Author.ID || slices.Contains(h.accounts.Writers(h.repo.Name.Host), o.By.ID) {
			continue
		}
		may, err := h.mayPush(ctx, o.By, o.At)
		if err != nil {
			return err
		}
		unheard = unheard || may && !known
	}
	settled := one.pull.DetailsAt.Sub(one.pull.UpdatedAt) > stampLag
	if unheard && (!settled || h.now().Sub(one.pull.DetailsAt) >= unheardFor) {
		h.again(one.pull.Number)
	}
	return nil
}

// unheardFor is the age of a pull request's details at which they are read again because its merge
// box shows something else. They are sooner if the pull request changed right before they were read.
const unheardFor = 10 * time.Minute

// storeMergeBox stores a box. A refusal of the merge for a missing permission ends once the permission is back.
func (h *reading) storeMergeBox(ctx context.Context, tx *store.Tx, one mergeBox, now time.Time) error {
	if err := tx.PutBox(ctx, one.pull.ID, one.now); err != nil {
		return err
	}
	var status shownStatus
	words := map[merging.CheckState]string{merging.Green: "success", merging.Runs: "pending", merging.Red: "failure"}
	for _, c := range one.now.Checks {
		if strings.EqualFold(c.Name, review.StatusContext) {
			status = shownStatus{words[c.State], one.now.StatusText, one.now.StatusAt}
		}
	}
	if err := h.restoreStatus(ctx, tx, one.pull, status); err != nil {
		return err
	}
	if one.was.Forbids() && !one.now.Forbids() {
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
	return storeQueueExit(ctx, tx, one)
}

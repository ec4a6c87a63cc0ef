package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// queueExit is that a pull request left its base's merge queue without being merged.
type queueExit struct{ red []string }

// leftQueue finds out whether a pull request that we queued is in the queue no more, at the
// same head. Between leaving the queue and being merged GitHub shows it just so for a
// moment: it has to be so for a while, and its base must not have it. What is red of its
// merge group is feedback to its author: a queue tests the change together with the base,
// and the head's own checks are green.
func (h *reading) leftQueue(ctx context.Context, c mergeCandidate, now *merging.Box) (*queueExit, error) {
	if now.State != work.PullOpen || now.Head != c.was.Head || c.queued.IsZero() {
		return nil, nil
	}
	if now.Queue.Group == "" && (!now.Queue.In || c.was.Queue.In) {
		now.Queue.Group = c.was.Queue.Group // GitHub forgets it before the entry goes
	}
	if now.Queue.In {
		return nil, nil
	}
	if now.Queue.Left = c.was.Queue.Left; now.Queue.Left.Before(c.queued) {
		now.Queue.Left = h.now()
	}
	if c.half || now.Queue.Left.Add(h.env.Config.Runtime.SettleAfter).After(h.now()) {
		return nil, nil
	}
	if h.env.Preflight != nil { // reading looks for no git otherwise
		if err := h.env.Preflight(ctx); err != nil {
			return nil, err
		}
	}
	if commit, err := h.repo.OnBase(ctx, c.pull.Number, now.Head, now.Base); err != nil || commit != "" {
		return nil, err // half merged: whoever merges sees to that
	}
	f := &queueExit{}
	if c.was.Queue.Group == "" {
		return f, nil
	}
	checks, _, err := h.repo.GitHub.CommitChecks(ctx, h.row.Current, c.was.Queue.Group)
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		if check.State == merging.Red {
			f.red = append(f.red, check.Name)
		}
	}
	if len(f.red) > 0 {
		h.add(candidate{event: f.event(c, *now), pull: true})
	}
	return f, nil
}

// adoptQueued takes up that we put a pull request into its base's queue, where no row says so: the
// database that had it is gone. What becomes of it is ours to see to all the same, also
// where it has fallen out since.
func (h *reading) adoptQueued(ctx context.Context, tx *store.Tx, one mergeBox, now time.Time) error {
	box := one.box
	ours, at := h.env.Accounts.Operators(h.repo.Name.Host), now
	switch out := box.Fell(ours); {
	case box.Head != one.pull.HeadOID:
		return nil
	case out != nil:
		at = out.At
	case !box.Queue.In, !slices.Contains(ours, box.Queue.By.ID):
		return nil
	}
	token := work.EnqueueToken(h.row.Key(), one.pull.Number, box.Head)
	if _, known, err := tx.GetAction(ctx, token); err != nil || known {
		return err
	}
	stage := merging.Queued
	if head, why, err := tx.GetMergeTrouble(ctx, one.pull.ID); err != nil {
		return err
	} else if head == box.Head && why.Kind == work.WhyMergeQueueOut { // the comment about it was found
		stage = merging.Void
	}
	_, err := tx.AddAction(ctx, work.Action{
		RepoID: h.row.ID, ItemID: one.pull.ItemID, Kind: work.ActionEnqueue, Need: work.NeedRequired, State: work.ActionApplied, Token: token,
		Number: one.pull.Number, Target: one.pull.NodeID, Head: box.Head, Base: box.Base, Why: "it stands in the queue, or did", PlannedAt: now, SeenAt: at,
	})
	if err != nil {
		return err
	}
	_, err = tx.PutMerge(ctx, merging.Merge{
		RepoID: h.row.ID, PullID: one.pull.ID, ItemID: one.pull.ItemID, Number: one.pull.Number, Head: box.Head, Base: box.Base, BaseOID: box.BaseTip,
		Stage: stage, At: at,
	})
	return err
}

// event is that checks of the merge group are red. Its body is as other red checks have it;
// which commit they are of is its state.
func (f queueExit) event(c mergeCandidate, now merging.Box) work.Event {
	lines := make([]string, len(f.red))
	for i, name := range f.red {
		lines[i] = "queue " + name
	}
	body := strings.Join(lines, "\n")
	hash := work.ContentHash(string(work.EventCheck), c.was.Queue.Group, body)
	return work.Event{
		ItemID: c.pull.ItemID, Number: c.pull.Number, Kind: work.EventCheck, Source: now.Head, Hash: hash, State: c.was.Queue.Group,
		Key: work.EventKey(c.pull.Number, work.EventCheck, now.Head, hash), URL: c.pull.URL, Body: body, CreatedAt: now.UpdatedAt, UpdatedAt: now.UpdatedAt,
	}
}

// store stores that nothing came of queueing the head: it is queued again where a person
// says so.
func (f queueExit) store(ctx context.Context, tx *store.Tx, one mergeBox) error {
	m, meant, err := tx.FindMerge(ctx, one.pull.ID, one.box.Head)
	if err == nil && meant && (m.Stage == merging.Queued || m.Stage == merging.Intended) {
		m.Stage = merging.Void
		_, err = tx.PutMerge(ctx, m)
	}
	if err != nil {
		return err
	}
	return tx.SetMergeTrouble(ctx, one.pull.ID, one.box.Head, work.Reason{Kind: work.WhyMergeQueueOut, Number: one.pull.Number, Names: f.red, Head: one.box.Head})
}

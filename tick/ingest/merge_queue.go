package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// queueExit is why a pull request left its base's merge queue unmerged.
type queueExit struct {
	red    []string // red checks of its merge group
	reason string   // what GitHub says, if no check is red
}

// loadQueued reads whether we put the head of a pull request into its base's merge queue, and left it there.
func (h *reading) loadQueued(ctx context.Context, tx *store.Tx, c *mergeBox) error {
	a, sent, err := tx.GetAction(ctx, work.EnqueueToken(h.row.Key(), c.pull.Number, c.was.Head))
	if err != nil || !sent || a.State != work.ActionApplied {
		return err
	}
	out, taken, err := tx.GetAction(ctx, work.DequeueToken(h.row.Key(), c.pull.Number, c.was.Head, a.Renewals))
	if err != nil || taken && (out.State == work.ActionSent || out.State == work.ActionApplied) {
		return err
	}
	m, _, err := tx.FindMerge(ctx, c.pull.ID, c.was.Head)
	if m.Stage != merging.Void && m.Stage != merging.Landed {
		c.queued, c.half = a.SeenAt, m.Stage == merging.Half
	}
	return err
}

// findQueueExit finds out whether a pull request that we queued has left the queue at the same head. For
// a moment between leaving the queue and being merged GitHub shows the same: so it must last for
// settle_after, and the base must not have the commit. Red checks of its merge group are feedback
// to its author: a queue tests the change together with the base, while the head's own checks are
// green.
func (h *reading) findQueueExit(ctx context.Context, one *mergeBox) error {
	now, was := &one.now, one.was.Queue
	if now.State != work.PullOpen || now.Head != one.was.Head || one.queued.IsZero() {
		return nil
	}
	if now.Queue.Group == "" && (!now.Queue.In || was.In) {
		now.Queue.Group = was.Group // GitHub drops the group before the entry
	}
	if now.Queue.In {
		return nil
	}
	if now.Queue.Left = was.Left; now.Queue.Left.Before(one.queued) {
		now.Queue.Left = h.now()
	}
	if one.half || now.Queue.Left.Add(h.config.Runtime.SettleAfter).After(h.now()) {
		return nil
	}
	if h.preflight != nil { // reading needs no git otherwise
		if err := h.preflight(ctx); err != nil {
			return err
		}
	}
	if commit, err := h.repo.OnBase(ctx, one.pull.Number, now.Head, now.Base); err != nil || commit != "" {
		return err // half merged: package merge finishes it
	}
	group, left := now.Queue.Group, queueExit{}
	if out := now.Queue.Out; out != nil { // the group may be one that no pass saw
		group, left.reason = cmp.Or(out.Group, group), fmt.Sprintf("GitHub says %q", out.Reason)
	}
	one.left = &left
	if group == "" {
		return nil
	}
	checks, _, err := h.repo.GitHub.CommitChecks(ctx, h.row.Current, group)
	var lines []string
	for _, check := range checks {
		if check.State == merging.Red {
			left.red, lines = append(left.red, check.Name), append(lines, "queue "+check.Name)
		}
	}
	if err != nil || len(lines) == 0 {
		return err
	}
	// Its body is like that of other red checks, its state the group's commit.
	left.reason = ""
	body := strings.Join(lines, "\n")
	e := newEvent(one.pull.ItemID, one.pull.Number, work.EventCheck, now.Head, work.ContentHash(string(work.EventCheck), group, body))
	e.State, e.URL, e.Body, e.CreatedAt, e.UpdatedAt = group, one.pull.URL, body, now.UpdatedAt, now.UpdatedAt
	h.add(candidate{event: e, pull: true})
	return nil
}

// adoptQueued records that we put a pull request into its base's queue, if the database that had
// the row is lost. We handle the outcome all the same, also if it has left the queue since.
func (h *reading) adoptQueued(ctx context.Context, tx *store.Tx, one mergeBox, now time.Time) error {
	box := one.now
	ours, at := h.accounts.Operators(h.repo.Name.Host), now
	switch out := box.FellOutOfQueue(ours); {
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
	} else if head == box.Head && why.Kind == work.WhyMergeQueueOut { // our comment about it was found
		stage = merging.Void
	}
	err := tx.PlanAction(ctx, work.Action{
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

// storeQueueExit records that queueing the head had no effect. The head is queued again when a person asks
// for it.
func storeQueueExit(ctx context.Context, tx *store.Tx, one mergeBox) error {
	m, meant, err := tx.FindMerge(ctx, one.pull.ID, one.now.Head)
	if err == nil && meant && (m.Stage == merging.Queued || m.Stage == merging.Intended) {
		m.Stage = merging.Void
		_, err = tx.PutMerge(ctx, m)
	}
	if err != nil {
		return err
	}
	return tx.SetMergeTrouble(ctx, one.pull.ID, one.now.Head, work.Reason{Kind: work.WhyMergeQueueOut, Number: one.pull.Number, Names: one.left.red, Text: one.left.reason, Head: one.now.Head})
}

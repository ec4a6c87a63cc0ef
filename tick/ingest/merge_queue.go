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

// queueExit is a pull request that left its base's merge queue unmerged. red are the red checks of
// its merge group.
type queueExit struct {
	group  string // the commit of its merge group
	red    []string
	reason string // what GitHub says of why it left, if no check is red
}

// leftQueue reports whether a pull request that we queued has left the queue at the same head. For
// a moment between leaving the queue and being merged GitHub shows the same: so it must last for
// settle_after, and the base must not have the commit. Red checks of its merge group are feedback
// to its author: a queue tests the change together with the base, while the head's own checks are
// green.
func (h *reading) leftQueue(ctx context.Context, c mergeCandidate, now *merging.Box) (*queueExit, error) {
	if now.State != work.PullOpen || now.Head != c.was.Head || c.queued.IsZero() {
		return nil, nil
	}
	if now.Queue.Group == "" && (!now.Queue.In || c.was.Queue.In) {
		now.Queue.Group = c.was.Queue.Group // GitHub drops the group before the entry
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
	if h.env.Preflight != nil { // reading needs no git otherwise
		if err := h.env.Preflight(ctx); err != nil {
			return nil, err
		}
	}
	if commit, err := h.repo.OnBase(ctx, c.pull.Number, now.Head, now.Base); err != nil || commit != "" {
		return nil, err // half merged: package merge finishes it
	}
	f := &queueExit{group: now.Queue.Group}
	if out := now.Queue.Out; out != nil { // the group may be one that no pass saw
		f.group, f.reason = cmp.Or(out.Group, f.group), fmt.Sprintf("GitHub says %q", out.Reason)
	}
	if f.group == "" {
		return f, nil
	}
	checks, _, err := h.repo.GitHub.CommitChecks(ctx, h.row.Current, f.group)
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		if check.State == merging.Red {
			f.red = append(f.red, check.Name)
		}
	}
	if len(f.red) > 0 {
		f.reason = ""
		h.add(candidate{event: f.event(c, *now), pull: true})
	}
	return f, nil
}

// adoptQueued records that we put a pull request into its base's queue, if the database that had
// the row is lost. We handle the outcome all the same, also if it has left the queue since.
func (h *reading) adoptQueued(ctx context.Context, tx *store.Tx, one mergeBox, now time.Time) error {
	box := one.box
	ours, at := h.env.Accounts.Operators(h.repo.Name.Host), now
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

// event is the event for red checks of the merge group. Its body is like that of other red checks;
// its state is the group's commit.
func (f queueExit) event(c mergeCandidate, now merging.Box) work.Event {
	lines := make([]string, len(f.red))
	for i, name := range f.red {
		lines[i] = "queue " + name
	}
	body := strings.Join(lines, "\n")
	hash := work.ContentHash(string(work.EventCheck), f.group, body)
	return work.Event{
		ItemID: c.pull.ItemID, Number: c.pull.Number, Kind: work.EventCheck, Source: now.Head, Hash: hash, State: f.group,
		Key: work.EventKey(c.pull.Number, work.EventCheck, now.Head, hash), URL: c.pull.URL, Body: body, CreatedAt: now.UpdatedAt, UpdatedAt: now.UpdatedAt,
	}
}

// store records that queueing the head had no effect. The head is queued again when a person asks
// for it.
func (f queueExit) store(ctx context.Context, tx *store.Tx, one mergeBox) error {
	m, meant, err := tx.FindMerge(ctx, one.pull.ID, one.box.Head)
	if err == nil && meant && (m.Stage == merging.Queued || m.Stage == merging.Intended) {
		m.Stage = merging.Void
		_, err = tx.PutMerge(ctx, m)
	}
	if err != nil {
		return err
	}
	return tx.SetMergeTrouble(ctx, one.pull.ID, one.box.Head, work.Reason{Kind: work.WhyMergeQueueOut, Number: one.pull.Number, Names: f.red, Text: f.reason, Head: one.box.Head})
}

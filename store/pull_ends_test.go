package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestWhatBecameOfPulls(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	repo := addRepo(t, d)
	add := func(number int, flow work.Flow, state work.PullState, updated time.Time) int64 {
		i := addItem(t, d, work.Item{RepoID: repo.ID, Number: number, Flow: flow, State: work.StateAwaitingFeedback})
		return inTx(t, d, func(tx *Tx) (int64, error) {
			return tx.PutPull(ctx, work.PullRequest{RepoID: repo.ID, ItemID: i.ID, Number: number + 100, State: state, Title: "t", CreatedAt: t0.Add(-60 * 24 * time.Hour), UpdatedAt: updated})
		})
	}
	merged := add(1, work.FlowBugfix, work.PullMerged, t0)
	byHand := add(2, work.FlowBugfix, work.PullMerged, t0)
	add(3, work.FlowBugfix, work.PullMerged, t0) // nothing was read of its end
	add(4, work.FlowBugfix, work.PullClosed, t0)
	add(5, work.FlowBugfix, work.PullOpen, t0)
	talked := add(6, work.FlowBugfix, work.PullOpen, t0)
	add(7, work.FlowBugfix, work.PullOpen, t0)
	add(8, work.FlowReview, work.PullMerged, t0)                   // somebody else's
	add(9, work.FlowBugfix, work.PullMerged, t0.Add(-10*24*month)) // long ago
	update(t, d, func(tx *Tx) error {
		return firstOf(
			tx.PutPullEnd(ctx, work.PullEnd{PullID: merged, At: t0, Commits: 9, Human: 9, ReadAt: t0}),
			tx.PutPullEnd(ctx, work.PullEnd{PullID: merged, At: t0.Add(-time.Hour), Commits: 2, ReadAt: t0}),
			tx.PutPullEnd(ctx, work.PullEnd{PullID: byHand, At: t0, Commits: 2, Human: 1, ReadAt: t0}),
			tx.PutBacklog(ctx, repo.ID, Backlogged{Number: 107, At: t0, Tries: 1, Why: "GitHub does not know it"}),
		)
	})
	for key, e := range map[string]work.Event{
		"a": {Kind: work.EventIssue, CreatedAt: t0.Add(-48 * time.Hour)},
		"b": {Kind: work.EventIssue, CreatedAt: t0, Author: work.Account{Bot: true}},
		"c": {Kind: work.EventIssue, CreatedAt: t0, Outcome: work.OutcomeOwn, ProcessedAt: t0},
		"d": {Kind: work.EventCheck, CreatedAt: t0},
	} {
		e.RepoID, e.Number, e.Key = repo.ID, 106, key
		addEvent(t, d, e)
	}
	type judged struct {
		Number      int
		Outcome     work.Outcome
		Ended       time.Time
		Zero, Known bool
	}
	var got []judged
	for _, p := range inTx(t, d, func(tx *Tx) ([]PullFacts, error) { return tx.Pulls(ctx, t0.Add(-30*24*time.Hour)) }) {
		j := judged{Number: p.Number, Outcome: p.Outcome(t0), Ended: p.Ended()}
		j.Zero, j.Known = p.ZeroTouch()
		got = append(got, j)
		if p.ID == talked && !p.Touched.Equal(t0.Add(-48*time.Hour)) {
			t.Errorf("last touched %s", p.Touched)
		}
	}
	equal(t, got, []judged{
		{101, work.Accepted, t0.Add(-time.Hour), true, true},
		{102, work.Accepted, t0, false, true},
		{103, work.Accepted, t0, false, false},
		{104, work.Rejected, t0, false, false},
		{105, work.Ignored, time.Time{}, false, false},
		{106, work.Pending, time.Time{}, false, false},
		{107, work.Unknown, time.Time{}, false, false},
	})
}

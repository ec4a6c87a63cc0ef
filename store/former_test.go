package store

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A repository that begins again has nothing in it, and what was left to do under its former
// row nobody does. What turns cost counts.
func TestBeginAgain(t *testing.T) {
	d := newDB(t)
	r := addRepo(t, d)
	update(t, d, func(tx *Tx) error {
		r.NodeID = "R_1"
		row, _, err := tx.IdentifyRepo(t.Context(), r.ID, Identity{NodeID: "R_1", GitHubID: 1, Current: r.Name, DefaultBranch: "main", At: t0})
		row.IssuesSince = t0
		r = row
		return errors.Join(err, tx.SetCursors(t.Context(), row), tx.SetWalk(t.Context(), r.ID, "comments", "x"), tx.PutShare(t.Context(), r.ID, work.Share{Shard: "1/2"}))
	})
	item := addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateRunning})
	u := addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: item.ID, Number: 1, Key: "turn", Step: work.StepClaimed, ClaimedAt: t0})
	addEvent(t, d, work.Event{RepoID: r.ID, ItemID: item.ID, Number: 1, Key: "said", Kind: work.EventIssue})
	addAction(t, d, work.Action{RepoID: r.ID, ItemID: item.ID, Token: "token", State: work.ActionPlanned})
	update(t, d, func(tx *Tx) error {
		_, err := tx.AddRun(t.Context(), work.Run{Turn: u.ID, Attempt: true, Agent: "codex", Began: t0, Ended: t0, Usage: work.Usage{CostUSD: 3}})
		return err
	})
	var now work.Repo
	update(t, d, func(tx *Tx) (err error) {
		now, err = tx.BeginAgain(t.Context(), r)
		return err
	})
	if now.ID == r.ID || now.NodeID != "R_1" || now.DefaultBranch != "main" || !now.IssuesSince.IsZero() {
		t.Errorf("it is %+v", now)
	}
	update(t, d, func(tx *Tx) error {
		opened, err := tx.OpenRepos(t.Context(), []work.RepoName{r.Name})
		if err != nil || opened[0].ID != now.ID {
			t.Errorf("its name stands for %+v, %v", opened, err)
		}
		unfinished, err := tx.ListUnfinishedTurns(t.Context())
		if err != nil || len(unfinished) != 0 {
			t.Errorf("turns %+v, %v", unfinished, err)
		}
		if _, known, err := tx.GetAction(t.Context(), "token"); err != nil || known {
			t.Errorf("an action is known: %t, %v", known, err)
		}
		for _, id := range []int64{r.ID, now.ID} {
			items, err := tx.ListOpenItems(t.Context(), id)
			pending, pendingErr := tx.ListPendingEvents(t.Context(), id)
			_, shared, shareErr := tx.GetShare(t.Context(), id)
			if err := errors.Join(err, pendingErr, shareErr); err != nil || len(items)+len(pending) != 0 || shared {
				t.Errorf("repository %d: %d items, %d events, share %t: %v", id, len(items), len(pending), shared, err)
			}
		}
		spent, err := tx.ListSpentSince(t.Context(), t0.Add(-time.Hour))
		if err != nil || len(spent) != 1 || spent[0].CostUSD != 3 {
			t.Errorf("spent %+v, %v", spent, err)
		}
		return nil
	})
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
	update(t, d, func(tx *Tx) error { // of which nothing was read yet
		again, err := tx.BeginAgain(t.Context(), now)
		equal(t, again.ID, now.ID)
		return err
	})
}

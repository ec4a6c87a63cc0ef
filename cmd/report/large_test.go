package report

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
)

// A report over ten thousand turns is made in a moment, and the page stays small.
func TestTenThousandTurns(t *testing.T) {
	testhome.OnlyLong(t)
	ctx, now := t.Context(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return now })
	defer db.Close()
	if err := db.Update(ctx, func(tx *store.Tx) error { return fill(t, tx, now) }); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	f := Facts{From: now.AddDate(0, 0, -30), Now: now, Called: work.RepoName.FullName}
	if err := db.View(ctx, func(tx *store.Tx) error {
		return load(ctx, tx, &f, func(work.RepoName) bool { return true })
	}); err != nil {
		t.Fatal(err)
	}
	r := Make(f)
	page, err := r.HTML()
	if err != nil || len(page) > 1<<20 {
		t.Errorf("%d bytes, %v", len(page), err)
	}
	took := time.Since(began)
	if r.Numbers.Turns != 10_000 || took > 5*time.Second {
		t.Errorf("%d turns in %s", r.Numbers.Turns, took)
	}
	t.Logf("%d bytes in %s", len(page), took)
}

// fill makes 2,000 merged pull requests of five turns each.
func fill(t *testing.T, tx *store.Tx, now time.Time) error {
	t.Helper()
	ctx := t.Context()
	repo, err := testdb.Repo(ctx, tx, one)
	if err != nil {
		return err
	}
	for n := range 2_000 {
		at := now.Add(-time.Duration(n%600) * time.Hour)
		item, err := tx.AddItem(ctx, work.Item{RepoID: repo.ID, Number: n + 1, Flow: work.FlowBugfix, State: work.StateCompleted, Title: fmt.Sprint("issue ", n)})
		if err != nil {
			return err
		}
		pull, err := tx.PutPull(ctx, work.PullRequest{RepoID: repo.ID, ItemID: item, Number: n + 10_000, State: work.PullMerged, CreatedAt: at.Add(-5 * time.Hour), UpdatedAt: at})
		if err != nil {
			return err
		}
		if err := tx.PutPullEnd(ctx, work.PullEnd{PullID: pull, At: at, Commits: 2, ReadAt: now}); err != nil {
			return err
		}
		for k := range 5 {
			begin := at.Add(-time.Duration(5-k) * time.Hour)
			id, err := tx.AddTurn(ctx, work.Turn{
				RepoID: repo.ID, ItemID: item, Number: n + 10_000, Kind: work.KindImplementationFeedback, Key: fmt.Sprint(n, "-", k), Step: work.StepDone,
				Agent: "codex", ClaimedAt: begin, EndedAt: begin.Add(10 * time.Minute),
			})
			if err != nil {
				return err
			}
			if _, err := tx.AddRun(ctx, work.Run{Turn: id, Attempt: true, Agent: "codex", Began: begin, Ended: begin.Add(time.Minute), Usage: work.Usage{CostUSD: 0.1}, Known: work.Known{Tokens: true, Cost: true}}); err != nil {
				return err
			}
			if _, err := tx.AddEvent(ctx, work.Event{
				RepoID: repo.ID, ItemID: item, TurnID: id, Number: n + 10_000, Key: fmt.Sprint(n, "-", k), Kind: work.EventIssue,
				CreatedAt: begin.Add(-time.Minute), ProcessedAt: begin.Add(10 * time.Minute), Outcome: work.OutcomeAnswered,
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

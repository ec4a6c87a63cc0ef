package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Reasons and errors are stored without secrets, whoever stores them.
func TestReasonsAreStoredWithoutSecrets(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "state.db")
	d, err := Open(ctx, path, Options{Now: time.Now, Redact: func(s string) string { return strings.NewReplacer("SECRET", "…", "S&T", "…").Replace(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	const said = "it says SECRET"
	now := time.Now()
	err = d.Update(ctx, func(tx *Tx) error {
		repo, err := tx.EnsureRepo(ctx, work.RepoName{Host: "h", Owner: "o", Name: "n"})
		if err != nil {
			return err
		}
		return storeSaid(ctx, tx, repo.ID, said, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	dump := ""
	for _, table := range []string{"repositories", "work_items", "history", "turns", "actions", "pull_requests", "pull_reviews", "merges"} {
		rows, err := d.SQL.QueryContext(ctx, "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		dump += texts(t, rows)
	}
	if strings.Contains(dump, "SECRET") || strings.Contains(dump, `S\u0026T`) || strings.Count(dump, "it says …") < 25 {
		t.Errorf("stored: %s", dump)
	}
}

// texts is every value of every row.
func texts(t *testing.T, rows *sql.Rows) string {
	t.Helper()
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			fmt.Fprintln(&out, *v.(*any))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// storeSaid stores a text by every method that takes a reason or an error.
func storeSaid(ctx context.Context, tx *Tx, repo int64, said string, now time.Time) error {
	if err := tx.DeferRepo(ctx, repo, now, said, true); err != nil {
		return err
	}
	why := work.Reason{Kind: work.WhyFailed, Text: said, Local: said, Advice: said, Who: said, Name: said, Names: []string{said}}
	item, err := tx.AddItem(ctx, work.Item{RepoID: repo, Number: 1, Flow: work.FlowBugfix, State: work.StatePending, Since: now})
	if err != nil {
		return err
	}
	if err := tx.MoveItem(ctx, item, nil, work.StateBlocked, why, said, now); err != nil {
		return err
	}
	turn, err := tx.AddTurn(ctx, work.Turn{RepoID: repo, ItemID: item, Number: 1, Kind: work.KindBugfixStart, Key: "k", Step: work.StepClaimed, ClaimedAt: now, UpdatedAt: now})
	if err != nil {
		return err
	}
	if err := tx.DeferTurn(ctx, turn, now, why, true, said); err != nil {
		return err
	}
	a, err := tx.AddAction(ctx, work.Action{RepoID: repo, TurnID: turn, ItemID: item, Kind: work.ActionComment, Need: work.NeedRequired, Token: "t", State: work.ActionPlanned, Number: 1, PlannedAt: now})
	if err != nil {
		return err
	}
	if err := tx.DeferAction(ctx, a.ID, now, said); err != nil {
		return err
	}
	pull, err := tx.PutPull(ctx, work.PullRequest{RepoID: repo, ItemID: item, Number: 2})
	if err != nil {
		return err
	}
	if err := tx.PutReviewState(ctx, review.Record{}, review.Record{PullID: pull, State: review.Failed, Why: why}); err != nil {
		return err
	}
	if err := tx.FailReview(ctx, review.Record{PullID: pull, FailedKey: "k", FailedWhy: why, LastError: said}); err != nil {
		return err
	}
	if _, err := tx.AddReviewLog(ctx, ReviewLog{RepoID: repo, ItemID: item, Number: 2, Key: "k", What: "x", Data: said}); err != nil {
		return err
	}
	if err := storeMerge(ctx, tx, repo, pull, said, why); err != nil {
		return err
	}
	return tx.AddHistory(ctx, work.History{RepoID: repo, ItemID: item, Number: 1, What: "x", Detail: said})
}

// storeMerge is storeSaid of what belongs to merging.
func storeMerge(ctx context.Context, tx *Tx, repo, pull int64, said string, why work.Reason) error {
	// JSON writes this one with escapes, in which nobody finds it.
	quoted := "it says S&T"
	box := merging.Box{Head: "h", Status: said, Checks: []merging.Check{{Name: quoted}}, Rules: merging.Rules{Other: []string{quoted}}}
	id, err := tx.PutMerge(ctx, merging.Merge{RepoID: repo, PullID: pull, Head: "h", Stage: merging.Intended})
	return firstOf(
		err, tx.PutBox(ctx, pull, box), tx.SetMergeTrouble(ctx, pull, "h", why), tx.StopMerging(ctx, repo, why),
		second(tx.LandMerge(ctx, merging.Merge{ID: id, Differs: said}, why)),
	)
}

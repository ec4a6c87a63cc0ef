package tell

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Of thousands of waiting notices a pass takes the oldest of each line, so that neither labels nor
// failing notices delay comments, and all answers to commands.
func TestDueNoticesAreTheFirstOfEachLine(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), store.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const many = 3 * mostInLine
	var repo work.Repo
	err = db.Update(t.Context(), func(tx *store.Tx) (err error) {
		repo, err = testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		add := func(n int, a work.Action) {
			if err == nil {
				a.RepoID, a.State, a.Need, a.PlannedAt = repo.ID, work.ActionPlanned, work.NeedCosmetic, now.Add(time.Duration(n)*time.Second)
				_, err = tx.AddAction(t.Context(), a)
			}
		}
		for n := range many {
			add(n, work.Action{Kind: work.ActionReply, Token: fmt.Sprintf("failed %03d", n), LastError: "refused"})
			add(n, work.Action{Kind: work.ActionLabels, Token: fmt.Sprintf("labels %03d", n)})
			add(n, work.Action{Kind: work.ActionLabels, Token: fmt.Sprintf("later %03d", n), NotBefore: now.Add(time.Minute)})
			add(n, work.Action{Kind: work.ActionComment, Token: fmt.Sprintf("answer %03d", n), Base: "labels 000"})
		}
		add(many, work.Action{Kind: work.ActionReply, Token: "reply 000"})
		add(many, work.Action{Kind: work.ActionRepoLabels, Token: "made 000"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for left, want := range map[bool]map[string]int{
		false: {"failed": mostInLine, "labels": mostInLine, "answer": many, "reply": 1, "made": 1},
		true:  {"labels": mostInLine},
	} {
		due, err := NewNotices(&env.Env{Store: db, Now: func() time.Time { return now }}).DueNotices(t.Context(), &env.Repo{Row: repo, Removed: left})
		if err != nil {
			t.Fatal(err)
		}
		got, last := map[string]int{}, ""
		for _, a := range due {
			var name string
			var n int
			if _, err := fmt.Sscanf(a.Token, "%s %d", &name, &n); err != nil {
				t.Fatal(err)
			}
			if n != got[name] {
				t.Fatalf("%s comes after %d of its kind", a.Token, got[name])
			}
			got[name]++
			if last == "failed" && name != last {
				t.Errorf("%s comes after what failed", a.Token)
			}
			last = name
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("left %v: %v, not %v", left, got, want)
		}
	}
}

// Notices that fail in each pass do not delay for ever one that failed once: those with the oldest
// try are tried first.
func TestNoticesThatFailTakeTurns(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), store.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const many = 3*mostInLine + 1
	var repo work.Repo
	err = db.Update(t.Context(), func(tx *store.Tx) (err error) {
		repo, err = testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		for n := range many {
			if err == nil {
				_, err = tx.AddAction(t.Context(), work.Action{
					RepoID: repo.ID, Kind: work.ActionReply, State: work.ActionPlanned, Need: work.NeedRequired, Token: fmt.Sprint(n), LastError: "refused", PlannedAt: now.Add(time.Duration(n) * time.Second),
				})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tried := map[int64]bool{}
	for range 4 {
		due, err := NewNotices(&env.Env{Store: db, Now: func() time.Time { return now }}).DueNotices(t.Context(), &env.Repo{Row: repo})
		if err != nil || len(due) != mostInLine {
			t.Fatalf("%d are due, %v", len(due), err)
		}
		err = db.Update(t.Context(), func(tx *store.Tx) (err error) {
			for _, a := range due {
				tried[a.ID] = true
				if err == nil {
					err = tx.DeferAction(t.Context(), a.ID, now.Add(time.Minute), "refused")
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	if len(tried) != many {
		t.Errorf("%d of %d were tried", len(tried), many)
	}
}

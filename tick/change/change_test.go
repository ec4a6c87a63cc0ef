package change

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

func TestMain(m *testing.M) { os.Exit(testhome.RunInMemory(m)) }

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// mover moves items and shows nothing.
type mover struct{}

func (mover) Move(ctx context.Context, tx *store.Tx, m work.Move, now time.Time) error {
	return tx.MoveItem(ctx, m.Item, work.StatesBefore(m.Cause, m.To), m.To, m.Reason, "", now)
}

func (mover) ShowRoadmap(context.Context, *store.Tx, roadmap.Record, time.Time) error { return nil }

func (mover) ShowTakeover(context.Context, *store.Tx, work.PauseBanner, time.Time) error { return nil }

// opened returns a database with an item whose reviewer asks for a fix, and the event of the fix.
func opened(t *testing.T) (db *store.DB, repo work.Repo, item work.Item, fix work.Event) {
	t.Helper()
	db = testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return noon })
	t.Cleanup(func() { _ = db.Close() })
	err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
		if repo, err = testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}); err != nil {
			return err
		}
		item = work.Item{RepoID: repo.ID, Number: 1, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback, Since: noon}
		item.ID, err = tx.AddItem(t.Context(), item)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	about := review.Item{ID: item.ID, Repo: repo, Pull: work.PullRequest{Number: 2, HeadOID: "aaa"}, Now: noon}
	return db, repo, item, about.Trigger(review.FixKey(2, review.FixDue{ReviewID: 44, Cycle: 1}))
}

// A retried transaction gives the same as one that succeeded at once.
func TestChangesMayBeAppliedTwice(t *testing.T) {
	db, repo, item, fix := opened(t)
	claim := &Claim{
		Item: item, Trigger: fix,
		Turn: work.Turn{RepoID: repo.ID, ItemID: item.ID, Number: 2, Kind: work.KindFix, Reviewer: "quinn", Key: "k", Step: work.StepClaimed, EventKeys: []string{fix.Key}, ClaimedAt: noon, UpdatedAt: noon},
	}
	comment := Notice{Action: work.Action{RepoID: repo.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: "t", State: work.ActionPlanned, Number: 1}}
	changes := []Change{claim, comment}
	undone := &Tx{Repo: repo, Now: noon, Show: mover{}}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		undone.Tx, undone.logged = tx, nil
		for _, c := range changes {
			if err := c.Apply(t.Context(), undone); err != nil {
				t.Fatal(err)
			}
		}
		return context.DeadlineExceeded
	})
	if err == nil || len(undone.logged) != 1 {
		t.Fatalf("logged %+v, %v", undone.logged, err)
	}
	logged, err := Applier{Store: db, Show: mover{}, Now: func() time.Time { return noon }}.Apply(t.Context(), repo, changes)
	if err != nil || len(logged) != 1 || logged[0].What != "review_fix_created" {
		t.Fatalf("logged %+v, %v", logged, err)
	}
	if claim.Claimed.Key != "k" || len(claim.Events) != 1 || claim.Events[0].ID == 0 {
		t.Errorf("claimed %+v with %+v", claim.Claimed, claim.Events)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		turn, err := tx.GetTurn(t.Context(), claim.Claimed.ID)
		if err != nil || turn.Key != "k" {
			t.Errorf("turn %+v, %v", turn, err)
		}
		if now, err := tx.GetItem(t.Context(), item.ID); err != nil || now.State != work.StateRunning {
			t.Errorf("item %+v, %v", now, err)
		}
		if a, known, err := tx.GetAction(t.Context(), "t"); err != nil || !known || !a.PlannedAt.Equal(noon) {
			t.Errorf("notice %+v, %v, %v", a, known, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A turn that failed releases its own comments, which are not new: only a comment that no turn was
// given keeps its item from being blocked.
func TestOnlyNewCommentsStartTheNextTurn(t *testing.T) {
	for _, commented := range []bool{false, true} {
		db, repo, item, _ := opened(t)
		turn := work.Turn{RepoID: repo.ID, ItemID: item.ID, Number: 2, Kind: work.KindImplementationFeedback, Key: "k", Step: work.StepClaimed, ClaimedAt: noon.Add(-time.Hour)}
		err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
			if turn.ID, err = tx.AddTurn(t.Context(), turn); err != nil {
				return err
			}
			for _, key := range []string{"asked", "later"} {
				e := work.Event{RepoID: repo.ID, ItemID: item.ID, Number: 2, Kind: work.EventIssue, Source: key, Key: key, SeenAt: noon}
				if _, err := tx.AddEvent(t.Context(), e); err != nil {
					return err
				}
			}
			said, err := tx.ListPendingComments(t.Context(), repo.ID, item.ID)
			if err != nil {
				return err
			}
			if commented {
				said = said[:1]
			}
			if err := tx.AssignEvents(t.Context(), turn.ID, work.EventIDs(said)); err != nil {
				return err
			}
			return tx.MoveItem(t.Context(), item.ID, nil, work.StateRunning, work.Reason{}, "", noon)
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Applier{Store: db, Show: mover{}, Now: func() time.Time { return noon }}.Apply(t.Context(), repo, []Change{
			EndTurn{Turn: turn, To: work.StepFailed, Why: "it failed"},
			AfterTurn{
				Move:  work.Move{Item: item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: work.Reason{Kind: work.WhyFailed}},
				Heard: work.Move{Item: item.ID, Cause: work.CausePutBack, To: work.StateAwaitingFeedback},
				Since: turn.ClaimedAt,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(t.Context(), func(tx *store.Tx) error {
			said, err := tx.ListPendingComments(t.Context(), repo.ID, item.ID)
			if err != nil || len(said) != 2 {
				t.Errorf("released %+v, %v", said, err)
			}
			now, err := tx.GetItem(t.Context(), item.ID)
			if (now.State == work.StateBlocked) == commented {
				t.Errorf("commented %v: %s", commented, now.State)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// nameless is a kind without a row.
type nameless struct{ Words }

func (nameless) Apply(context.Context, *Tx) error { return nil }

// A kind without a place is an error, and nothing is stored.
func TestEachKindHasARow(t *testing.T) {
	db, repo, item, _ := opened(t)
	renew := RenewBudget{Item: item.ID}
	_, err := Applier{Store: db, Now: func() time.Time { return noon }}.Apply(t.Context(), repo, []Change{renew, nameless{}})
	if err == nil || !strings.Contains(err.Error(), "nameless is no kind of change") {
		t.Errorf("%v", err)
	}
	for n, c := range kinds {
		if place(c) != n {
			t.Errorf("%s has two rows", Kind(c))
		}
	}
}

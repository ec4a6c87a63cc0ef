package tick

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// keeper is a mirror that can only drop turns and merges.
type keeper struct {
	env.Mirror
	kept    []git.KeptTurn
	dropped []string
	merged  []time.Time // the times before which merges were dropped
	broken  error       // the error of dropping merges
}

func (k *keeper) DropMerged(_ context.Context, before time.Time) error {
	k.merged = append(k.merged, before)
	return k.broken
}

func (k *keeper) KeptTurns(context.Context) ([]git.KeptTurn, error) { return k.kept, nil }

func (k *keeper) DropTurns(_ context.Context, keys ...string) error {
	k.dropped = append(k.dropped, keys...)
	return nil
}

// TestTurnsAreForgottenWithTheirRows: commits are dropped a month after the item closed,
// and never while it is open.
func TestTurnsAreForgottenWithTheirRows(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	at := now.Add(-2 * retention)
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return at })
	t.Cleanup(func() { _ = db.Close() })
	var repo work.Repo
	err := db.Update(ctx, func(tx *store.Tx) (err error) {
		if repo, err = testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}); err != nil {
			return err
		}
		for number, end := range []struct {
			state work.State
			since time.Time
		}{{work.StateCompleted, at}, {work.StateAwaitingFeedback, at}, {work.StateClosed, now.Add(-time.Hour)}} {
			item, err := tx.AddItem(ctx, work.Item{RepoID: repo.ID, Number: number, State: end.state, Since: end.since})
			if err != nil {
				return err
			}
			key := string(end.state)
			id, err := tx.AddTurn(ctx, work.Turn{RepoID: repo.ID, ItemID: item, Number: number, Key: key, Step: work.StepClaimed})
			if err != nil {
				return err
			}
			if err := tx.EndTurn(ctx, id, work.StepClaimed, work.StepDone, "", at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	old, lately := now.Add(-retention-time.Hour), now.Add(-time.Hour)
	k := &keeper{
		broken: errors.New("a broken mirror"), // which does not stop other deletions
		kept: []git.KeptTurn{
			{Key: "awaiting_feedback", At: old},
			{Key: "closed", At: old},
			{Key: "completed", At: old},
			{Key: "ended elsewhere", At: old}, // another machine deleted its row
			{Key: "young", At: lately},
		},
	}
	p := &Pass{Env: &env.Env{
		TokenVariable: func(string) string { return "" },
		Store:         db, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		All: []*env.Repo{{Remote: env.Remote{Mirror: func(work.Repo) env.Mirror { return k }}, Row: repo}},
	}}
	p.assemble()
	p.pruneFinished(ctx, 0)
	if len(k.dropped) > 0 {
		t.Errorf("an idle pass forgot %q", k.dropped)
	}
	p.pruneFinished(ctx, 1)
	if len(k.dropped) > 0 {
		t.Errorf("forgot %q of a repository that was not read yet: its database may be new", k.dropped)
	}
	p.All[0].Row.HeartbeatAt = now
	now = now.Add(forgetEvery - time.Second)
	p.pruneFinished(ctx, 1)
	if len(k.dropped) > 0 {
		t.Errorf("forgot %q within the day", k.dropped)
	}
	p.Machine.Name = "b" // another one
	p.pruneFinished(ctx, 1)
	if !slices.Equal(k.dropped, []string{"completed", "ended elsewhere"}) {
		t.Errorf("forgot %q, want those that were over for long", k.dropped)
	}
	if len(k.merged) != 2 || !k.merged[1].Equal(now.Add(-retention)) {
		t.Errorf("forgot what was merged before %v, want %v", k.merged, now.Add(-retention))
	}
	for key, want := range map[string]bool{"completed": false, "awaiting_feedback": true, "closed": true} {
		err := db.Update(ctx, func(tx *store.Tx) error {
			if _, known, err := tx.FindTurn(ctx, key); err != nil || known != want {
				t.Errorf("row of %s: %v, %v", key, known, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

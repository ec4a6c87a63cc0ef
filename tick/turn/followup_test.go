package turn

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// standing returns a database with items that are blocked before their pull requests exist, and one
// that has a pull request.
func standing(t *testing.T) *store.DB {
	t.Helper()
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return noon })
	t.Cleanup(func() { _ = db.Close() })
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		repo, err := testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "o", Name: "r"})
		if err != nil {
			return err
		}
		for i, s := range []struct {
			waits  bool
			reason work.Reason
			pull   int
		}{
			{true, work.Reason{Kind: work.WhyQuestion, Text: "which one?"}, 0},
			{false, work.Reason{Kind: work.WhyFailed}, 0},
			{true, work.Reason{Kind: work.WhyNothingChanged}, 20},
			{true, work.Reason{Kind: work.WhyChangeRefused, Text: "a.txt holds a token"}, 0},
		} {
			item := work.Item{RepoID: repo.ID, Number: 30 + i, Flow: work.FlowBugfix, State: work.StateBlocked, Reason: s.reason}
			if item.ID, err = tx.AddItem(t.Context(), item); err != nil {
				return err
			}
			if s.waits {
				err = tx.PutFollowup(t.Context(), work.Followup{ItemID: item.ID, Reason: s.reason})
			}
			if s.pull != 0 && err == nil {
				_, err = tx.PutPull(t.Context(), work.PullRequest{RepoID: repo.ID, ItemID: item.ID, Number: s.pull, State: work.PullOpen})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Every reason for which a start waits has a state.
func TestEveryWaitHasAState(t *testing.T) {
	kinds := []work.ReasonKind{
		work.WhyQuestion, work.WhyTestsFail, work.WhyNothingChanged, work.WhyChangeRefused, work.WhyNewComments, work.WhyAgentMissing,
	}
	for _, kind := range kinds {
		v := classify(&work.BlockedError{Reason: work.Reason{Kind: kind, Text: "why"}}, work.Turn{Kind: work.KindBugfixStart}, noon, time.Second)
		if (v.kind == env.VerdictSuperseded) != (kind == work.WhyNewComments) || v.why.Kind != kind || v.why.Text != "why" {
			t.Errorf("%s: %+v", kind, v)
		}
		m := (&Turns{}).waitingMove(work.Followup{Reason: work.Reason{Kind: kind}})
		if (m.To == work.StateAwaitingIssueFollowup) != kind.Answerable() || !slices.Contains(work.StatesBefore(m.Cause, m.To), work.StateRunning) {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}

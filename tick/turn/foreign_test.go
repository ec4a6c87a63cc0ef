package turn

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A push planned for somebody else's pull request, for whatever reason, stops the turn before
// anything is sent.
func TestNoPushToSomebodyElsesPullRequest(t *testing.T) {
	for flow, may := range map[work.Flow]bool{work.FlowBugfix: true, work.FlowReview: false} {
		ctx := t.Context()
		db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), time.Now)
		t.Cleanup(func() { _ = db.Close() })
		l := &env.Lease{Item: work.Item{Number: 7, Flow: flow, State: work.StatePending}, Turn: work.Turn{Key: "1", Kind: work.KindReview, Step: work.StepClaimed}}
		err := db.Update(ctx, func(tx *store.Tx) error {
			repo, err := testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
			if err != nil {
				return err
			}
			l.Item.RepoID, l.Turn.RepoID = repo.ID, repo.ID
			if l.Item.ID, err = tx.AddItem(ctx, l.Item); err != nil {
				return err
			}
			l.Turn.ItemID = l.Item.ID
			if l.Turn.ID, err = tx.AddTurn(ctx, l.Turn); err != nil {
				return err
			}
			_, err = tx.AddAction(ctx, work.Action{
				RepoID: repo.ID, ItemID: l.Item.ID, TurnID: l.Turn.ID, Kind: work.ActionPush, Need: work.NeedRequired, State: work.ActionPlanned,
				Token: work.PushToken(repo.Key(), "agent/review/7-x", "", "1"), Number: 7, Target: "agent/review/7-x",
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		p := &Turns{Env: &env.Env{Store: db}}
		all, err := p.TurnActions(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		_, planned, err := plannedPush(l, all)
		var foreign *actions.ForeignError
		if planned != may || (err == nil) != may || !may && !errors.As(err, &foreign) {
			t.Errorf("%s: planned %v, %v", flow, planned, err)
		}
	}
}

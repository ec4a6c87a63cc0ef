package actions

import (
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Whatever is planned, nothing is pushed to somebody else's pull request, and none is
// opened or closed for it.
func TestSomebodyElsesPullRequestIsLeftAlone(t *testing.T) {
	for _, kind := range []work.ActionKind{work.ActionPush, work.ActionPullRequest, work.ActionClose} {
		s := newStage(t)
		a := work.Action{
			RepoID: s.scope.Repo.ID, Kind: kind, Need: work.NeedRequired, Token: work.NoticeToken(s.scope.Repo.Key(), 7, string(kind)),
			State: work.ActionPlanned, Number: 7, Target: "main", Head: "agent/review/7-x", Base: "main", PlannedAt: s.at(),
		}
		s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) (err error) {
			a.ItemID, err = tx.AddItem(t.Context(), work.Item{RepoID: a.RepoID, Number: 7, Flow: work.FlowReview, State: work.StateRunning})
			if err != nil {
				return err
			}
			a, err = tx.AddAction(t.Context(), a)
			return err
		}))
		s.hub.ResetLog()
		_, err := s.runner.Apply(t.Context(), s.scope, a)
		var foreign *ForeignError
		if !errors.As(err, &foreign) || foreign.Number != 7 {
			t.Errorf("%s: %v", kind, err)
		}
		if n := s.requests("POST") + s.requests("PATCH"); n != 0 || s.row(a).Sends != 0 {
			t.Errorf("%s made %d writes", kind, n)
		}
	}
}

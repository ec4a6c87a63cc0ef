package turn

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// standing is a database with items that are blocked before their pull requests
// exist, and one that has one.
func standing(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), store.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		repo, err := tx.EnsureRepo(t.Context(), work.RepoName{Host: "github.com", Owner: "o", Name: "r"})
		if err != nil {
			return err
		}
		for i, s := range []struct {
			kind   work.FollowupKind
			reason string
			pull   int
		}{
			{work.FollowupAsked, "the agent asks: which one?", 0},
			{"", "exit 3", 0},
			{work.FollowupUnchanged, "the agent finished without changing a file", 20},
			{work.FollowupRefused, "what the agent made is refused: a.txt holds a token", 0},
		} {
			item := work.Item{RepoID: repo.ID, Number: 30 + i, Flow: work.FlowBugfix, State: work.StateBlocked, Reason: s.reason, Hint: "as it was"}
			if item.ID, err = tx.AddItem(t.Context(), item); err != nil {
				return err
			}
			if s.kind != "" {
				err = tx.PutFollowup(t.Context(), work.Followup{ItemID: item.ID, Kind: s.kind, Reason: s.reason})
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

// At the start of a pass, what is blocked for a reason that a comment on the
// issue answers waits for that comment. What is not known stays.
func TestBlockedStartsWaitForAnAnswer(t *testing.T) {
	db := standing(t)
	e := &env.Env{Config: &config.Config{}, Store: db, Now: func() time.Time { return noon }}
	p := &Turns{Env: e, notices: &notice.Notices{Env: e}}
	states := func(routing bool) string {
		p.Config.Runtime.EnableIssueCommentRouting = routing
		var b strings.Builder
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			if err := p.ReconcileFollowups(t.Context(), tx); err != nil {
				return err
			}
			for _, id := range []int64{1, 2, 3, 4} {
				i, err := tx.GetItem(t.Context(), id)
				if err != nil {
					return err
				}
				b.WriteString(string(i.State) + "/" + i.Hint + "\n")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const (
		before = "blocked/as it was\n"
		over   = "blocked/comment `/mergexo retry`, or take the label away and set it again\n"
		asks   = "awaiting_issue_followup/answer in a comment on the issue\n"
	)
	for _, c := range []struct {
		routing bool
		want    string
	}{
		{false, before + before + before + before},
		{true, asks + before + before + asks},
		{true, asks + before + before + asks},
		{false, over + before + before + over},
		{true, asks + before + before + asks},
	} {
		if got := states(c.routing); got != c.want {
			t.Errorf("with routing %v:\n%swant\n%s", c.routing, got, c.want)
		}
	}
}

// Whatever a start waits for, there is a state for it, with routing and without.
func TestEveryWaitHasAState(t *testing.T) {
	kinds := []work.FollowupKind{
		work.FollowupAsked, work.FollowupTests, work.FollowupUnchanged, work.FollowupRefused, work.FollowupComments, work.FollowupStopped,
	}
	for _, kind := range kinds {
		v := classify(&work.FollowupError{Kind: kind, Reason: "why"}, work.Turn{Kind: work.KindBugfixStart}, noon, time.Second)
		if v.followup != kind || (v.Kind == env.VerdictSuperseded) != (kind == work.FollowupComments) || v.Reason != "why" {
			t.Errorf("%s: %+v", kind, v)
		}
		for _, routing := range []bool{true, false} {
			p := &Turns{Env: &env.Env{Config: &config.Config{}}}
			p.Config.Runtime.EnableIssueCommentRouting = routing
			m := p.waitingMove(work.Followup{Kind: kind}, "")
			if (m.To == work.StateAwaitingIssueFollowup) != (routing && kind.Recoverable()) || !slices.Contains(work.ComeFrom(m.Cause, m.To), work.StateRunning) {
				t.Errorf("%s, routing %v: %+v", kind, routing, m)
			}
		}
	}
}

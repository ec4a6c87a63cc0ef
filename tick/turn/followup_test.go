package turn

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/tell"
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

// At the start of a pass, an item that is blocked for a reason that a comment on the issue can
// answer starts to wait for that comment. An unknown reason stays.
func TestBlockedStartsWaitForAnAnswer(t *testing.T) {
	db := standing(t)
	e := &env.Env{Config: &config.Config{}, Store: db, Now: func() time.Time { return noon }}
	p := &Turns{Env: e, notices: &tell.Notices{Env: e}}
	states := func(routing bool) string {
		p.Config.Runtime.EnableIssueCommentRouting = routing
		var b strings.Builder
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			b.Reset()
			if err := p.ReconcileFollowups(t.Context(), tx); err != nil {
				return err
			}
			repos, err := tx.ListRepos(t.Context())
			if err != nil {
				return err
			}
			items, err := tx.ListItems(t.Context(), repos[0].ID)
			for _, i := range items[:4] {
				b.WriteString(string(i.State) + "/" + explain.Reason(i.Reason, explain.Place{Comments: routing}).Next() + "\n")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const (
		over  = "blocked/comment `/mergexo retry`, or remove the label and set it again\n"
		asks  = "awaiting_issue_followup/answer in a comment on the issue\n"
		fails = "blocked/say more in a comment on the issue, or remove the label and set it again to start over\n"
		more  = "awaiting_issue_followup/say more in a comment on the issue, or remove the label and set it again to start over\n"
	)
	for _, c := range []struct {
		routing bool
		want    string
	}{
		{false, over + over + over + over},
		{true, asks + fails + fails + more},
		{true, asks + fails + fails + more},
		{false, over + over + over + over},
		{true, asks + fails + fails + more},
	} {
		if got := states(c.routing); got != c.want {
			t.Errorf("with routing %v:\n%swant\n%s", c.routing, got, c.want)
		}
	}
}

// Every reason for which a start waits has a state, with routing and without.
func TestEveryWaitHasAState(t *testing.T) {
	kinds := []work.ReasonKind{
		work.WhyQuestion, work.WhyTestsFail, work.WhyNothingChanged, work.WhyChangeRefused, work.WhyNewComments, work.WhyAgentMissing,
	}
	for _, kind := range kinds {
		v := classify(&work.BlockedError{Reason: work.Reason{Kind: kind, Text: "why"}}, work.Turn{Kind: work.KindBugfixStart}, noon, time.Second)
		if (v.kind == env.VerdictSuperseded) != (kind == work.WhyNewComments) || v.why.Kind != kind || v.why.Text != "why" {
			t.Errorf("%s: %+v", kind, v)
		}
		for _, routing := range []bool{true, false} {
			p := &Turns{Env: &env.Env{Config: &config.Config{}}}
			p.Config.Runtime.EnableIssueCommentRouting = routing
			m := p.waitingMove(work.Followup{Reason: work.Reason{Kind: kind}})
			if (m.To == work.StateAwaitingIssueFollowup) != (routing && kind.Answerable()) || !slices.Contains(work.StatesBefore(m.Cause, m.To), work.StateRunning) {
				t.Errorf("%s, routing %v: %+v", kind, routing, m)
			}
		}
	}
}

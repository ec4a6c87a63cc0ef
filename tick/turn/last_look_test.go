package turn

import (
	"context"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// forgetful is a GitHub that does not know any pull request.
type forgetful struct{ env.GitHub }

func (forgetful) Details(context.Context, []string) ([]github.PullDetail, []string, error) {
	return nil, []string{"P"}, nil
}

// TestAPullRequestThatGitHubDoesNotKnowIsTriedAgain: to cancel the turn would void its comments.
func TestAPullRequestThatGitHubDoesNotKnowIsTriedAgain(t *testing.T) {
	p, l := accountant(t, work.Budgets{})
	l.Repo.GitHub = forgetful{}
	err := p.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutPull(t.Context(), work.PullRequest{RepoID: l.Repo.Row.ID, ItemID: l.Item.ID, Number: 8, NodeID: "P", State: work.PullOpen})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if v := classify(p.looks.readPull(t.Context(), l), l.Turn, noon, time.Minute); v.kind != env.VerdictRetry {
		t.Errorf("the turn ends as %q: %s", v.kind, v.why)
	}
}

package github

import (
	"fmt"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

func TestSweepSaysWhichRepositoryANameStandsFor(t *testing.T) {
	w := newWorld(t)
	ids := w.pulls(t, 1)
	sweep := func(owner, name string) Sweep {
		t.Helper()
		s, err := w.client.Sweep(t.Context(), repoName(owner, name), ids)
		must(t, err)
		if len(s.Pulls) != 1 {
			t.Errorf("pull requests by node id: %+v", s.Pulls)
		}
		return s
	}
	r, err := w.client.Repository(t.Context(), w.name)
	must(t, err)
	if got := sweep("alice", "app").Repo; got != (RepoNode{NodeID: r.NodeID, DefaultBranch: r.DefaultBranch}) {
		t.Errorf("%+v, want %s", got, r.NodeID)
	}
	must(t, w.repo.Rename("alice/other"))
	if got := sweep("alice", "app").Repo; got != (RepoNode{NodeID: r.NodeID, DefaultBranch: r.DefaultBranch}) {
		t.Errorf("by its former name: %+v", got)
	}
	taken, err := w.hub.AddRepo("alice/app", nil)
	must(t, err)
	if got := sweep("alice", "app").Repo; got.NodeID == r.NodeID || got.NodeID == "" {
		t.Errorf("the name of another one: %+v", got)
	}
	taken.DeleteRepo()
	if got := sweep("alice", "none").Repo; got != (RepoNode{Gone: true}) {
		t.Errorf("nothing of that name: %+v", got)
	}
}

func TestAnIssueIsFoundWhereverItWent(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	found := func(title string) {
		t.Helper()
		is, ok, err := w.client.IssueWherever(t.Context(), w.name, n)
		if err != nil || !ok || is.Title != title {
			t.Errorf("%+v, %v, %v; want %q", is, ok, err, title)
		}
	}
	found("x")
	must(t, w.repo.Rename("alice/other"))
	found("x")
	other, err := w.hub.AddRepo("alice/third", nil)
	must(t, err)
	moved, err := other.OpenIssue("alice", "transferred", "")
	must(t, err)
	w.hub.AddFault(githubsim.Redirect(fmt.Sprintf("/repositories/%d/issues/%d", other.ID(), moved)))
	found("transferred")
	must(t, w.repo.DeleteIssue(n, "alice"))
	if _, ok, err := w.client.IssueWherever(t.Context(), w.name, n); ok || err != nil {
		t.Errorf("deleted: %v, %v", ok, err)
	}
	w.hub.AddFault(githubsim.Fault{Status: 403})
	if _, _, err := w.client.IssueWherever(t.Context(), w.name, n); !IsStatus(err, 403) {
		t.Errorf("refused: %v", err)
	}
}

package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestStampsCostTwoPointsForAHundredRepositories(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t)
	ids := w.repos(t, MaxStamps)
	before := w.hub.Used("alice", "graphql")
	all, err := w.client.Stamps(t.Context(), ids)
	must(t, err)
	if used := w.hub.Used("alice", "graphql") - before; used != 2 || len(all) != MaxStamps {
		t.Errorf("%d points for %d repositories", used, len(all))
	}
	if got := all[ids[0]]; got != (RepoStamps{FullName: "alice/r0"}) {
		t.Errorf("an empty repository: %+v", got)
	}
	if _, err := w.client.Stamps(t.Context(), append(ids, "x")); err == nil {
		t.Error("101 repositories in one query")
	}
}

// Every activity shows in the timestamp of issues or of pull requests.
func TestStampsShowWhichSideChanged(t *testing.T) {
	w := newWorld(t)
	id := w.repo.NodeID()
	look := func() RepoStamps {
		t.Helper()
		w.advance(time.Minute)
		p, err := w.client.Stamps(t.Context(), []string{id})
		must(t, err)
		return p[id]
	}
	before := look()
	is := w.issue(t, "an issue")
	after := look()
	if !after.Issues.After(before.Issues) || !after.Pulls.Equal(before.Pulls) {
		t.Errorf("an issue: %+v, before %+v", after, before)
	}
	n, _ := w.pull(t, "topic")
	before, after = after, look()
	if !after.Issues.Equal(before.Issues) || !after.Pulls.After(before.Pulls) {
		t.Errorf("a pull request: %+v, before %+v", after, before)
	}
	for _, number := range []int{is, n} {
		_, err := w.repo.Comment(number, "bob", "a comment")
		must(t, err)
	}
	before, after = after, look()
	if !after.Issues.After(before.Issues) || !after.Pulls.After(before.Pulls) {
		t.Errorf("comments: %+v, before %+v", after, before)
	}
	if again := look(); again != after {
		t.Errorf("it moves by itself: %+v, before %+v", again, after)
	}
}

// A repository that is gone, renamed, archived or refused does not affect the others.
func TestStampsOfWhatIsNotAsItWas(t *testing.T) {
	w := newWorld(t)
	ids := w.repos(t, 3)
	w.hub.Repo("alice/r1").DeleteRepo()
	w.repo.SetArchived(true)
	asked := []string{ids[0], ids[1], "R_nothing", w.repo.NodeID(), ids[2]}
	p, err := w.client.Stamps(t.Context(), asked)
	must(t, err)
	if len(p) != 3 || !p[w.repo.NodeID()].Archived || p[ids[2]].FullName != "alice/r2" {
		t.Errorf("%+v", p)
	}
	refuses := fmt.Sprintf(`{"data":{"viewer":{"databaseId":1,"login":"alice"},"nodes":[
		{"__typename":"Repository","id":%q,"nameWithOwner":"alice/r0","issues":{"nodes":[]},"pullRequests":null},
		{"__typename":"Repository","id":%q,"nameWithOwner":"alice/r2","issues":{"nodes":[]},"pullRequests":{"nodes":[]}}]},
		"errors":[{"type":"FORBIDDEN","message":"Resource not accessible","path":["nodes",0,"pullRequests"]}]}`, ids[0], ids[2])
	w.hub.AddFault(githubsim.Fault{Path: "/graphql", Status: http.StatusOK, Body: refuses, Header: http.Header{"Content-Type": {"application/json"}}})
	p, err = w.client.Stamps(t.Context(), []string{ids[0], ids[2]})
	must(t, err)
	if _, said := p[ids[0]]; said || len(p) != 1 {
		t.Errorf("a refused side: %+v", p)
	}
}

// repos makes repositories alice/r0, alice/r1, … and returns their node ids.
func (w *world) repos(t *testing.T, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		r, err := w.hub.AddRepo(fmt.Sprintf("alice/r%d", i), nil)
		must(t, err)
		ids[i] = r.NodeID()
	}
	return ids
}

// A repository that GitHub hides from us is left out, and so is an unknown id.
func TestStampsOfWhatIsHidden(t *testing.T) {
	w := newWorld(t)
	ids := w.repos(t, 3)
	w.hub.Repo("alice/r1").HideNode("Resource protected by organization SAML enforcement.")
	p, err := w.client.Stamps(t.Context(), append(ids, "R_nothing"))
	must(t, err)
	if _, shown := p[ids[1]]; len(p) != 2 || shown {
		t.Errorf("shown %+v", p)
	}
	w.hub.Repo("alice/r1").HideNode("")
	p, err = w.client.Stamps(t.Context(), ids)
	must(t, err)
	if len(p) != 3 {
		t.Errorf("shown %+v", p)
	}
}

package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestPulseCostsTwoPointsForAHundredRepositories(t *testing.T) {
	w := newWorld(t)
	ids := w.repos(t, MaxPulse)
	before := w.hub.Used("alice", "graphql")
	p, err := w.client.Pulse(t.Context(), ids)
	must(t, err)
	if p.Cost != 2 || w.hub.Used("alice", "graphql")-before != 2 || p.Remaining != 5000-before-2 || p.ResetAt.IsZero() {
		t.Errorf("cost %d, used %d, remaining %d", p.Cost, w.hub.Used("alice", "graphql")-before, p.Remaining)
	}
	if len(p.Repos) != MaxPulse || p.Viewer != (work.Account{ID: w.hub.UserID("alice"), Login: "alice"}) {
		t.Errorf("%d repositories, viewer %+v", len(p.Repos), p.Viewer)
	}
	if got := p.Repos[ids[0]]; got != (RepoPulse{FullName: "alice/r0"}) {
		t.Errorf("an empty repository: %+v", got)
	}
	if _, err := w.client.Pulse(t.Context(), append(ids, "x")); err == nil {
		t.Error("101 repositories in one pulse")
	}
}

// Every activity shows in the timestamp of issues or of pull requests.
func TestPulseShowsWhichSideChanged(t *testing.T) {
	w := newWorld(t)
	id := w.repo.NodeID()
	look := func() RepoPulse {
		t.Helper()
		w.advance(time.Minute)
		p, err := w.client.Pulse(t.Context(), []string{id})
		must(t, err)
		return p.Repos[id]
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
func TestPulseOfWhatIsNotAsItWas(t *testing.T) {
	w := newWorld(t)
	ids := w.repos(t, 3)
	w.hub.Repo("alice/r1").DeleteRepo()
	w.repo.SetArchived(true)
	asked := []string{ids[0], ids[1], "R_nothing", w.repo.NodeID(), ids[2]}
	p, err := w.client.Pulse(t.Context(), asked)
	must(t, err)
	if len(p.Repos) != 3 || !p.Repos[w.repo.NodeID()].Archived || p.Repos[ids[2]].FullName != "alice/r2" {
		t.Errorf("%+v", p.Repos)
	}
	refuses := fmt.Sprintf(`{"data":{"viewer":{"databaseId":1,"login":"alice"},"nodes":[
		{"__typename":"Repository","id":%q,"nameWithOwner":"alice/r0","issues":{"nodes":[]},"pullRequests":null},
		{"__typename":"Repository","id":%q,"nameWithOwner":"alice/r2","issues":{"nodes":[]},"pullRequests":{"nodes":[]}}]},
		"errors":[{"type":"FORBIDDEN","message":"Resource not accessible","path":["nodes",0,"pullRequests"]}]}`, ids[0], ids[2])
	w.hub.AddFault(githubsim.Fault{Path: "/graphql", Status: http.StatusOK, Body: refuses, Header: http.Header{"Content-Type": {"application/json"}}})
	p, err = w.client.Pulse(t.Context(), []string{ids[0], ids[2]})
	must(t, err)
	if _, said := p.Repos[ids[0]]; said || len(p.Repos) != 1 {
		t.Errorf("a refused side: %+v", p.Repos)
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
func TestPulseOfWhatIsHidden(t *testing.T) {
	w := newWorld(t)
	ids := w.repos(t, 3)
	w.hub.Repo("alice/r1").HideNode("Resource protected by organization SAML enforcement.")
	p, err := w.client.Pulse(t.Context(), append(ids, "R_nothing"))
	must(t, err)
	if _, shown := p.Repos[ids[1]]; len(p.Repos) != 2 || shown {
		t.Errorf("shown %+v", p.Repos)
	}
	w.hub.Repo("alice/r1").HideNode("")
	p, err = w.client.Pulse(t.Context(), ids)
	must(t, err)
	if len(p.Repos) != 3 {
		t.Errorf("shown %+v", p.Repos)
	}
}

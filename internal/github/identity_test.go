package github

import "testing"

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
	if got := sweep("alice", "app").Repo; got != (Identity{NodeID: r.NodeID}) {
		t.Errorf("%+v, want %s", got, r.NodeID)
	}
	must(t, w.repo.Rename("alice/other"))
	if got := sweep("alice", "app").Repo; got != (Identity{NodeID: r.NodeID}) {
		t.Errorf("by its former name: %+v", got)
	}
	taken, err := w.hub.AddRepo("alice/app", nil)
	must(t, err)
	if got := sweep("alice", "app").Repo; got.NodeID == r.NodeID || got.NodeID == "" {
		t.Errorf("the name of another one: %+v", got)
	}
	taken.DeleteRepo()
	if got := sweep("alice", "none").Repo; got != (Identity{Gone: true}) {
		t.Errorf("nothing of that name: %+v", got)
	}
}

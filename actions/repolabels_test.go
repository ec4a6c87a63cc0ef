package actions

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// repoLabels plans that the repository has both labels.
func (s *stage) repoLabels() work.Action {
	s.Helper()
	a := work.Labelling{With: []work.Label{red, green}}.Action(s.scope.Repo, 0, 0, "repository")
	a.Kind = work.ActionRepoLabels
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) error { return tx.RenewAction(s.Context(), a) }))
	return s.row(a)
}

func TestLabelsThatARepositoryLacksAreMade(t *testing.T) {
	s := newStage(t)
	s.repo.MakeLabel("AGENT:done", "abcdef", "as people like it")
	before := s.requests("POST")
	s.apply(s.repoLabels())
	want := []string{"AGENT:done abcdef as people like it", red.Name + " " + red.Color + " " + red.Description}
	if got := s.repo.RepoLabels(); !slices.Equal(got, want) {
		t.Errorf("the repository has %q, not %q", got, want)
	}
	if made := s.requests("POST") - before; made != 1 {
		t.Errorf("%d labels were asked for, want the one that was missing", made)
	}
}

// A pass that dies between two labels leaves the other one for the next pass; a label
// whose answer never came is there.
func TestLabelsThatWereMadeInPart(t *testing.T) {
	s := newStage(t)
	lost := githubsim.LoseAnswer()
	lost.Method = "POST"
	s.hub.AddFault(lost)
	if _, err := s.runner.Apply(t.Context(), s.scope, s.repoLabels()); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	if got := s.repo.RepoLabels(); len(got) != 1 {
		t.Fatalf("the repository has %q, want one label", got)
	}
	a := s.repoLabels()
	s.until(a.NotBefore)
	s.apply(a)
	if got := s.repo.RepoLabels(); len(got) != 2 {
		t.Errorf("the repository has %q, want two labels", got)
	}
}

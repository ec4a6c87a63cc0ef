package actions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

var (
	red   = work.Label{Name: "agent: stopped?", Color: "d93f0b", Description: "waits, for people"}
	green = work.Label{Name: "agent:done", Color: "0e8a16", Description: "it is done"}
)

// label plans that the issue has one of the two labels, or none.
func (s *stage) label(want ...work.Label) work.Action {
	s.Helper()
	l := work.Labelling{With: want}
	for _, other := range []work.Label{red, green} {
		if !slices.Contains(want, other) {
			l.Without = append(l.Without, other.Name)
		}
	}
	a := l.Action(s.scope.Repo, 0, s.issue, "status")
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) error { return tx.RenewAction(s.Context(), a) }))
	return s.row(a)
}

func (s *stage) apply(a work.Action) work.Action {
	s.Helper()
	got, err := s.runner.Apply(s.Context(), s.scope, a)
	s.must(err)
	return got
}

func (s *stage) has(want ...string) {
	s.Helper()
	if got := s.repo.Labels(s.issue); !slices.Equal(got, want) {
		s.Errorf("the issue has the labels %q, not %q", got, want)
	}
}

// requests counts what was asked since it was last called, by method.
func (s *stage) requests(method string) (n int) {
	for _, r := range s.hub.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

func TestLabelsAreMadeAddedAndTakenAway(t *testing.T) {
	s := newStage(t)
	s.must(s.repo.Label(s.issue, "olga", "bug", green.Name)) // in whatever colour
	if got := s.apply(s.label(red)); got.State != work.ActionApplied {
		t.Errorf("state %s", got.State)
	}
	s.has(red.Name, "bug")
	made := false
	for _, r := range s.hub.Requests() {
		made = made || r.Method == "POST" && strings.HasSuffix(r.Path, "/labels") && strings.Contains(r.Body, red.Color) && strings.Contains(r.Body, red.Description)
	}
	if !made {
		t.Error("the label was not made with its colour and description")
	}
	s.apply(s.label())
	s.has("bug")
	s.hub.ResetLog()
	s.apply(s.label(red))
	s.has(red.Name, "bug")
	if n := s.requests("POST"); n != 1 {
		t.Errorf("%d POSTs for a label that the repository has, want one", n)
	}
}

func TestWhatIsSoIsNotWritten(t *testing.T) {
	s := newStage(t)
	s.apply(s.label(red))
	a := s.label(red)
	if a.State != work.ActionApplied || a.Renewals != 0 {
		t.Errorf("the same again is %s, renewed %d times", a.State, a.Renewals)
	}
	s.label(green)
	if a = s.label(red); a.State != work.ActionApplied {
		t.Errorf("there and back without a send is %s", a.State)
	}
	sent := s.label(green)
	s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error {
		err := tx.MarkSent(t.Context(), sent.ID, s.at())
		return err
	}))
	if a = s.label(red); a.State != work.ActionPlanned {
		t.Errorf("there and back after a send is %s: GitHub may show the other", a.State)
	}
	s.hub.ResetLog()
	s.apply(a)
	if n := s.requests("POST") + s.requests("DELETE"); n != 0 {
		t.Errorf("%d writes for what is so already", n)
	}
}

// renewing changes what is wanted while it is being sent.
type renewing struct {
	Gateway
	renew func()
}

func (r renewing) AddLabels(ctx context.Context, repo work.RepoName, number int, names []string) ([]string, error) {
	present, err := r.Gateway.AddLabels(ctx, repo, number, names)
	r.renew()
	return present, err
}

func TestRenewedWhileItIsSentStaysPlanned(t *testing.T) {
	s := newStage(t)
	a := s.label(red)
	busy := s.scope
	busy.GitHub = renewing{s.scope.GitHub, func() { s.label(green) }}
	got, err := s.runner.Apply(t.Context(), busy, a)
	s.must(err)
	if got.State != work.ActionPlanned || s.row(a).State != work.ActionPlanned || s.row(a).Target != green.Name {
		t.Fatalf("the row is %s with %q, want the newer one planned", s.row(a).State, s.row(a).Target)
	}
	s.apply(s.row(a))
	s.has(green.Name)
	stale := a
	if got, err = s.runner.Drop(t.Context(), stale, errors.New("late")); err != nil || got.State != work.ActionApplied {
		t.Errorf("what an older pass gives up is %s now: %v", got.State, err)
	}
}

func TestLabelsWhoseAnswerIsLost(t *testing.T) {
	s := newStage(t)
	s.hub.AddFault(losePost())
	a := s.label(red)
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil { // the label was made, and is not on the issue
		t.Fatal("a lost answer went unnoticed")
	}
	s.until(s.row(a).NotBefore)
	s.hub.AddFault(losePost())
	if got := s.apply(s.row(a)); got.State != work.ActionApplied {
		t.Errorf("state %s", got.State)
	}
	s.has(red.Name)
}

func TestALabelThatSomebodyElseMakes(t *testing.T) {
	s := newStage(t)
	busy := s.scope
	busy.GitHub = blind{s.scope.GitHub}
	s.must(s.repo.Label(s.issue, "olga", red.Name))
	s.must(s.repo.Unlabel(s.issue, "olga", red.Name))
	_, err := s.runner.Apply(t.Context(), busy, s.label(red))
	s.must(err)
	s.has(red.Name)
}

// blind does not see labels that were made just now.
type blind struct{ Gateway }

func (blind) HasLabel(context.Context, work.RepoName, string) (bool, error) { return false, nil }

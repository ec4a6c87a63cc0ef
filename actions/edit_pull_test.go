package actions

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// pullText is the body of a pull request of ours: its text, and what stands below it.
const (
	pullText = "It squeaked."
	pullTail = "\n\nFixes #1\n\n<!-- mergexo-action:aaaa -->"
)

// retitle opens a pull request, and plans another title and text for it.
func (s *roadmapStage) retitle() (number int, a work.Action) {
	_, err := s.repo.PushCommit("topic", "olga", map[string]string{"oil.txt": "oil"}, "Oil")
	s.must(err)
	number, err = s.repo.OpenPull("olga", githubsim.NewPull{Title: "Oiled", Head: "topic", Body: pullText + pullTail})
	s.must(err)
	return number, s.add(work.Action{
		Kind: work.ActionEditPull, Token: work.EditPullToken(s.scope.Repo.Key(), number, "turn"), Number: number,
		Title: "fix: Oil it", Body: "It squeaks no more.", Base: work.IssueHash("Oiled", pullText+pullTail),
	})
}

// However a pass ends while it sends: title and text are edited once, and what stands below stays.
func TestDeathsOfTitleAndText(t *testing.T) {
	for name, end := range deaths() {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			number, a := s.retitle()
			end(s, a)
			s.later(2 * time.Minute)
			got := s.apply(s.row(s.add(a))) // the row is gone with a lost database
			if got.State != work.ActionApplied || s.renames(number) != 1 {
				t.Errorf("it is %s, and done %d times", got.State, s.renames(number))
			}
			p, _, err := s.scope.GitHub.Pull(t.Context(), s.scope.Repo.Current, number)
			s.must(err)
			if text, tail := work.SplitPull(p.Body); p.Title != "fix: Oil it" || text != "It squeaks no more." || !strings.HasSuffix(pullTail, tail) {
				t.Errorf("%q: %q, %q", p.Title, text, tail)
			}
			s.hub.ResetLog()
			s.apply(s.row(got))
			if n := s.requests("PATCH"); n != 0 {
				t.Errorf("what is settled made %d writes", n)
			}
		})
	}
}

func (s *roadmapStage) renames(number int) (n int) {
	all, err := s.scope.GitHub.TimelineOf(s.Context(), s.scope.Repo.Current, number)
	s.must(err)
	for _, e := range all {
		if e.Event == "renamed" {
			n++
		}
	}
	return n
}

// What a person edited or closed stays.
func TestTitleAndTextOfPeopleStay(t *testing.T) {
	for name, c := range map[string]struct {
		deed func(*roadmapStage, int)
		want work.Ending
	}{
		"edited": {func(s *roadmapStage, n int) { s.must(s.repo.EditIssue(n, "olga", new("Mine"), nil)) }, work.EndedEdited},
		"closed": {func(s *roadmapStage, n int) { s.must(s.repo.Close(n, "olga", "")) }, work.EndedGone},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			number, a := s.retitle()
			c.deed(s, number)
			s.hub.ResetLog()
			if got := s.apply(a); got.State != work.ActionVoid || got.Ending != c.want || s.requests("PATCH") != 0 {
				t.Errorf("it is %s, %q, with %d writes", got.State, got.Ending, s.requests("PATCH"))
			}
		})
	}
}

// What a person edits while the request is under way stays, where the action is about something else.
func TestOnlyWhatIsReplacedIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		of          func(a *work.Action)
		title, text *string // the person's
	}{
		"the title of a new text":    {func(a *work.Action) { a.Title = "" }, new("Mine"), nil},
		"the text below a new title": {func(a *work.Action) { a.Body = "" }, nil, new("My own words." + pullTail)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			number, a := s.retitle()
			c.of(&a)
			a.Token = work.EditPullToken(s.scope.Repo.Key(), number, name)
			s.hub.AddFault(githubsim.Fault{Method: "PATCH", Path: "/repos/octo/app/issues/*", Do: func() error {
				return s.repo.EditIssue(number, "olga", c.title, c.text)
			}})
			got := s.apply(s.add(a))
			p, _, err := s.scope.GitHub.Pull(t.Context(), s.scope.Repo.Current, number)
			s.must(err)
			if got.State != work.ActionApplied || c.title != nil && p.Title != *c.title || c.text != nil && p.Body != *c.text {
				t.Errorf("it is %s: %q, %q", got.State, p.Title, p.Body)
			}
		})
	}
}

// What GitHub refuses is neither done nor over.
func TestARefusedTitleStaysAsked(t *testing.T) {
	s := newRoadmapStage(t)
	_, a := s.retitle()
	s.hub.AddFault(githubsim.Fault{Method: "PATCH", Path: "/repos/octo/app/issues/*", Status: 422})
	if got, err := s.runner.Apply(t.Context(), s.scope, a); err == nil || got.State.Settled() {
		t.Errorf("it is %s, %v", got.State, err)
	}
}

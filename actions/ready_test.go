package actions

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// readying opens a draft of ours, and plans to mark it as ready.
func (s *stage) readying() (number int, a work.Action) {
	s.Helper()
	_, err := s.repo.PushCommit(fixBranch, "olga", map[string]string{"fix.txt": "fixed\n"}, "Fix it")
	s.must(err)
	number, err = s.repo.OpenPull("olga", githubsim.NewPull{Title: "Fix it", Head: fixBranch, Draft: true})
	s.must(err)
	p, _, err := s.scope.GitHub.Pull(s.Context(), s.scope.Repo.Current, number)
	s.must(err)
	return number, s.add(work.Action{
		RepoID: s.scope.Repo.ID, Kind: work.ActionReady, Need: work.NeedRequired, State: work.ActionPlanned,
		Token: work.ReadyToken(s.scope.Repo.Key(), number, p.HeadOID), Number: number, Target: p.NodeID, Head: p.HeadOID,
	})
}

// marked counts how often a draft was marked as ready.
func (s *stage) marked(number int) (n int) {
	events, err := s.scope.GitHub.TimelineOf(s.Context(), s.scope.Repo.Current, number)
	s.must(err)
	for _, e := range events {
		if e.Event == "ready_for_review" {
			n++
		}
	}
	return n
}

// However a pass ends while it sends: a draft is marked as ready once, also if the database is lost.
func TestDeathsOfADraftThatIsReady(t *testing.T) {
	for name, end := range deaths() {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			number, a := s.readying()
			end(s, a)
			s.later(2 * time.Minute)
			got := s.apply(s.row(s.add(a)))
			if got.State != work.ActionApplied || s.marked(number) != 1 {
				t.Errorf("it is %s, and marked %d times", got.State, s.marked(number))
			}
		})
	}
}

// A person who makes it a draft again keeps it one, however a pass ended that marked it, or did not.
func TestADraftOfAPersonStaysOne(t *testing.T) {
	for name, end := range deaths() {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			number, a := s.readying()
			end(s, a)
			s.must(s.repo.MarkReady(number, "olga"))
			s.must(s.repo.ConvertToDraft(number, "olga"))
			s.later(2 * time.Minute)
			s.apply(s.row(s.add(a)))
			p, _, err := s.scope.GitHub.Pull(t.Context(), s.scope.Repo.Current, number)
			s.must(err)
			if !p.Draft || s.marked(number) != 1 {
				t.Errorf("draft %v, and marked %d times", p.Draft, s.marked(number))
			}
		})
	}
}

package actions

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// red is a pull request with a red check, and the plan to open an issue and to
// run its jobs again.
func (s *stage) red() (pull int, issue, rerun work.Action) {
	s.Helper()
	head, err := s.repo.PushCommit("topic", "olga", map[string]string{"a": "b"}, "Change")
	s.must(err)
	pull, err = s.repo.OpenPull("olga", githubsim.NewPull{Head: "topic", Title: "Topic"})
	s.must(err)
	_, err = s.repo.SetCheck("topic", "unit", "", "failure")
	s.must(err)
	runs, err := s.scope.GitHub.(*github.Client).WorkflowRuns(s.Context(), s.scope.Repo.Name, head) //nolint:forcetypeassert // it is that
	s.must(err)
	id := strconv.FormatInt(runs[0].ID, 10)
	token := work.IssueToken(s.scope.Repo.Key(), pull, head, "TestClock")
	issue = s.add(work.Action{Kind: work.ActionIssue, Token: token, Number: pull, Title: "Flaky test: TestClock", Body: work.Mark("It is.", work.Marks{Token: token})})
	rerun = s.add(work.Action{Kind: work.ActionRerun, Token: work.RerunToken(s.scope.Repo.Key(), pull, head, id), Number: pull, Target: id, Base: "1", Head: head})
	return pull, issue, rerun
}

func (s *stage) add(a work.Action) work.Action {
	s.Helper()
	a.RepoID, a.Need, a.State, a.PlannedAt = s.scope.Repo.ID, work.NeedRequired, work.ActionPlanned, s.at()
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) (err error) {
		a, err = tx.AddAction(s.Context(), a)
		return err
	}))
	return a
}

// flakyIssues counts the issues about a flaky test, and reruns the attempts
// beyond the first.
func (s *stage) flakyIssues() (n int) {
	for _, i := range s.repo.Issues() {
		if strings.HasPrefix(i.Title, "Flaky test") {
			n++
		}
	}
	return n
}

func (s *stage) reruns(a work.Action) int {
	s.Helper()
	run, err := s.scope.GitHub.WorkflowRun(s.Context(), s.scope.Repo.Name, a.Target)
	s.must(err)
	return run.Attempt - 1
}

func TestIssueAndRerunThatADeadPassSent(t *testing.T) {
	s := newStage(t)
	_, issue, rerun := s.red()
	_, err := s.repo.OpenIssue("olga", issue.Title, issue.Body)
	s.must(err)
	s.must(s.scope.GitHub.RerunFailedJobs(t.Context(), s.scope.Repo.Name, rerun.Target))
	for _, a := range []work.Action{issue, rerun} {
		got, err := s.runner.Apply(t.Context(), s.scope, a)
		s.must(err)
		if got.State != work.ActionApplied || s.row(a).Sends != 0 {
			t.Errorf("%s: %s after %d sends", a.Kind, got.State, s.row(a).Sends)
		}
	}
	if s.flakyIssues() != 1 || s.reruns(rerun) != 1 {
		t.Errorf("%d issues, %d reruns", s.flakyIssues(), s.reruns(rerun))
	}
}

func TestIssueAndRerunWhoseAnswerIsLost(t *testing.T) {
	s := newStage(t)
	_, issue, rerun := s.red()
	for _, a := range []work.Action{issue, rerun} {
		s.hub.AddFault(losePost())
		if _, err := s.runner.Apply(t.Context(), s.scope, a); err != nil {
			t.Fatalf("%s: %v", a.Kind, err)
		}
		s.later(2 * time.Minute)
		if got := s.row(a); got.State != work.ActionApplied || got.Sends != 1 {
			t.Errorf("%s: %s after %d sends", a.Kind, got.State, got.Sends)
		}
	}
	if s.flakyIssues() != 1 || s.reruns(rerun) != 1 {
		t.Errorf("%d issues, %d reruns", s.flakyIssues(), s.reruns(rerun))
	}
}

func TestAStrangersIssueWithOurMarkerIsNotOurs(t *testing.T) {
	s := newStage(t)
	_, issue, _ := s.red()
	_, err := s.hub.AddUser("mallory")
	s.must(err)
	_, err = s.repo.OpenIssue("mallory", "Ha", issue.Body)
	s.must(err)
	_, err = s.runner.Apply(t.Context(), s.scope, issue)
	s.must(err)
	if s.flakyIssues() != 1 {
		t.Error("a stranger's issue was taken for ours")
	}
}

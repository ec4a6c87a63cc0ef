package actions

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// begin plans that the issue's work begins with a label, or is cancelled.
func (s *stage) begin(label, others string) work.Action {
	s.Helper()
	a := work.Action{
		RepoID: s.scope.Repo.ID, Kind: work.ActionFlow, Need: work.NeedRequired, Token: work.FlowToken(s.scope.Repo.Key(), s.issue),
		State: work.ActionPlanned, Number: s.issue, Target: label, Base: others, Head: s.at().UTC().Format(time.RFC3339), PlannedAt: s.at(),
	}
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) error { return tx.RepeatAction(s.Context(), a) }))
	return s.row(a)
}

// labellings counts how often a label was set.
func (s *stage) labellings(label string) (n int) {
	all, err := s.scope.GitHub.TimelineOf(s.Context(), s.scope.Repo.Current, s.issue)
	s.must(err)
	for _, t := range all {
		if t.Event == "labeled" && t.Label == label {
			n++
		}
	}
	return n
}

func TestFlowIsBegunAgain(t *testing.T) {
	s := newStage(t)
	s.must(s.repo.Label(s.issue, "olga", "bug", "agent:bugfix", "agent:design"))
	s.later(time.Minute)
	a := s.begin("agent:bugfix", "agent:design,agent:small-job")
	s.apply(a)
	s.has("agent:bugfix", "bug")
	if n := s.labellings("agent:bugfix"); n != 2 {
		t.Errorf("the label was set %d times, want once more than before", n)
	}
	s.hub.ResetLog()
	s.apply(s.row(a))
	if n := s.requests("POST") + s.requests("DELETE"); n != 0 {
		t.Errorf("what is settled made %d writes", n)
	}
	s.later(time.Minute)
	s.apply(s.begin("", "agent:bugfix,agent:design,agent:small-job"))
	s.has("bug")
}

// A death or a lost answer between taking the label away and setting it, and
// after it: the label is there in the end, and set once.
func TestFlowWhoseAnswerIsLost(t *testing.T) {
	for _, method := range []string{"DELETE", "POST"} {
		s := newStage(t)
		s.must(s.repo.Label(s.issue, "olga", "agent:bugfix"))
		s.later(time.Minute)
		a := s.begin("agent:bugfix", "agent:design")
		f := githubsim.LoseAnswer()
		f.Method = method
		s.hub.AddFault(f)
		if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil && method == "DELETE" {
			t.Fatal("a lost answer went unnoticed")
		}
		s.later(2 * time.Minute)
		if got := s.apply(s.row(a)); got.State != work.ActionApplied {
			t.Errorf("%s: state %s", method, got.State)
		}
		s.has("agent:bugfix")
		if n := s.labellings("agent:bugfix"); n != 2 {
			t.Errorf("%s: the label was set %d times, want once more than before", method, n)
		}
	}
}

func TestCloseIsDoneOnce(t *testing.T) {
	s := newStage(t)
	_, err := s.repo.PushCommit("topic", "olga", map[string]string{"x": "x"}, "x")
	s.must(err)
	n, err := s.repo.OpenPull("olga", githubsim.NewPull{Head: "topic", Title: "x"})
	s.must(err)
	plan := func(key string) work.Action {
		a := work.Action{
			RepoID: s.scope.Repo.ID, Kind: work.ActionClose, Need: work.NeedRequired, Token: work.CloseToken(s.scope.Repo.Key(), n, key), Number: n, PlannedAt: s.at(),
		}
		s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) (err error) {
			a, err = tx.AddAction(s.Context(), a)
			return err
		}))
		return a
	}
	f := githubsim.LoseAnswer()
	f.Method = "PATCH"
	s.hub.AddFault(f)
	if got := s.apply(plan("one")); got.State != work.ActionApplied {
		t.Errorf("a close whose answer is lost is %s", got.State)
	}
	s.hub.ResetLog()
	if got := s.apply(plan("two")); got.State != work.ActionApplied || s.requests("PATCH") != 0 {
		t.Errorf("closing what is closed is %s, with %d writes", got.State, s.requests("PATCH"))
	}
}

// A notice about an issue that was deleted is for nobody.
func TestANoticeOnADeletedIssueIsVoid(t *testing.T) {
	s := newStage(t)
	s.must(s.repo.SetPermission("olga", "admin"))
	a := s.plan("an answer")
	s.must(s.repo.DeleteIssue(s.issue, "olga"))
	if got := s.apply(a); got.State != work.ActionVoid {
		t.Errorf("it is %s", got.State)
	}
}

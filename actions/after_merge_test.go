package actions

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

func (s *mergeStage) enqueuing() work.Action {
	s.Helper()
	s.repo.SetRuleset("queue", "main", githubsim.Rules{Queue: "squash"})
	p, _, err := s.scope.GitHub.Pull(s.Context(), s.scope.Repo.Current, s.pull)
	s.must(err)
	return s.planned(work.ActionEnqueue, work.EnqueueToken(s.scope.Repo.Key(), s.pull, s.head), p.NodeID)
}

func TestEnqueuedWhateverTheAnswer(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]*githubsim.Fault{"fine": nil, "reset": {Applied: true, Drop: true}, "500": {Applied: true, Status: 500}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.enqueuing()
			if fault != nil {
				fault.Contains = "enqueuePullRequest"
				s.hub.AddFault(*fault)
			}
			got, err := s.apply(a)
			s.must(err)
			if got.State != work.ActionApplied || len(s.repo.Queue()) != 1 {
				t.Errorf("row %s, queue %v", got.State, s.repo.Queue())
			}
		})
	}
}

func TestQueuedBySomebodyElse(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	a := s.enqueuing()
	s.must(s.repo.Enqueue(s.pull, "pat"))
	got, err := s.apply(a)
	s.must(err)
	if got.State != work.ActionApplied || got.Sends != 0 {
		t.Errorf("row %s after %d sends", got.State, got.Sends)
	}
}

func TestNotQueuedAtAnotherHead(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	a := s.enqueuing()
	_, err := s.repo.PushCommit(fixBranch, "pat", map[string]string{"evil.txt": "unread\n"}, "Unread")
	s.must(err)
	got, err := s.apply(a)
	s.must(err)
	if got.State != work.ActionVoid || len(s.repo.Queue()) != 0 {
		t.Errorf("row %s, queue %v", got.State, s.repo.Queue())
	}
}

func (s *mergeStage) updating() work.Action {
	s.Helper()
	return s.planned(work.ActionUpdateBranch, work.UpdateToken(s.scope.Repo.Key(), s.pull, s.head), "")
}

func TestUpdatesABranchOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault *githubsim.Fault
		late  bool
	}{"at once": {}, "later": {late: true}, "reset": {fault: &githubsim.Fault{Applied: true, Drop: true}}, "500": {fault: &githubsim.Fault{Applied: true, Status: 500}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			s.advance()
			a := s.updating()
			s.repo.DelayUpdates(c.late)
			if c.fault != nil {
				c.fault.Path = "*/update-branch"
				s.hub.AddFault(*c.fault)
			}
			_, err := s.apply(a)
			if c.late {
				if _, waits := errors.AsType[*work.WaitError](err); !waits {
					t.Fatalf("error %v, want to wait", err)
				}
				s.repo.FinishUpdates()
				_, err = s.apply(a)
			}
			s.must(err)
			head, _ := s.repo.Head(fixBranch)
			if row := s.row(a); row.State != work.ActionApplied || row.ResultID != head || head == s.head || row.Sends != 1 {
				t.Errorf("row %s with %s, branch at %s", row.State, row.ResultID, head)
			}
		})
	}
}

func TestNothingToUpdate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(s *mergeStage)
		want   work.ActionState
	}{
		"up to date": {func(*mergeStage) {}, work.ActionApplied},
		"moved": {func(s *mergeStage) {
			s.advance()
			_, err := s.repo.PushCommit(fixBranch, "pat", map[string]string{"a": "b\n"}, "More")
			s.must(err)
		}, work.ActionVoid},
		"closed": {func(s *mergeStage) { s.advance(); s.must(s.repo.Close(s.pull, "pat", "")) }, work.ActionVoid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.updating()
			c.before(s)
			got, err := s.apply(a)
			s.must(err)
			if got.State != c.want || got.Sends != 0 {
				t.Errorf("row %s after %d sends, want %s", got.State, got.Sends, c.want)
			}
			if tip, _ := s.repo.Head("main"); c.want == work.ActionApplied && got.ResultID != tip {
				t.Errorf("nothing of %s is missing, not of %s", got.ResultID, tip)
			}
		})
	}
}

// mortal is a gateway whose process dies once a merge was made.
type mortal struct{ Gateway }

func (m mortal) Merge(ctx context.Context, repo work.RepoName, number int, o github.MergeOrder) (string, error) {
	_, _ = m.Gateway.Merge(ctx, repo, number, o)
	panic("killed")
}

// A pass that died with its merge learned nothing of it; the next one finds it, and what
// was not applied waits.
func TestDeathAfterTheMerge(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.merging(merging.Rebase)
			dead := s.scope
			dead.GitHub = mortal{s.scope.GitHub}
			if !applied {
				s.hub.AddFault(mergeAnswer(githubsim.LoseRequest()))
			}
			func() {
				defer func() { _ = recover() }()
				_, _ = s.runner.Apply(t.Context(), dead, s.row(a))
			}()
			_, err := s.apply(a)
			var wait *work.WaitError
			if errors.As(err, &wait) == applied {
				t.Fatalf("error %v", err)
			}
			s.later(2 * time.Minute)
			_, err = s.apply(a)
			s.must(err)
			s.merged(a, 2)
		})
	}
}

// dequeuing is for a pull request that is in the queue by our own request.
func (s *mergeStage) dequeuing() work.Action {
	s.Helper()
	put, err := s.apply(s.enqueuing())
	s.must(err)
	return s.planned(work.ActionDequeue, work.DequeueToken(s.scope.Repo.Key(), s.pull, s.head, put.Renewals), put.Target)
}

func TestDequeuedWhateverTheAnswer(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]*githubsim.Fault{
		"fine": nil, "reset": {Applied: true, Drop: true}, "500": {Applied: true, Status: 500},
		"an error": {Applied: true, Status: 200, Body: `{"data":{"dequeuePullRequest":null},"errors":[{"type":"UNPROCESSABLE","message":"Pull request is not in the queue"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.dequeuing()
			if fault != nil {
				fault.Contains = "dequeuePullRequest"
				s.hub.AddFault(*fault)
			}
			got, err := s.apply(a)
			s.must(err)
			if got.State != work.ActionApplied || got.Sends != 1 || len(s.repo.Queue()) != 0 {
				t.Errorf("row %s after %d sends, queue %v", got.State, got.Sends, s.repo.Queue())
			}
		})
	}
}

// What left the queue before anything was sent is not our doing, and what lands meanwhile
// has landed.
func TestNothingIsLeftToDequeue(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(s *mergeStage){
		"a person took it out": func(s *mergeStage) { s.must(s.repo.Dequeue(s.pull, "pat")) },
		"it landed": func(s *mergeStage) {
			for len(s.repo.Queue()) > 0 {
				s.must(s.repo.StepQueue(s.pull))
			}
		},
		"the head moved": func(s *mergeStage) {
			_, err := s.repo.PushCommit(fixBranch, "pat", map[string]string{"more.txt": "more\n"}, "More")
			s.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.dequeuing()
			before(s)
			got, err := s.apply(a)
			s.must(err)
			if got.State != work.ActionVoid || got.Sends != 0 {
				t.Errorf("row %s after %d sends", got.State, got.Sends)
			}
		})
	}
}

// GitHub does not let go of what is being merged: that counts as never sent, and waits.
func TestTheQueueDoesNotLetGo(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	a := s.dequeuing()
	s.hub.AddFault(githubsim.Fault{Contains: "dequeuePullRequest", Status: 200, Body: `{"data":{"dequeuePullRequest":null},"errors":[{"type":"UNPROCESSABLE","message":"Pull request is locked in the queue"}]}`})
	_, err := s.apply(a)
	if _, refused := errors.AsType[*RefusedError](err); !refused {
		t.Fatalf("error %v", err)
	}
	if row := s.row(a); row.State != work.ActionPlanned || row.NotBefore.IsZero() || len(s.repo.Queue()) != 1 {
		t.Errorf("row %+v, queue %v", row, s.repo.Queue())
	}
}

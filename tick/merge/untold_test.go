package merge

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// remote is a mirror whose remote may refuse what is about a stop of merging.
type remote struct {
	env.Mirror
	refuses bool
	pushes  int
	asks    int
}

var errRefused = errors.New("ask whether merging is stopped in the repository: no refs of that kind here")

func (m *remote) PutStop(ctx context.Context, why string, since time.Time) error {
	m.pushes++
	if m.refuses {
		return errRefused
	}
	return m.Mirror.PutStop(ctx, why, since)
}

func (m *remote) ReadStop(ctx context.Context) (string, bool, error) {
	m.asks++
	if m.refuses {
		return "", false, errRefused
	}
	return m.Mirror.ReadStop(ctx)
}

func newRemote(s *stage) *remote {
	m := &remote{Mirror: s.repo.Git()}
	s.repo.Opened = m
	return m
}

// Whoever stopped merging died before the remote was told, and nothing else is due: the next
// passes tell it until it is told, less and less often, and then no more.
func TestAStopIsToldUntilItIsTold(t *testing.T) {
	s := newStage(t)
	m := newRemote(s)
	s.stop()
	m.refuses = true
	for _, step := range []struct {
		after  time.Duration
		pushes int
	}{{0, 1}, {30 * time.Second, 1}, {31 * time.Second, 2}, {time.Minute, 2}, {10 * time.Minute, 3}, {24 * time.Hour, 4}, {time.Hour, 5}} {
		s.later(step.after)
		if s.run(); m.pushes != step.pushes {
			t.Fatalf("after %v %d pushes, want %d\n%s", step.after, m.pushes, step.pushes, &s.log)
		}
	}
	m.refuses = false
	s.later(time.Hour)
	s.run()
	if _, stopped, err := m.Mirror.ReadStop(t.Context()); err != nil || !stopped {
		t.Fatalf("stopped: %v, %v\n%s", stopped, err, &s.log)
	}
	if _, kept := s.merging.Dirs.MergingStopped(s.repo.Row); !kept {
		t.Error("the state folder does not say that merging is stopped")
	}
	told, requests := m.pushes, len(s.hub.Requests())
	s.later(24 * time.Hour)
	if s.run(); s.merging.Waiting(t.Context(), s.repo, nil) || m.pushes != told || len(s.hub.Requests()) != requests {
		t.Errorf("%d pushes and %d requests more where nothing is to be told", m.pushes-told, len(s.hub.Requests())-requests)
	}
	s.view(func(tx *store.Tx) error {
		halt, stopped, err := tx.MergingStopped(t.Context(), s.repo.Row.ID)
		if !stopped || !halt.TellAt.IsZero() {
			t.Errorf("known is %+v, %v", halt, stopped)
		}
		return err
	})
}

// A remote that cannot be asked whether merging is stopped: the merge waits, and people read why.
func TestAMergeSaysThatTheRemoteCannotBeAsked(t *testing.T) {
	s := newStage(t)
	m := newRemote(s)
	m.refuses = true
	s.pass()
	if s.asked("PUT", "/merge") != 0 || !strings.Contains(s.outcome(), "waiting merge_not_asked") {
		t.Fatalf("%q\n%s", s.outcome(), &s.log)
	}
	line := s.known()
	if !strings.Contains(line.Reason, "could not be asked whether merging is stopped") || !strings.Contains(line.Reason, "no refs of that kind here") {
		t.Errorf("people read %q", line.Reason)
	}
	asks := m.asks
	if s.pass(); m.asks != asks {
		t.Error("it is asked again at once")
	}
	m.refuses = false
	s.later(2 * time.Minute)
	if s.pass(); s.row().Stage != merging.Landed {
		t.Errorf("row %+v\n%s", s.row(), &s.log)
	}
}

// A remote that cannot be asked after GitHub refused the merge: people read on what GitHub said,
// and no word of git's as if it were GitHub's.
func TestARefusalIsReadOnWhereTheRemoteCannotBeAsked(t *testing.T) {
	s := newStage(t)
	m := newRemote(s)
	s.hub.AddFault(githubsim.Fault{
		Method: "PUT", Path: "*/merge", Always: true, Status: 405,
		Body: `{"message":"Repository rule violations found\n\nCommits must have verified signatures."}`,
	})
	s.pass()
	m.refuses = true
	asks := m.asks
	s.later(2 * time.Hour)
	s.pass()
	if !strings.Contains(s.outcome(), "waiting merge_not_asked") || m.asks == asks {
		t.Fatalf("%q, asked %d times more\n%s", s.outcome(), m.asks-asks, &s.log)
	}
	if line := s.known(); line.Code != work.WhyMergeBlocked || !strings.Contains(line.Reason, "verified signatures") || strings.Contains(line.Reason, "no refs of that kind here") {
		t.Errorf("people read %q", line.Reason)
	}
}

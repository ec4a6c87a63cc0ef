package merge

import (
	"os"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"

	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// queue makes the queue take steps.
func (s *stage) queue(steps int) {
	s.Helper()
	for range steps {
		if len(s.sim.Queue()) > 0 {
			s.must(s.sim.StepQueue(s.pull))
		}
	}
}

// restsOut checks that the pull request stays out of the queue without a reported problem.
func (s *stage) restsOut() {
	s.Helper()
	for range 3 {
		s.later(2 * time.Minute)
		s.pass()
		if why := s.trouble(); !why.None() || len(s.sim.Queue()) != 0 || s.row().Stage != merging.Void {
			s.Fatalf("trouble %+v, queue %v, row %+v\n%s", why, s.sim.Queue(), s.row(), &s.log)
		}
	}
}

// A pass that dies after it dequeued the pull request leaves no stop, whether it recorded the
// dequeue or not.
func TestDeathAroundADequeue(t *testing.T) {
	for name, recorded := range map[string]bool{"before its record": false, "after its record": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.sim.SetRuleset("queue", "main", githubsim.Rules{Queue: "squash"})
			s.pass()
			s.hold()
			s.plan()
			all := s.unsettled(work.ActionDequeue)
			if len(all) != 1 {
				t.Fatalf("planned: %+v", all)
			}
			s.update(func(tx *store.Tx) error {
				if err := tx.MarkSent(t.Context(), all[0].ID, s.at()); err != nil || !recorded {
					return err
				}
				return tx.MarkApplied(t.Context(), all[0].ID, "", "", s.at())
			})
			s.must(s.sim.Dequeue(s.pull, "olga"))
			s.later(2 * time.Minute)
			s.pass()
			s.restsOut()
			if left := s.unsettled(work.ActionDequeue); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
			s.release()
			s.pass()
			if len(s.sim.Queue()) != 1 {
				t.Errorf("not queued again: %s\n%s", s.outcome(), &s.log)
			}
		})
	}
}

// A dequeue planned by a pass that died is sent by the next one, if it still applies.
func TestADequeueThatWasPlanned(t *testing.T) {
	for name, held := range map[string]bool{"held": true, "let go": false} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.sim.SetRuleset("queue", "main", githubsim.Rules{Queue: "squash"})
			s.pass()
			s.hold()
			s.plan()
			if !held {
				s.release()
			}
			s.run()
			if in := len(s.sim.Queue()) == 1; in == held || len(s.unsettled(work.ActionDequeue)) != 0 {
				t.Errorf("in the queue: %v, left: %+v\n%s", in, s.unsettled(work.ActionDequeue), &s.log)
			}
		})
	}
}

// Nothing that git says keeps a pull request in the queue.
func TestADequeueNeedsNoGit(t *testing.T) {
	s := newStage(t)
	s.sim.SetRuleset("queue", "main", githubsim.Rules{Queue: "squash"})
	s.pass()
	s.hold()
	s.plan()
	s.must(os.RemoveAll(s.mirror))
	s.run()
	if len(s.sim.Queue()) != 0 || len(s.unsettled(work.ActionDequeue)) != 0 {
		t.Errorf("in the queue: %v, left: %+v\n%s", s.sim.Queue(), s.unsettled(work.ActionDequeue), &s.log)
	}
}

func (s *stage) release() {
	s.Helper()
	s.update(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err != nil {
			return err
		}
		return tx.SetHold(s.Context(), p.ID, review.Held{})
	})
}

func (s *stage) unsettled(kind work.ActionKind) (all []work.Action) {
	s.Helper()
	s.view(func(tx *store.Tx) error {
		rows, err := tx.ListMergingActions(s.Context(), s.repo.Row.ID)
		for _, a := range rows {
			if a.Kind == kind {
				all = append(all, a)
			}
		}
		return err
	})
	return all
}

// A pass dies after each step of a merge. The next ones continue it, and it is merged once.
func TestDeathAtEachStep(t *testing.T) {
	for name, point := range map[string]func(s *stage){
		"after the plan":   func(s *stage) { s.plan() },
		"after the intent": func(s *stage) { s.chosenThen(func(o round, j *job) { s.ready(o, j) }) },
		"after the merge": func(s *stage) {
			s.chosenThen(func(o round, j *job) {
				s.ready(o, j)
				s.must(o.sendOrSettle(t.Context(), j)) // the landed commit is not compared
			})
		},
		"with the database after the merge": func(s *stage) {
			s.chosenThen(func(o round, j *job) { s.must(o.sendOrSettle(t.Context(), j)) })
			s.lose()
			s.track()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			point(s)
			for range 3 {
				s.later(2 * time.Minute)
				s.pass()
			}
			if row := s.row(); s.asked("PUT", "/merge") != 1 || s.mains() != 2 || row.ID != 0 && (row.Stage != merging.Landed || row.Commit == "") {
				t.Errorf("row %+v, %d merges asked for\n%s", row, s.asked("PUT", "/merge"), &s.log)
			}
		})
	}
}

func (s *stage) ready(o round, j *job) {
	s.Helper()
	_, err := o.effects().SettleWithoutSend(s.Context(), o.scope(o.r), j.a)
	s.must(err)
	_, err = expect(s.Context(), o, j)
	s.must(err)
	_, err = o.prepareSend(s.Context(), j)
	s.must(err)
}

// chosenThen runs one step for the chosen merge.
func (s *stage) chosenThen(do func(round, *job)) {
	s.Helper()
	d, err := s.merging.due(s.Context(), s.repo, s.plan())
	s.must(err)
	s.report = nil
	do(round{s.merging, s.repo, s.quiet()}, d.jobs[0])
}

// A landed commit is compared once, even if another pass has stored it meanwhile.
func TestLandedOnce(t *testing.T) {
	s := newStage(t)
	s.pass()
	row := s.row()
	j := &job{row: row}
	s.view(func(tx *store.Tx) (err error) {
		j.a, _, err = tx.GetAction(t.Context(), work.MergeToken(s.repo.Row.Key(), s.pull, s.head))
		return err
	})
	s.must(round{s.merging, s.repo, s.quiet()}.land(t.Context(), j, row.Commit))
	if again := s.row(); !again.LandedAt.Equal(row.LandedAt) {
		t.Error("stored again")
	}
}

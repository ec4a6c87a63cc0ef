package merge

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// passes runs some passes.
func (s *stage) passes(n int) {
	s.Helper()
	for range n {
		s.later(2 * time.Minute)
		s.pass()
	}
}

// lands checks that our merge was compared, once.
func (s *stage) lands() {
	s.Helper()
	if row := s.row(); row.Stage != merging.Landed || row.Commit == "" {
		s.Errorf("row %+v, %d commits on main\n%s", row, s.mains(), &s.log)
	}
}

// queuedAndDead queues the pull request and dies before the result is stored.
func (s *stage) queuedAndDead() {
	s.Helper()
	s.sim.SetRuleset("queue", "main", githubsim.Rules{Queue: "merge"})
	s.chosenThen(func(o round, j *job) {
		s.ready(o, j)
		var err error
		j.a, err = o.effects().Apply(s.Context(), o.scope(o.r), j.a)
		s.must(err)
	})
	if s.row().Stage != merging.Intended || len(s.sim.Queue()) != 1 {
		s.Fatalf("row %+v", s.row())
	}
}

// A pass that dies after it queued a head leaves a merge that the next pass handles.
func TestDeathWhileQueueing(t *testing.T) {
	s := newStage(t)
	s.queuedAndDead()
	s.passes(2)
	s.queue(3)
	s.passes(2)
	s.lands()
}

func TestDeathWhileQueueingThenOut(t *testing.T) {
	s := newStage(t)
	s.queuedAndDead()
	s.must(s.sim.Dequeue(s.pull, "pat"))
	s.passes(3)
	if s.row().Stage != merging.Void || s.trouble().Kind != work.WhyMergeQueueOut {
		t.Errorf("row %+v, trouble %+v", s.row(), s.trouble())
	}
}

// A person's merge of a head whose merge was void is theirs, and is looked at once.
func TestTheirsAfterVoid(t *testing.T) {
	s := newStage(t)
	s.sim.HalveNextMerges(1)
	s.pass()
	s.passes(1)
	if s.row().Stage != merging.Half {
		t.Fatalf("row %+v", s.row())
	}
	_, err := s.sim.Merge(s.pull, "pat", "squash")
	s.must(err)
	s.see(work.PullMerged)
	s.passes(3)
	before := len(s.hub.Requests())
	s.run()
	if n := len(s.hub.Requests()) - before; s.row().Stage != merging.Void || n != 0 {
		t.Errorf("row %+v, %d requests more\n%s", s.row(), n, &s.log)
	}
}

// A half merge of an old head says nothing about the new one.
func TestHalfThenPush(t *testing.T) {
	s := newStage(t)
	s.sim.HalveNextMerges(1)
	s.pass()
	s.passes(1)
	s.push("more.txt")
	head, _ := s.sim.Head(branch)
	other := work.Reason{Kind: work.WhyMergePermission, Text: "no"}
	s.update(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err != nil {
			return err
		}
		p.HeadOID = head
		if _, err := tx.PutPull(s.Context(), p); err != nil {
			return err
		}
		return tx.SetMergeTrouble(s.Context(), p.ID, head, other)
	})
	for range 2 {
		s.later(2 * time.Minute)
		s.run()
	}
	before := len(s.hub.Requests())
	s.run()
	if n := len(s.hub.Requests()) - before; s.row().Stage != merging.Void || s.trouble().Kind != other.Kind || n != 0 {
		t.Errorf("row %+v, trouble %+v, %d requests more", s.row(), s.trouble(), n)
	}
}

// A half merge whose commit is removed from the base's history is merged again only once a person
// says so. A reverted one never is.
func TestHalfThenGone(t *testing.T) {
	for name, gone := range map[string]bool{"gone": true, "reverted": false} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			tip, _ := s.sim.Head("main")
			s.sim.HalveNextMerges(1)
			s.pass()
			s.passes(1)
			if gone {
				_, err := s.sim.ForcePush("main", "pat", tip, map[string]string{"other.txt": "x\n"}, "Another history")
				s.must(err)
			} else {
				_, err := s.sim.PushCommit("main", "pat", map[string]string{"fix.txt": ""}, "Revert")
				s.must(err)
			}
			s.passes(1)
			if s.row().Stage != merging.Half {
				t.Fatalf("row %+v", s.row())
			}
			if why := s.known(); why.Code != work.WhyMergeHalf {
				t.Errorf("said %+v", why)
			}
			s.update(func(tx *store.Tx) error {
				p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
				if err != nil {
					return err
				}
				return tx.SetMergeTrouble(s.Context(), p.ID, "", work.Reason{})
			})
			if why := s.known(); why.Code != work.WhyMergeHalf {
				t.Errorf("after a retry it is said %+v", why)
			}
			s.passes(4)
			if want := map[bool]merging.Stage{true: merging.Landed, false: merging.Half}[gone]; s.row().Stage != want {
				t.Errorf("gone %t: row %+v, trouble %+v\n%s", gone, s.row(), s.trouble(), &s.log)
			}
		})
	}
}

// The last look comes directly before the merge request: no slow work comes between.
func TestTheLastLookIsLast(t *testing.T) {
	s := newStage(t)
	s.pass()
	s.lands()
	var before githubsim.Request
	for _, rq := range s.hub.Requests() {
		if rq.Method == "PUT" && !strings.HasSuffix(before.Path, "/graphql") {
			t.Errorf("%s %s is the last request before the merge", before.Method, before.Path)
		}
		before = rq
	}
}

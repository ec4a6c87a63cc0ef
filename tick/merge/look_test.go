package merge

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// brake is something that people do on GitHub and that keeps a pull request from being merged.
type brake struct {
	name   string
	do     func() error
	undo   func() error
	listed bool // the box does not show it: comments and permissions are asked for before
	late   bool // after it is asked for, nothing shows it
}

// brakes are what people do about a pull request that pat approved and bob may review.
func (s *stage) brakes(approve func() error) []brake {
	var said, diff, asked int64
	comment := func(number int) func() error {
		return func() (err error) { said, err = s.sim.Comment(number, "bob", "wait"); return err }
	}
	label := func(number int, name string) (do, undo func() error) {
		return func() error { return s.sim.Label(number, "bob", name) }, func() error { return s.sim.Unlabel(number, "bob", name) }
	}
	labels := func(name string, number int, label0 string) brake {
		do, undo := label(number, label0)
		return brake{name: name, do: do, undo: undo}
	}
	set, unset := label(s.issue, "agent:bugfix")
	freeze := 0
	return []brake{
		{name: "changes requested", do: func() (err error) { asked, err = s.sim.Review(s.pull, "bob", "REQUEST_CHANGES", "no"); return err }, undo: func() error { return s.sim.Dismiss(s.pull, asked, "olga", "done") }},
		{name: "changes requested by who approved", do: func() error { _, err := s.sim.Review(s.pull, "pat", "REQUEST_CHANGES", "no"); return err }, undo: approve},
		{name: "approval dismissed", do: func() error { return s.sim.Dismiss(s.pull, s.approval, "olga", "too early") }, undo: approve},
		labels("held by a label", s.pull, "agent:hold"),
		labels("taken over", s.pull, "agent:ignore"),
		labels("taken over on the issue", s.issue, "agent:ignore"),
		{name: "the flow's label is gone", do: unset, undo: set},
		{name: "the issue is not planned", do: func() error { return s.sim.Close(s.issue, "bob", "not_planned") }, undo: func() error { return s.sim.Reopen(s.issue, "bob") }},
		{name: "a draft", do: func() error { return s.sim.ConvertToDraft(s.pull, "bob") }, undo: func() error { return s.sim.MarkReady(s.pull, "bob") }},
		{name: "a freeze", do: func() (err error) { freeze, err = s.sim.OpenIssue("bob", "Freeze", "", "agent:freeze"); return err }, undo: func() error { return s.sim.Close(freeze, "bob", "completed") }},
		{name: "a comment", listed: true, do: func() error { return comment(s.pull)() }, undo: func() error { return s.sim.DeleteComment(said, "bob") }},
		{name: "a comment on the issue", listed: true, do: func() error { return comment(s.issue)() }, undo: func() error { return s.sim.DeleteComment(said, "bob") }},
		{
			name: "a comment on the diff", listed: true, do: func() (err error) { diff, err = s.sim.ReviewComment(s.pull, "bob", "fix.txt", 1, "why?"); return err },
			undo: func() error { return s.sim.DeleteReviewComment(diff, "bob") },
		},
		{name: "who approved may not write any more", listed: true, late: true, do: func() error { return s.sim.SetPermission("pat", "read") }, undo: func() error {
			if err := s.sim.SetPermission("pat", "write"); err != nil {
				return err
			}
			return approve()
		}},
	}
}

// read stores the pull request as a pass reads it now.
func (s *stage) read() {
	s.Helper()
	s.update(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err != nil {
			return err
		}
		now, _, err := s.repo.GitHub.Pull(s.Context(), s.repo.Row.Current, s.pull)
		if err != nil {
			return err
		}
		p.UpdatedAt = now.UpdatedAt
		_, err = tx.PutPull(s.Context(), p)
		return err
	})
}

// TestEveryBrakeHoldsAtEveryMoment sets each brake before the plan, after the plan, in the very
// second of the last look, and before each of the look's own reads. The merge is never sent, and it is
// sent once there is no brake.
func TestEveryBrakeHoldsAtEveryMoment(t *testing.T) {
	testhome.NotShort(t)
	s := newStage(t)
	s.repo.Settings.Review.RequireHuman = true
	_, err := s.hub.AddUser("bob")
	s.must(err)
	s.must(s.sim.SetPermission("bob", "write"))
	for _, name := range []string{"agent:freeze", "agent:hold", "agent:ignore"} {
		s.sim.MakeLabel(name, "ffffff", "")
	}
	approve := func() (err error) {
		if s.approval, err = s.sim.Review(s.pull, "pat", "APPROVE", ""); err != nil {
			return err
		}
		pat := work.Account{ID: s.hub.UserID("pat"), Login: "pat"}
		s.update(func(tx *store.Tx) error {
			p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
			if err != nil {
				return err
			}
			_, _, err = tx.AddVerdict(s.Context(), review.Verdict{PullID: p.ID, ReviewID: s.approval, Human: true, By: pat, Head: p.HeadOID, MergeBase: p.MergeBase, Decision: review.Approve, At: s.at()})
			return err
		})
		return nil
	}
	s.must(approve())
	s.report = s.quiet()
	held := func(name string) {
		if s.asked("PUT", "/merge") != 0 || strings.Contains(s.outcome(), "merged") {
			s.Fatalf("%s: merged over: %q\n%s", name, s.outcome(), &s.log)
		}
	}
	due := func() []string {
		chosen := s.plan()
		if len(chosen) != 1 {
			s.Fatalf("it is not due: %+v", s.known())
		}
		return chosen
	}
	for i, b := range s.brakes(approve) {
		for j, m := range []struct {
			name string
			when func()
		}{
			{"before the plan", func() {
				if !b.listed {
					s.must(b.do())
					s.later(time.Minute)
					s.read()
					if chosen := s.plan(); len(chosen) != 0 {
						s.Errorf("%s: the plan chooses %q", b.name, chosen)
					}
					return
				}
				s.read()
				chosen := due()
				s.later(time.Minute)
				s.must(b.do())
				s.later(time.Minute)
				s.run(chosen...)
			}},
			{"in the second of the look", func() {
				s.read()
				chosen := due()
				s.must(b.do())
				s.read() // its stamp is the one that was read
				s.run(chosen...)
			}},
			{"during the look", func() {
				s.read()
				chosen := due()
				list := "*/comments"
				if strings.HasPrefix(b.name, "who approved") {
					list = "*/issues/*/comments" // permissions are asked for after this
				}
				s.hub.AddFault(githubsim.Fault{Method: "GET", Path: list, Do: b.do})
				s.run(chosen...)
				if n := s.hub.PendingFaults(); n != 0 {
					s.Fatalf("%s: nothing was listed", b.name)
				}
			}},
			{"between the lists and the box", func() {
				if b.late {
					return
				}
				s.read()
				chosen := due()
				s.hub.AddFault(githubsim.Fault{Method: "POST", Path: "*/graphql", Contains: "query Box", Do: b.do})
				s.run(chosen...)
			}},
		} {
			if j != i%4 && !testhome.Long() {
				continue // each brake at one moment
			}
			s.later(time.Minute)
			m.when()
			held(b.name + " " + m.name)
			if !b.late || !strings.HasPrefix(m.name, "between") {
				s.must(b.undo())
			}
		}
	}
	s.later(time.Minute)
	s.read()
	s.pass()
	if s.outcome() != "merged" {
		t.Errorf("without a brake: %q\n%s", s.outcome(), &s.log)
	}
}

// A word that a person gave by a command is asked about, too.
func TestAWordCountsWhileItsAuthorMayWrite(t *testing.T) {
	s := newStage(t)
	s.repo.Settings.Review.RequireHuman = true
	s.update(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err != nil {
			return err
		}
		_, err = tx.AddMergeApproval(s.Context(), merging.MergeApproval{PullID: p.ID, Head: p.HeadOID, MergeBase: p.MergeBase, By: work.Account{ID: s.hub.UserID("pat"), Login: "pat"}, CommentID: 5, At: s.at()})
		return err
	})
	chosen := s.plan()
	s.must(s.sim.SetPermission("pat", "triage"))
	s.run(chosen...)
	if s.asked("PUT", "/merge") != 0 || s.outcome() != "waiting merge_person" {
		t.Errorf("%q\n%s", s.outcome(), &s.log)
	}
	if chosen := s.plan(); len(chosen) != 0 {
		t.Errorf("the next plan chooses %q", chosen)
	}
}

// The message of the merge says no more than the pull request says at the last look.
func TestTheMessageIsThatOfNow(t *testing.T) {
	s := newStage(t)
	chosen := s.plan()
	refs := "Refs #1"
	s.must(s.sim.EditIssue(s.pull, "pat", nil, &refs))
	s.read()
	s.later(time.Minute)
	s.run(chosen...)
	if s.asked("PUT", "/merge") != 0 {
		t.Fatalf("%q\n%s", s.outcome(), &s.log)
	}
	s.pass()
	log, err := s.sim.Log("main")
	s.must(err)
	if s.outcome() != "merged" || strings.Contains(log[0].Message, "Fixes") || !strings.Contains(log[0].Message, "Refs #1") {
		t.Errorf("%q: %q", s.outcome(), log[0].Message)
	}
}

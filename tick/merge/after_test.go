package merge

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
	"github.com/mergexo/gh-mergexo/store"
)

// The issue that GitHub did not close is spoken of once; one that it closed is not.
func TestTheIssueThatStaysOpen(t *testing.T) {
	for name, keeps := range map[string]bool{"closed": false, "open": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.sim.KeepIssues(keeps)
			s.pass()
			s.run()
			if s.notice(s.issue) != "" || s.asked("GET", "/issues/1") != 0 {
				t.Error("asked at once: GitHub may be about to close it")
			}
			s.later(2 * time.Minute)
			s.run()
			if said := s.notice(s.issue); strings.Contains(said, "#2 is merged into `main`") != keeps {
				t.Errorf("said %q", said)
			}
			s.later(time.Minute)
			s.run()
			if n := s.asked("GET", "/issues/1"); n != 1 {
				t.Errorf("the issue was asked for %d times", n)
			}
		})
	}
}

// A check of the base that turned red with a merge is told once, and taken back where the
// config says so; one that was red before is not its doing.
func TestTheBaseTurnsRed(t *testing.T) {
	if testing.Short() {
		t.Skip("many repositories")
	}
	for name, c := range map[string]struct {
		before, after string
		revert, late  bool
		tells         bool
	}{
		"red":               {"success", "failure", false, false, true},
		"red and reverted":  {"", "failure", true, false, true},
		"red before":        {"failure", "failure", true, false, false},
		"green":             {"success", "success", true, false, false},
		"red, and too late": {"success", "failure", true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.repo.Settings.Review.Merge.Revert = c.revert
			if c.before != "" {
				_, err := s.sim.SetCheck("main", "build", "completed", c.before)
				s.must(err)
			}
			s.pass()
			s.run()
			if c.late {
				s.later(2 * time.Hour)
			}
			_, err := s.sim.SetCheck("main", "build", "completed", c.after)
			s.must(err)
			for range 3 {
				s.run()
				s.later(time.Minute)
			}
			said := s.notice(s.pull)
			if strings.Contains(said, "`build`") != c.tells {
				t.Errorf("said %q\n%s", said, &s.log)
			}
			pulls := s.sim.Pulls()
			if len(pulls) != 1+map[bool]int{true: 1}[c.tells && c.revert] {
				t.Fatalf("%d pull requests\n%s", len(pulls), &s.log)
			}
			if c.tells && c.revert {
				s.reverted()
			}
		})
	}
}

// reverted makes sure that the pull request that takes the merge back does that, and that
// nobody takes it for a work item's.
func (s *stage) reverted() {
	s.Helper()
	row := s.row()
	if _, there := s.sim.File(revertBranch(row), "fix.txt"); there {
		s.Error("nothing is taken back")
	}
	p, _, err := s.repo.GitHub.Pull(s.Context(), s.repo.Row.Current, s.pull+1)
	s.must(err)
	if _, marked := origin.ParsePullMark(p.Body); marked || p.Base != "main" || !strings.Contains(p.Body, "does not merge it") {
		s.Errorf("pull request %+v", p)
	}
}

// Through a queue: queued once, and compared once it landed.
func TestThroughAQueue(t *testing.T) {
	s := newStage(t)
	s.sim.SetRuleset("queue", "main", githubsim.Rules{Queue: "merge"})
	s.pass()
	if s.outcome() != "queued" || s.row().Stage != merging.Queued || len(s.sim.Queue()) != 1 {
		t.Fatalf("%s, row %+v\n%s", s.outcome(), s.row(), &s.log)
	}
	for range 2 {
		s.pass()
	}
	s.queue(3)
	s.pass()
	if row := s.row(); row.Stage != merging.Landed || row.Differs != "" || s.mains() < 2 || s.asked("PUT", "/merge") != 0 {
		t.Errorf("row %+v, %d commits on main\n%s", row, s.mains(), &s.log)
	}
}

// queue lets the queue make so many steps.
func (s *stage) queue(steps int) {
	s.Helper()
	for range steps {
		if len(s.sim.Queue()) > 0 {
			s.must(s.sim.StepQueue(s.pull))
		}
	}
}

// What fell out of the queue before anybody saw it there is a stop, and is not queued at
// the same head again.
func TestOutOfTheQueue(t *testing.T) {
	s := newStage(t)
	s.sim.SetRuleset("queue", "main", githubsim.Rules{Queue: "squash"})
	s.pass()
	s.must(s.sim.Dequeue(s.pull, "pat"))
	s.pass()
	if !s.trouble().None() {
		t.Error("GitHub may not show it in the queue yet")
	}
	s.later(2 * time.Minute)
	s.pass()
	if why := s.trouble(); why.Kind != work.WhyMergeQueueOut {
		t.Fatalf("trouble %+v, row %+v\n%s", why, s.row(), &s.log)
	}
	for range 3 {
		s.later(time.Hour)
		s.pass()
	}
	if len(s.sim.Queue()) != 0 {
		t.Error("queued again")
	}
}

// A branch that is behind is brought up to date once, and not merged before it was judged
// again.
func TestBringsUpToDate(t *testing.T) {
	s := newStage(t)
	s.sim.SetRuleset("strict", "main", githubsim.Rules{Checks: []string{"build"}, Strict: true})
	_, err := s.sim.SetCheck(s.head, "build", "completed", "success")
	s.must(err)
	s.base("other.txt")
	s.pass()
	if head, _ := s.sim.Head(branch); head == s.head || s.outcome() != "updated" {
		t.Fatalf("%s, branch at %s\n%s", s.outcome(), head, &s.log)
	}
	for range 3 {
		s.later(time.Minute)
		s.pass()
	}
	if s.asked("PUT", "/update-branch") != 1 || s.asked("PUT", "/merge") != 0 {
		t.Errorf("%d updates, %d merges asked for", s.asked("PUT", "/update-branch"), s.asked("PUT", "/merge"))
	}
}

// A pass dies after each step of a merge; the next ones carry it on, and it is merged once.
func TestDeathAtEachStep(t *testing.T) {
	for name, point := range map[string]func(s *stage){
		"after the plan":   func(s *stage) { s.plan() },
		"after the intent": func(s *stage) { s.chosenThen(func(o round, j *job) { s.ready(o, j) }) },
		"after the merge": func(s *stage) {
			s.chosenThen(func(o round, j *job) {
				s.ready(o, j)
				s.must(o.carry(t.Context(), j)) // what landed is not looked at
			})
		},
		"with the database after the merge": func(s *stage) {
			s.chosenThen(func(o round, j *job) { s.must(o.carry(t.Context(), j)) })
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
			if row := s.row(); row.Stage != merging.Landed || s.asked("PUT", "/merge") != 1 || s.mains() != 2 || row.Commit == "" {
				t.Errorf("row %+v, %d merges asked for\n%s", row, s.asked("PUT", "/merge"), &s.log)
			}
		})
	}
}

func (s *stage) ready(o round, j *job) {
	s.Helper()
	_, err := o.Effects().Watch(s.Context(), o.Scope(o.r), j.a)
	s.must(err)
	_, err = expect(s.Context(), o, j)
	s.must(err)
	_, err = o.ready(s.Context(), j)
	s.must(err)
}

// chosenThen does a part of what is done about the one that was chosen.
func (s *stage) chosenThen(do func(round, *job)) {
	s.Helper()
	d, err := s.merging.due(s.Context(), s.repo, s.plan())
	s.must(err)
	s.report = nil
	do(round{s.merging, s.repo, s.quiet()}, d.jobs[0])
}

// What landed is compared once, also where another pass has stored it meanwhile.
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

// With the database lost, what people merged is theirs: it is looked at once, and neither
// compared nor followed by anything.
func TestMergedByPeopleBeforeTheLoss(t *testing.T) {
	s := newStage(t)
	_, err := s.sim.Merge(s.pull, "olga", "squash")
	s.must(err)
	s.lose()
	s.track()
	for range 2 {
		s.pass()
		s.later(time.Hour)
	}
	before := len(s.hub.Requests())
	s.run()
	_, there := s.sim.Head(branch)
	if row := s.row(); row.Stage != merging.Void || !there || len(s.hub.Requests()) != before || s.outcome() != "" {
		t.Errorf("row %+v, branch there: %v, %d requests\n%s", row, there, len(s.hub.Requests())-before, &s.log)
	}
}

// Without auto_merge nobody asks who merged what.
func TestNothingIsAskedWhereNothingIsMerged(t *testing.T) {
	s := newStage(t)
	_, err := s.sim.Merge(s.pull, "pat", "squash")
	s.must(err)
	s.lose()
	s.track()
	s.repo.Settings.Review.Merge.Auto = false
	before := len(s.hub.Requests())
	s.run()
	if s.row().ID != 0 || len(s.hub.Requests()) != before {
		t.Errorf("row %+v, %d requests", s.row(), len(s.hub.Requests())-before)
	}
}

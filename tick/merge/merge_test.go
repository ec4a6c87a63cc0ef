package merge

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// A chosen merge is sent, found, compared and reported. After that a pass only asks for the base's
// checks.
func TestMergesWhatWasChosen(t *testing.T) {
	s := newStage(t)
	s.pass()
	tip, _ := s.sim.Head("main")
	row := s.row()
	if s.outcome() != "merged" || row.Stage != merging.Landed || row.Commit != tip || row.Landed != row.Tree || row.Differs != "" || row.Method != merging.Squash {
		t.Fatalf("%s: %+v, main at %s\n%s", s.outcome(), row, tip, &s.log)
	}
	s.later(2 * time.Minute)
	s.run() // checks the issue
	if n := s.asked("GET", "/issues/1"); n != 1 {
		t.Errorf("the issue was asked for %d times", n)
	}
	s.later(2 * time.Hour)
	before := len(s.hub.Requests())
	s.run()
	if after := len(s.hub.Requests()); after != before {
		t.Errorf("%d requests of a pass with nothing to do", after-before)
	}
	if s.mains() != 2 || s.asked("PUT", "/merge") != 1 {
		t.Errorf("%d commits on main after %d merges", s.mains(), s.asked("PUT", "/merge"))
	}
}

// Nothing is sent that this pass's plan did not choose.
func TestNotChosenIsNotSent(t *testing.T) {
	s := newStage(t)
	s.plan()
	s.run()
	if s.asked("PUT", "/merge") != 0 || s.row().Stage != "" {
		t.Errorf("merged: %+v", s.row())
	}
}

// A change between plan and send is seen.
func TestALastLook(t *testing.T) {
	testhome.NotShort(t)
	for name, c := range map[string]struct {
		change func(s *stage)
		want   string
	}{
		"pushed to":          {func(s *stage) { s.push("more.txt") }, "merge_not_read"},
		"changes asked for":  {func(s *stage) { _, err := s.sim.Review(s.pull, "pat", "REQUEST_CHANGES", "no"); s.must(err) }, "merge_changes_requested"},
		"a draft":            {func(s *stage) { s.must(s.sim.ConvertToDraft(s.pull, "pat")) }, "merge_draft"},
		"a red check":        {func(s *stage) { _, err := s.sim.SetCheck(s.head, "build", "completed", "failure"); s.must(err) }, "merge_checks_failed"},
		"a freeze":           {func(s *stage) { s.freeze() }, "merge_frozen"},
		"conflicts":          {func(s *stage) { s.base("fix.txt") }, "merge_conflicts"},
		"held":               {func(s *stage) { s.hold() }, "merge_held"},
		"a comment came":     {func(s *stage) { _, err := s.sim.Comment(s.pull, "pat", "wait"); s.must(err) }, "merge_not_read"},
		"may no more":        {func(s *stage) { s.must(s.sim.SetPermission("olga", "read")) }, "merge_permission"},
		"another rule":       {func(s *stage) { s.sim.SetRuleset("r", "main", githubsim.Rules{Approvals: 1}) }, "merge_review_required"},
		"a queue":            {func(s *stage) { s.sim.SetRuleset("q", "main", githubsim.Rules{Queue: "squash"}) }, "waiting merge_not_read"},
		"another repository": {func(s *stage) { s.stop() }, "merging_stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			chosen := s.plan()
			s.later(2 * time.Hour) // so that GitHub's stamps are later than those read
			c.change(s)
			s.run(chosen...)
			if s.asked("PUT", "/merge") != 0 || s.mains() > 2 || !strings.Contains(s.outcome(), c.want) || strings.Contains(s.outcome(), "merged") {
				t.Errorf("%q, want %q; %d merges asked for\n%s", s.outcome(), c.want, s.asked("PUT", "/merge"), &s.log)
			}
		})
	}
}

// While everything is paused nothing is sent or asked.
func TestNothingWhilePaused(t *testing.T) {
	s := newStage(t)
	chosen := s.plan()
	_, _, err := s.merging.dirs.HaltAll("", s.at())
	s.must(err)
	before := len(s.hub.Requests())
	s.run(chosen...)
	if len(s.hub.Requests()) != before {
		t.Error("something was asked for")
	}
}

// Whatever the answer is, GitHub's state counts.
func TestAnswersAreNotBelieved(t *testing.T) {
	testhome.NotShort(t)
	for name, c := range map[string]struct {
		fault githubsim.Fault
		want  string
		later string
	}{
		"500 and merged":     {githubsim.Fault{Applied: true, Status: 500}, "merged", ""},
		"reset and merged":   {githubsim.LoseAnswer(), "merged", ""},
		"405 and merged":     {githubsim.Fault{Applied: true, Status: 405, Body: `{"message":"Pull Request is not mergeable"}`}, "merged", ""},
		"500 and not merged": {githubsim.Fault{Status: 500}, "waiting github_no_answer", "merged"},
		"reset, not merged":  {githubsim.LoseRequest(), "waiting github_no_answer", "merged"},
		"405 base modified":  {githubsim.Fault{Status: 405, Body: `{"message":"Base branch was modified. Review and try the merge again."}`}, "waiting merge_later", "merged"},
		"409 and not moved":  {githubsim.Fault{Status: 409, Body: `{"message":"Head branch was modified. Review and try the merge again."}`}, "waiting merge_later", "merged"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			c.fault.Method, c.fault.Path = "PUT", "*/merge"
			s.hub.AddFault(c.fault)
			s.pass()
			if s.outcome() != c.want {
				t.Fatalf("%q, want %q\n%s", s.outcome(), c.want, &s.log)
			}
			s.pass()
			if s.asked("PUT", "/merge") != 1 {
				t.Fatalf("%d merges asked for at once\n%s", s.asked("PUT", "/merge"), &s.log)
			}
			var told []string
			for range 3 {
				s.later(2 * time.Minute)
				s.pass()
				told = append(told, s.outcome())
			}
			if !strings.Contains(strings.Join(told, ", "), c.later) || c.want != "" && s.row().Stage != merging.Landed || s.mains() > 2 {
				t.Errorf("%q, row %+v, %d commits on main\n%s", told, s.row(), s.mains(), &s.log)
			}
		})
	}
}

// A half merge is a stop and is not merged again, even if the database is lost. Once a person has
// resolved it, the landed commit is compared.
func TestHalfMerged(t *testing.T) {
	for name, lost := range map[string]bool{"known": false, "database lost": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.sim.HalveNextMerges(1)
			s.pass()
			if lost {
				s.lose()
				s.track()
				s.pass()
			}
			s.later(2 * time.Minute)
			s.pass()
			if s.trouble().Kind != work.WhyMergeHalf || s.row().Stage != merging.Half {
				t.Fatalf("trouble %+v, row %+v\n%s", s.trouble(), s.row(), &s.log)
			}
			before := len(s.hub.Requests())
			s.later(time.Hour)
			s.run()
			if n := len(s.hub.Requests()) - before; n != 0 {
				t.Errorf("%d requests for what only a person ends", n)
			}
			s.must(s.sim.CompleteMerge(s.pull))
			s.see(work.PullMerged)
			s.run()
			if row := s.row(); row.Stage != merging.Landed || s.asked("PUT", "/merge") != 1 || s.mains() != 2 {
				t.Errorf("row %+v after %d merges\n%s", row, s.asked("PUT", "/merge"), &s.log)
			}
		})
	}
}

// If GitHub refuses for good, a person must act, and nothing more is sent for that head.
func TestRefusedForGood(t *testing.T) {
	testhome.NotShort(t)
	for message, want := range map[string]work.ReasonKind{
		"405 Squash merges are not allowed on this repository.": work.WhyMergeMethod,
		"403 Resource not accessible by personal access token":  work.WhyMergePermission,
		"404 Not Found":            work.WhyMergePermission,
		"422 words of another day": work.WhyMergeRefused,
	} {
		t.Run(message, func(t *testing.T) {
			s := newStage(t)
			status := map[string]int{"405": 405, "403": 403, "404": 404, "422": 422}[message[:3]]
			s.sim.RefuseNextMerges(1, status, message[4:])
			s.pass()
			if s.trouble().Kind != want || !strings.Contains(s.outcome(), "blocked") {
				t.Fatalf("trouble %+v, %s\n%s", s.trouble(), s.outcome(), &s.log)
			}
			for range 5 {
				s.later(time.Hour)
				s.pass()
			}
			if s.asked("PUT", "/merge") != 1 {
				t.Errorf("%d merges asked for", s.asked("PUT", "/merge"))
			}
		})
	}
}

// If another tree landed, each is reported once. After the second in a row nothing more is merged.
func TestAnotherTreeLanded(t *testing.T) {
	s := newStage(t)
	s.sim.AlterNextMerges(1, "smuggled.txt", "x\n")
	s.sim.AlterNextMerges(1, "another.txt", "x\n")
	s.pass()
	if row := s.row(); row.Differs == "" || row.Stage != merging.Landed || s.merging.Stopped(t.Context()) != nil {
		t.Fatalf("row %+v\n%s", row, &s.log)
	}
	if said := s.notice(s.pull); !strings.Contains(said, "The landed commit differs from the approved one") || !strings.Contains(said, "smuggled.txt") {
		t.Errorf("said %q", said)
	}
	if !strings.Contains(s.log.String(), "level=ERROR") {
		t.Error("not logged as an error")
	}
	if said := s.notice(s.pull); !strings.Contains(said, "If the next merge differs, too") {
		t.Errorf("said %q", said)
	}
	s.next()
	s.pass()
	if said := s.notice(s.pull); !strings.Contains(said, "the second merge in a row") || strings.Contains(said, "If the next merge differs, too") {
		t.Errorf("said %q", said)
	}
	err := s.merging.Stopped(t.Context())
	if err == nil || !strings.Contains(err.Error(), "resume --merging") || s.merging.Stopped(t.Context()) != nil {
		t.Errorf("told %v, and again %v", err, s.merging.Stopped(t.Context()))
	}
	s.next()
	s.pass()
	if s.asked("PUT", "/merge") != 2 {
		t.Errorf("%d merges asked for", s.asked("PUT", "/merge"))
	}
	resumed := func() { // as on another machine, which has no file
		s.update(func(tx *store.Tx) error { _, err := tx.ResumeMerging(t.Context(), s.repo.Row.ID); return err })
	}
	file, _ := s.merging.dirs.MergingStopped(s.repo.Row)
	resumed()
	file.At = file.At.Add(time.Millisecond) // the database does not know this stop: it was lost
	s.must(s.merging.dirs.StopMerging(s.repo.Row, file))
	s.pass()
	if s.asked("PUT", "/merge") != 2 {
		t.Error("what the state folder says does not hold the merge")
	}
	resumed()
	s.pass()
	if _, kept := s.merging.dirs.MergingStopped(s.repo.Row); kept {
		t.Error("the stop that a person ended is still in the state folder")
	}
	if s.row().Stage != merging.Landed || s.row().Differs != "" {
		t.Errorf("row %+v\n%s", s.row(), &s.log)
	}
}

// If the pass that stopped merging died before it wrote the file into the state folder, the next
// pass writes it, even if nothing else is due.
func TestAStopIsKeptInTheStateFolder(t *testing.T) {
	s := newStage(t)
	s.stop()
	if !s.merging.Waiting(t.Context(), s.repo, nil) {
		t.Error("nothing is due")
	}
	s.run()
	if halt, kept := s.merging.dirs.MergingStopped(s.repo.Row); !kept || halt.Why.Kind != work.WhyMergeDiffers {
		t.Errorf("kept: %v, %+v", kept, halt)
	}
	if s.merging.Waiting(t.Context(), s.repo, nil) {
		t.Error("something is due again")
	}
}

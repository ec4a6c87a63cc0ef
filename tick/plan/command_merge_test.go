package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

func TestCommandsAboutMerging(t *testing.T) {
	says := func(body string) func(*known.Snapshot) { return with(commanded(body, 2, "66")) }
	person := item(func(i *known.Item) { i.Landing.Policy.RequireHuman, i.Reviewers.RequireHuman = true, true })
	trouble := item(func(i *known.Item) {
		i.Landing.Trouble = work.Reason{Kind: work.WhyMergeRefused, Number: 2, Text: "no", Head: "aaa"}
		i.State, i.Reason = work.StateBlocked, i.Landing.Trouble
	})
	held := item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} })
	runs := box(func(b *merging.Box) { b.Checks = []merging.Check{{Name: "unit", State: merging.Runs}} })
	for _, c := range []struct {
		name      string
		view      known.Snapshot
		does, say string
	}{
		{"a person is waited for", scene(landable, person, item(func(i *known.Item) { i.Reviews.Record.State = review.Checking })), "#2 wait merge_person", ""},
		{"and says so", scene(landable, person, says("/mergexo merge")), "merge #2 squash", "ann says that aaa, the head of `agent/bugfix/1-x` as last read, may be merged. All gates are open: it is merged next."},
		{"of another head", scene(landable, person, says("/mergexo merge --head bbb0000")), "#2 wait merge_person", "The head of `agent/bugfix/1-x` is aaa, not that commit, so nothing was done. Check the new commits; `/mergexo merge --head aaa` says that it may be merged."},
		{"before this head came", scene(landable, person, says("/mergexo merge"), item(func(i *known.Item) {
			i.Pull.HeadSince, i.Events[0].URL = noon, "https://github.com/octo/app/pull/2#issuecomment-66"
		})), "#2 wait merge_person", "The head of `agent/bugfix/1-x` is aaa, which may be newer than the comment"},
		{"another gate is closed", scene(landable, runs, says("/mergexo merge")), "#2 wait merge_checks_pending", "ann says that aaa, the head of `agent/bugfix/1-x` as last read, may be merged. Closed gates: the check unit has not finished yet. Next:"},
		{"no pass has read what was pushed", scene(landable, person, item(func(i *known.Item) {
			i.Spent = []work.Spent{{Step: work.StepPushed, Commit: "ccc0000", Head: "aaa"}}
		}), says("/mergexo merge")), "#2 wait merge_person", "ccc0000 is pushed to `agent/bugfix/1-x`, and no pass has read it yet, so nothing was done: after `gh mergexo tick`, try again."},
		{"it has a conflict", scene(landable, box(func(b *merging.Box) { b.Mergeable = "CONFLICTING" }), says("/mergexo merge")), "#2 wait merge_conflicts", "ann says that aaa, the head of `agent/bugfix/1-x` as last read, may be merged. Closed gates: it conflicts with `main`. Next: a turn merges the base into it. Merging `main` into the branch makes a new head: it is reviewed again, and this approval does not count for it."},
		{"it is behind", scene(landable, box(func(b *merging.Box) { b.Status = "BEHIND" }), says("/mergexo merge")), "update_branch #2", "ann says that aaa, the head of `agent/bugfix/1-x` as last read, may be merged. It is behind `main`: its branch is brought up to date when it is next. Merging `main` into the branch makes a new head: it is reviewed again, and this approval does not count for it."},
		{"the reviewers have not looked", scene(landable, item(func(i *known.Item) { i.Reviews.Verdicts, i.Reviews.Record.State = nil, review.Pending }), says("/mergexo merge")), "#2 turn review", "ann says that aaa, the head of `agent/bugfix/1-x` as last read, may be merged. Closed gates: not approved at this head by quinn."},
		{"an attempt failed", scene(landable, trouble, says("/mergexo merge")), "merge #2 squash; resumed → awaiting_feedback", "ann says that aaa"},
		{"and is to be repeated", scene(landable, trouble, says("/mergexo retry")), "merge #2 squash; resumed → awaiting_feedback", "All gates are open: it is merged next."},
		{"nothing failed", scene(landable, says("/mergexo retry")), "merge #2 squash", "There is nothing to retry."},
		{"a check never came", scene(landable, never, halted(work.Reason{Kind: work.WhyMergeNeverChecked, Number: 2, Names: []string{"lint"}, At: time.Hour.Milliseconds(), Head: "aaa"}), says("/mergexo retry")), "#2 wait merge_check_missing", "Closed gates: the check lint never reported on the head, for 1h0m0s now. Next: have it run"},
		{"it is held", scene(landable, held, says("/mergexo merge")), "#2 wait merge_held", "ann says that aaa, the head of `agent/bugfix/1-x` as last read, may be merged. Closed gates: it is held by bob."},
		{"hold", scene(landable, says("/mergexo hold")), "#2 wait merge_held", "On hold: no reviews and no review fixes of this pull request, and it is not merged"},
		{"resume", scene(landable, held, says("/mergexo resume")), "merge #2 squash", "It is no longer on hold."},
		{"auto_merge is off", scene(landable, item(func(i *known.Item) { i.Landing.Policy.Auto = false }), says("/mergexo merge")), "#2 wait approved", "`auto_merge` is off for this repository, so nothing was done: merge it yourself, or set `auto_merge = true` below `[repo.review]`"},
		{"it was merged", scene(landable, pullIs(work.PullMerged), says("/mergexo merge")), "pull merged → completed", "Pull request #2 was merged, so there is nothing to merge."},
	} {
		p := For(c.view)
		if got := lands(p); got != c.does {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.does)
		}
		if got := answered(p); !strings.HasPrefix(got, c.say) || c.say == "" && got != "" {
			t.Errorf("%s: the answer is %q, not %q", c.name, got, c.say)
		}
	}
}

// After losing the database, a person's permission to merge is read from its answer.
func TestTheAnswerRemembersAWord(t *testing.T) {
	p := For(scene(landable, with(commanded("/mergexo merge", 2, "66"))))
	if len(Of[change.MergeApproval](p)) != 1 || Of[change.MergeApproval](p)[0].Head != "aaa" || Of[change.MergeApproval](p)[0].CommentID != 66 || Of[change.MergeApproval](p)[0].By != ann {
		t.Fatalf("the plan stores %+v", Of[change.MergeApproval](p))
	}
	for _, a := range Of[change.Notice](p) {
		if marks, ok := work.ParseMarks(a.Body); ok && marks.Merge == "aaa" {
			return
		}
	}
	t.Errorf("nothing on GitHub says it: %+v", Of[change.Notice](p))
}

// A command that names the head may have been written for another base of it, too.
func TestACommandIsAboutTheBaseThatItsAuthorSaw(t *testing.T) {
	for _, body := range []string{"/mergexo merge", "/mergexo merge --head aaaaaaa", "/mergexo approve", "/mergexo approve --head aaaaaaa"} {
		for _, since := range []time.Duration{-time.Second, 0, time.Second} {
			v := scene(landable, with(commanded(body, 2, "66")), item(func(i *known.Item) {
				i.Pull.HeadOID, i.Reviewers.RequireHuman = "aaaaaaaa", true
				i.Events[0].URL = "https://github.com/octo/app/pull/2#issuecomment-66"
				i.Pull.BaseChanged = work.StampOf(i.Events[0]).Add(since)
			}))
			p := For(v)
			words, verdicts := len(Of[change.MergeApproval](p)), len(Of[change.Verdict](p))
			if refused := strings.Contains(answered(p), "it may have been changed after the comment"); refused != (since >= 0) || refused == (words+verdicts > 0) {
				t.Errorf("%s, the base changed %s later: %d, %d: %s", body, since, words, verdicts, answered(p))
			}
		}
	}
}

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// landable makes all items approved and mergeable.
func landable(v *known.Snapshot) {
	for n := range v.Items {
		i := &v.Items[n]
		i.Reviewers = review.Policy{Order: []review.Reviewer{{Name: "quinn"}}, MaxFixCycles: 2, Blocking: review.Major, Author: "op"}
		i.Reviews.Record = review.Record{PullID: i.Pull.ID, State: review.Approved, Head: i.Pull.HeadOID, Reviewer: "", Since: noon.Add(-time.Hour)}
		i.Reviews.Record.Why = work.Reason{Kind: work.WhyReviewApproved, Number: i.Pull.Number}
		i.Reviews.Verdicts = []review.Verdict{{
			ID: 1, PullID: i.Pull.ID, ReviewID: 4000, Reviewer: "quinn", Head: i.Pull.HeadOID, Decision: review.Approve, Validity: review.Counts, At: noon.Add(-time.Hour),
		}}
		i.Landing = known.Landing{
			Policy: merging.Policy{Auto: true, ChecksTimeout: time.Hour, Approvers: []string{""}, Freeze: "agent:freeze"},
			Box: merging.Box{
				State: work.PullOpen, Head: i.Pull.HeadOID, Base: i.Pull.Base, Mergeable: "MERGEABLE", Status: "CLEAN", Change: merging.Change{Paths: []string{"a.go"}}, ChecksKnown: true,
				Methods: merging.Methods(), Permission: "WRITE", Rules: merging.Rules{Known: true}, Closes: true,
			},
		}
	}
}

func personApproved(v *known.Snapshot) {
	i := &v.Items[0]
	i.Reviews.Verdicts = append(i.Reviews.Verdicts, review.Verdict{ID: 2, ReviewID: 5000, Human: true, Head: i.Pull.HeadOID, Decision: review.Approve, By: ann})
}

func box(change func(*merging.Box)) func(*known.Snapshot) {
	return func(v *known.Snapshot) { change(&v.Items[0].Landing.Box) }
}

func item(change func(*known.Item)) func(*known.Snapshot) {
	return func(v *known.Snapshot) { change(&v.Items[0]) }
}

// row adds a planned merging action.
func row(kind work.ActionKind, s work.ActionState, head string) func(*known.Snapshot) {
	return item(func(i *known.Item) {
		i.Landing.Actions = append(i.Landing.Actions, work.Action{Kind: kind, State: s, Number: i.Pull.Number, Head: head, Base: i.Pull.Base, SentAt: noon.Add(-time.Minute)})
	})
}

// ours puts the pull request into the queue by our action.
func ours(v *known.Snapshot) {
	row(work.ActionEnqueue, work.ActionApplied, "aaa")(v)
	l := &v.Items[0].Landing
	l.Actions[len(l.Actions)-1].Sends, l.Intent.Stage, l.Box.Queue = 1, merging.Queued, merging.Queue{Required: true, In: true}
}

// never adds a stop: a required check never came.
func never(v *known.Snapshot) {
	i := &v.Items[0]
	i.Landing.Policy.Required, i.Pull.HeadSince = []string{"lint"}, noon.Add(-2*time.Hour)
}

// pushed adds a push of a turn that GitHub does not show yet.
func pushed(v *known.Snapshot) {
	v.Items[0].Spent = []work.Spent{{Kind: work.KindFix, Step: work.StepDone, Head: "aaa", Commit: "bbb"}}
}

// halted stops the item for a reason.
func halted(why work.Reason) func(*known.Snapshot) {
	return item(func(i *known.Item) { i.State, i.Reason = work.StateBlocked, why })
}

// second adds a pull request like the first one.
func second(v *known.Snapshot) {
	other := v.Items[0]
	other.ID, other.Number, other.Pull.ID, other.Pull.ItemID, other.Pull.Number = 11, 3, 21, 11, 4
	v.Items = append(v.Items, other)
}

// lands returns the plan's merging decisions in short form.
func lands(p Plan) string {
	var all []string
	for _, m := range Of[change.Merge](p) {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s #%d %s", m.Action.Kind, m.Number, m.Action.Target)))
	}
	for _, r := range Of[change.RequestReview](p) {
		all = append(all, "request "+r.Reviewer)
	}
	for _, m := range Of[change.Move](p) {
		all = append(all, string(m.Cause)+" → "+string(m.To))
	}
	for _, l := range p.Lines() {
		if l.What == "wait" || l.What == "turn" {
			all = append(all, fmt.Sprintf("#%d %s %s%s", l.Number, l.What, l.Kind, l.Code))
		}
	}
	return strings.Join(all, "; ")
}

func TestLanding(t *testing.T) {
	half := work.Reason{Kind: work.WhyMergeHalf, Number: 2, Commit: "ccc", Branch: "main", Head: "aaa"}
	neverRan := work.Reason{Kind: work.WhyMergeNeverChecked, Number: 2, Names: []string{"lint"}, At: time.Hour.Milliseconds(), Head: "aaa"}
	talk := said(work.EventIssue, 2, "66", bob)
	strict := box(func(b *merging.Box) { b.Status, b.Rules.Strict, b.BaseTip = "BLOCKED", true, "tip" })
	looked := func(tip string) func(*known.Snapshot) {
		return item(func(i *known.Item) {
			i.Landing.Actions = append(i.Landing.Actions, work.Action{Kind: work.ActionUpdateBranch, State: work.ActionApplied, Number: 2, Head: "aaa", Base: "main", ResultID: tip})
		})
	}
	refused := item(func(i *known.Item) {
		i.Reviews.Verdicts = append(i.Reviews.Verdicts, review.Verdict{ID: 2, ReviewID: 5000, Human: true, Head: "before", Decision: review.RequestChanges, Validity: review.Counts, By: bob})
	})
	blocked := halted(work.Reason{Kind: work.WhyMergeBlocked, Number: 2, Head: "aaa"})
	long := item(func(i *known.Item) { i.Pull.HeadSince = noon.Add(-2 * time.Hour) })
	for _, c := range []struct {
		name string
		view known.Snapshot
		want string
	}{
		{"all gates are open", scene(landable), "merge #2 squash"},
		{"changes of an earlier head asked for", scene(landable, refused), "request bob; #2 wait merge_changes_requested"},
		{"an agent is at work on them", scene(landable, refused, item(func(i *known.Item) { i.Turn = &work.Turn{Kind: work.KindFix, Number: 2} })), "#2 wait merge_changes_requested"},
		{"auto_merge is off", scene(landable, item(func(i *known.Item) { i.Landing.Policy.Auto = false })), ""},
		{"somebody else's", scene(landable, item(func(i *known.Item) { i.Flow = work.FlowReview })), ""},
		{"the base has a queue", scene(landable, box(func(b *merging.Box) { b.Queue.Required = true })), "enqueue #2"},
		{"behind", scene(landable, box(func(b *merging.Box) { b.Status = "BEHIND" })), "update_branch #2"},
		{"behind perhaps", scene(landable, strict), "update_branch #2"},
		{"nothing of the base is missing", scene(landable, strict, looked("tip")), "#2 wait merge_blocked"},
		{"and that for long", scene(landable, strict, looked("tip"), long), "stopped → blocked; #2 wait merge_blocked"},
		{"nothing was missing before the base moved", scene(landable, strict, looked("older")), "update_branch #2"},
		{"and it was stopped by then", scene(landable, strict, looked("older"), long, blocked), "#2 wait merge_blocked"},
		{"and GitHub calls it behind", scene(landable, strict, looked("older"), long, blocked, box(func(b *merging.Box) { b.Status = "BEHIND" })), "update_branch #2; resumed → awaiting_feedback"},
		{"others do not wait for it", scene(landable, strict, second, func(v *known.Snapshot) {
			looked("tip")(v)
			v.Items[1].Landing.Box.Status = "CLEAN"
		}), "merge #4 squash; #2 wait merge_blocked"},
		{"a check runs", scene(landable, box(func(b *merging.Box) { b.Checks = []merging.Check{{Name: "unit", State: merging.Runs}} })), "#2 wait merge_checks_pending"},
		{"the box was not read", scene(landable, box(func(b *merging.Box) { *b = merging.Box{} })), "#2 wait merge_not_read"},
		{"held", scene(landable, item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} })), "#2 wait merge_held"},
		{"merging is stopped", scene(landable, func(v *known.Snapshot) { v.Halt = &merging.Halt{At: noon} }), "#2 wait merging_stopped"},
		{"it was sent", scene(landable, row(work.ActionMerge, work.ActionSent, "aaa")), "#2 wait merge_unclear"},
		{"it was merged, and GitHub shows it open", scene(landable, row(work.ActionMerge, work.ActionApplied, "aaa")), "#2 wait merge_taken"},
		{"nothing came of it", scene(landable, row(work.ActionMerge, work.ActionVoid, "aaa")), "merge #2 squash"},
		{"another head was sent", scene(landable, row(work.ActionMerge, work.ActionSent, "bbb")), "merge #2 squash"},
		{"it is in the queue", scene(landable, row(work.ActionEnqueue, work.ActionApplied, "aaa"), box(func(b *merging.Box) { b.Queue = merging.Queue{Required: true, In: true} })), "#2 wait merge_queued"},
		{"it is held, and in the queue", scene(landable, item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} }), box(func(b *merging.Box) { b.Queue = merging.Queue{Required: true, In: true} })), "#2 wait merge_queued"},
		{"it is held, and queued by us", scene(landable, ours, item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} })), "dequeue #2"},
		{"merging is stopped, and it is queued by us", scene(landable, ours, func(v *known.Snapshot) { v.Halt = &merging.Halt{At: noon} }), "dequeue #2"},
		{"people wrote something, and it is queued by us", scene(landable, ours, with(talk)), "dequeue #2; #2 turn implementation_feedback"},
		{"it was taken out, and is held", scene(landable, ours, item(func(i *known.Item) {
			i.HeldBack, i.Landing.Box.Queue.In, i.Landing.Intent.Stage = &review.Held{By: "bob", At: noon}, false, merging.Void
		})), "#2 wait merge_held"},
		{"it was taken out, and nothing is against it", scene(landable, ours, item(func(i *known.Item) { i.Landing.Box.Queue.In, i.Landing.Intent.Stage = false, merging.Void })), "enqueue #2"},
		{"a person put it in after that, and it is held", scene(landable, ours, item(func(i *known.Item) {
			i.HeldBack, i.Landing.Intent.Stage = &review.Held{By: "bob", At: noon}, merging.Void
		})), "#2 wait merge_queued"},
		{"it was queued, and is not there", scene(landable, row(work.ActionEnqueue, work.ActionApplied, "aaa"), box(func(b *merging.Box) { b.Queue.Required = true })), "#2 wait merge_taken"},
		{"an agent works on it", scene(landable, item(func(i *known.Item) { i.Turn = &work.Turn{ID: 5, Key: "k", Step: work.StepClaimed} })), "#2 wait merge_turn_first"},
		{"people wrote something", scene(landable, with(talk)), "#2 turn implementation_feedback"},
		{"not all have approved", scene(landable, item(func(i *known.Item) { i.Reviews.Record.State, i.Reviews.Verdicts = review.Reviewing, nil })), ""},
		{"who approved requests changes since", scene(landable, item(func(i *known.Item) { i.Landing.Policy.RequireHuman = true }), personApproved, box(func(b *merging.Box) {
			b.Reviews = []merging.Review{{ID: 5000, State: "APPROVED", By: ann}, {ID: 5001, State: "CHANGES_REQUESTED", By: ann}}
		})), "#2 wait merge_person"},
		{"who approved comments since", scene(landable, item(func(i *known.Item) { i.Landing.Policy.RequireHuman = true }), personApproved, box(func(b *merging.Box) {
			b.Reviews = []merging.Review{{ID: 5000, State: "APPROVED", By: ann}, {ID: 5001, State: "COMMENTED", By: ann}}
		})), "merge #2 squash"},
		{"changes that were requested are approved since", scene(landable, item(func(i *known.Item) {
			i.Reviews.Verdicts = append(i.Reviews.Verdicts, review.Verdict{ID: 2, ReviewID: 5000, Human: true, Head: "old", Decision: review.RequestChanges, By: ann})
		}), box(func(b *merging.Box) {
			b.Reviews = []merging.Review{{ID: 5000, State: "CHANGES_REQUESTED", By: ann}, {ID: 5001, State: "APPROVED", By: ann}}
		})), "merge #2 squash"},
		{"its issue lost the label", scene(landable, item(func(i *known.Item) {
			i.Label, i.Landing.Box.Issue = "agent:bugfix", merging.Issue{Number: 1, Wanted: true}
		})), "#2 wait merge_not_asked_for"},
		{"an approval was dismissed on GitHub", scene(landable, box(func(b *merging.Box) { b.Reviews = []merging.Review{{ID: 4000, State: "DISMISSED"}} })), "#2 wait merge_approvals"},
		{"paused", scene(landable, item(func(i *known.Item) { i.Pause = &work.Pause{By: "bob", Began: noon} })), "#2 wait paused"},
		{"stopped for something else", scene(landable, halted(work.Reason{Kind: work.WhyFailed, Count: 4})), ""},

		{"a check never came", scene(landable, never), "stopped → blocked; #2 wait merge_check_missing"},
		{"it is stopped for that already", scene(landable, never, halted(neverRan)), "#2 wait merge_check_missing"},
		{"and a commit was pushed since", scene(landable, never, pushed), "#2 wait merge_check_missing"},
		{"it came after all", scene(landable, halted(neverRan)), "merge #2 squash; resumed → awaiting_feedback"},
		{"it is stopped for something else now", scene(landable, halted(neverRan), box(func(b *merging.Box) { b.Permission = "READ" })), "stopped → blocked; #2 wait merge_permission"},
		{"it was half merged", scene(landable, item(func(i *known.Item) { i.Landing.Trouble = half })), "stopped → blocked; #2 wait merge_half"},
		{"and nothing is left of the database", scene(landable, halted(half)), "#2 wait merge_half"},
		{"and the head moved", scene(landable, halted(work.Reason{Kind: work.WhyMergeHalf, Head: "bbb"})), "merge #2 squash; resumed → awaiting_feedback"},
		{"auto_merge is off now", scene(landable, halted(neverRan), item(func(i *known.Item) { i.Landing.Policy.Auto = false })), "resumed → awaiting_feedback"},

		{"two are ready", scene(landable, second), "merge #2 squash; #4 wait merge_after_another"},
		{"of two bases", scene(landable, second, func(v *known.Snapshot) { v.Items[1].Pull.Base, v.Items[1].Landing.Box.Base = "next", "next" }), "merge #2 squash; merge #4 squash"},
		{"the older one waits", scene(landable, second, box(func(b *merging.Box) { b.Draft = true })), "merge #4 squash; #2 wait merge_draft"},
		{"the older one was sent", scene(landable, row(work.ActionMerge, work.ActionSent, "aaa"), func(v *known.Snapshot) {
			second(v)
			v.Items[1].Landing.Actions = nil
		}), "#2 wait merge_unclear; #4 wait merge_after_another"},
		{"one was sent that is none of them any more", scene(landable, func(v *known.Snapshot) {
			v.Sent = []work.Action{{Kind: work.ActionMerge, State: work.ActionSent, Number: 9, Base: "main"}}
		}), "#2 wait merge_after_another"},
		{"one is being brought up to date", scene(landable, box(func(b *merging.Box) { b.Status = "BEHIND" }), row(work.ActionUpdateBranch, work.ActionSent, "aaa"), func(v *known.Snapshot) {
			second(v)
			v.Items[1].Landing.Actions, v.Items[1].Landing.Box.Status = nil, "CLEAN"
		}), "#2 wait merge_behind; #4 wait merge_after_another"},
	} {
		if got := lands(For(c.view)); got != c.want {
			t.Errorf("%s: the plan says\n%s, not\n%s", c.name, got, c.want)
		}
	}
}

// The action names the head that was checked, and the same head has the same token.
func TestTheRowOfAMerge(t *testing.T) {
	p := For(scene(landable, item(func(i *known.Item) { i.Pull.Title = "Mend it" })))
	if len(Of[change.Merge](p)) != 1 {
		t.Fatalf("%+v", Of[change.Merge](p))
	}
	a := Of[change.Merge](p)[0].Action
	if a.Head != "aaa" || a.Base != "main" || a.Token != work.MergeToken(app.Key(), 2, "aaa") || a.Title != "Mend it (#2)" {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(a.Body, "Fixes #1") || !strings.HasSuffix(a.Body, merging.Trailer+a.Token) {
		t.Errorf("its message is %q", a.Body)
	}
	refs := For(scene(landable, box(func(b *merging.Box) { b.Closes = false })))
	if body := Of[change.Merge](refs)[0].Action.Body; !strings.HasPrefix(body, "Refs #1") {
		t.Errorf("the pull request closes nothing, and its message is %q", body)
	}
	if len(p.Changes()) == 0 {
		t.Error("a plan that merges is none")
	}
}

// Older pull requests are queued before younger ones, in any order of their issues.
func TestTheOlderIsQueuedFirst(t *testing.T) {
	queue := func(v *known.Snapshot) {
		for n := range v.Items {
			v.Items[n].Landing.Box.Queue.Required = true
		}
		v.Items[0].Pull.Number, v.Items[1].Pull.Number = 7, 4
	}
	p := For(scene(landable, second, queue))
	if len(Of[change.Merge](p)) != 2 || Of[change.Merge](p)[0].Number != 4 || Of[change.Merge](p)[1].Number != 7 {
		t.Error(lands(p))
	}
}

// An updated branch keeps its turn while its reviewers look again.
func TestOthersWaitForWhatWasUpdated(t *testing.T) {
	updated := func(v *known.Snapshot) {
		v.Sent = append(v.Sent, work.Action{Kind: work.ActionUpdateBranch, State: work.ActionApplied, Number: 9, Base: "main"})
	}
	if p := For(scene(landable, updated)); len(Of[change.Merge](p)) != 0 || !strings.Contains(lands(p), "wait") {
		t.Error(lands(p))
	}
}

// The commit status says why a merge is stopped and what ends that, for every reason that stops one,
// and no longer once nothing does. It stays the one that GitHub may require.
func TestTheStatusShowsEveryStop(t *testing.T) {
	status := func(p Plan) string {
		var all []string
		for _, n := range Of[change.Notice](p) {
			if n.Kind == work.ActionStatus {
				all = append(all, n.Target+" "+n.Body)
			}
		}
		return strings.Join(all, "\n")
	}
	stops := 0
	for _, kind := range explain.Kinds() {
		why := work.Reason{Kind: kind, Number: 2, Names: []string{"unit"}, Text: strings.Repeat("no, ", 60), Commit: "ccc", Branch: "main", Head: "aaa"}
		var stop, over func(*known.Snapshot)
		switch {
		case merging.Stops(kind):
			stop = item(func(i *known.Item) { i.Landing.Trouble = why })
			over = item(func(i *known.Item) {
				i.Landing.Trouble = work.Reason{}
				if merging.Stays(kind) { // a person's command or a push ends it
					i.State, i.Reason = work.StateAwaitingFeedback, work.Reason{}
				}
			})
		case kind == work.WhyMergeHalted:
			stop = func(v *known.Snapshot) { v.Halt = &merging.Halt{Why: why, At: noon} }
			over = func(v *known.Snapshot) { v.Halt = nil }
		default:
			continue
		}
		stops++
		v := scene(landable, stop)
		p := For(v)
		set := status(p)
		if n := len([]rune(set)); !strings.HasPrefix(set, "success Not merged: ") || !strings.Contains(set, " Next: ") || strings.HasSuffix(set, " Next: ") || strings.ContainsAny(set, "`\n") || n > len("success ")+140 {
			t.Errorf("%s: %d: %q", kind, n, set)
		}
		v = carriedOut(v, p)
		p = For(v)
		if set := status(p); set != "" {
			t.Errorf("%s is set again: %q", kind, set)
		}
		v = carriedOut(v, p)
		over(&v)
		p = For(v)
		if set := status(p); set != "success Approved by quinn" {
			t.Errorf("%s is over: %q", kind, set)
		}
		if set := status(For(carriedOut(v, p))); set != "" {
			t.Errorf("%s is over, and it is set again: %q", kind, set)
		}
	}
	if stops < 10 {
		t.Errorf("%d stops", stops)
	}
	for _, c := range []struct{ next, end string }{
		{"push a commit", "… Next: push a commit"},
		{strings.Repeat("look at it, and ", 20) + "then comment `/mergexo retry`", "… Next: see the comment about it"},
	} {
		a, _ := (review.Item{Pull: work.PullRequest{State: work.PullOpen}}).Status(review.Choice{State: review.Approved}, strings.Repeat("no ", 90), c.next)
		if !strings.HasSuffix(a.Body, c.end) || len([]rune(a.Body)) > 140 || len([]rune(a.Body)) < 137 {
			t.Errorf("%q", a.Body)
		}
	}
}

// drawLandings makes some items ours to merge, with random obstacles.
func drawLandings(t *rapid.T, v *known.Snapshot) {
	for n := range v.Items {
		i := &v.Items[n]
		if !i.HasPull() || !rapid.Bool().Draw(t, "merged by us") {
			continue
		}
		reviews, reviewers, state := i.Reviews, i.Reviewers, i.State
		one := known.Snapshot{Items: v.Items[n : n+1]}
		landable(&one)
		switch rapid.IntRange(0, 9).Draw(t, "what is wrong") {
		case 0:
			i.Reviews, i.Reviewers = reviews, reviewers
		case 1:
			i.Landing.Box.Checks = []merging.Check{{Name: "unit", State: merging.Red}}
		case 2:
			i.Landing.Box.Status = "BEHIND"
		case 3:
			i.Landing.Box = merging.Box{}
		case 4:
			i.Landing.Trouble = work.Reason{Kind: work.WhyMergeRefused, Number: i.Pull.Number, Text: "no"}
		case 5:
			i.Landing.Box.Permission = "READ"
		case 6:
			i.Landing.Box.Queue.Required = true
		}
		if state == work.StateBlocked && rapid.Bool().Draw(t, "stopped for a merge") {
			i.Reason = work.Reason{Kind: rapid.SampledFrom([]work.ReasonKind{work.WhyMergePermission, work.WhyMergeHalf}).Draw(t, "why"), Number: i.Pull.Number, Head: i.Pull.HeadOID}
		}
		if rapid.Bool().Draw(t, "ready") {
			i.State, i.Pull.State, i.Pause, i.Events = work.StateAwaitingFeedback, work.PullOpen, nil, nil
		}
	}
}

// Nothing is merged while an agent works on it, people commented, or it is paused, stopped or not
// approved. One per base is merged at a time.
func TestNothingIsMergedBeforeItsTime(t *testing.T) {
	merged, drawings := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawings++
		v := drawn(t)
		p := For(v)
		bases := map[string]int{}
		for _, m := range Of[change.Merge](p) {
			merged++
			i := v.Items[slices.IndexFunc(v.Items, func(i known.Item) bool { return i.ID == m.Item })]
			said := slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind.IsComment() && e.Number == i.Pull.Number })
			turn := slices.ContainsFunc(p.Turns(), func(t Turn) bool { return t.Item.ID == i.ID })
			approved := slices.ContainsFunc(i.Reviews.Verdicts, func(v review.Verdict) bool {
				return v.Reviewer == "quinn" && v.Head == i.Pull.HeadOID && v.Decision == review.Approve && v.Validity != review.TakenBack
			})
			switch {
			case i.Pause != nil, i.HeldBack != nil, i.Turn != nil, turn, said, i.Pull.State != work.PullOpen, !i.Landing.Trouble.None(), !approved, m.Action.Head != i.Pull.HeadOID:
				t.Fatalf("%s is merged: %+v", m.Action.Kind, i)
			case slices.ContainsFunc(Of[change.Move](p), func(move change.Move) bool { return move.Item == i.ID && move.To == work.StateBlocked }):
				t.Fatalf("%s of what is stopped: %+v", m.Action.Kind, Of[change.Move](p))
			}
			if m.Action.Kind == work.ActionEnqueue { // a queue takes all
				continue
			}
			if bases[i.Pull.Base]++; bases[i.Pull.Base] > 1 {
				t.Fatalf("%d go into %s", bases[i.Pull.Base], i.Pull.Base)
			}
		}
	})
	if merged == 0 && drawings >= 100 { // with few drawings there may be none
		t.Error("none was merged at all")
	}
}

// A refused branch update does not matter once the merge needs no update.
func TestARefusedUpdateHoldsNoMergeThatNeedsNone(t *testing.T) {
	refused := item(func(i *known.Item) {
		i.Landing.Actions = append(i.Landing.Actions, work.Action{
			Kind: work.ActionUpdateBranch, State: work.ActionPlanned, Number: i.Pull.Number, Head: i.Pull.HeadOID, Base: i.Pull.Base,
			NotBefore: noon.Add(time.Hour), LastError: "no",
		})
	})
	if got := lands(For(scene(landable, refused))); !strings.Contains(got, "merge #2") {
		t.Errorf("up to date by now: %s", got)
	}
	behind := box(func(b *merging.Box) { b.Status = "BEHIND" })
	if got := lands(For(scene(landable, refused, behind))); strings.Contains(got, "update_branch #2") || strings.Contains(got, "merge #2") {
		t.Errorf("behind as before: %s", got)
	}
}

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// reviewedBy sets reviewers: quinn, who may call in sam, and grace, who is a person.
func reviewedBy(names ...string) func(*known.Snapshot) {
	all := map[string]review.Reviewer{
		"quinn": {Name: "quinn", MayCallIn: []string{"sam"}}, "sam": {Name: "sam"}, "grace": {Name: "grace", Human: true, Login: "grace", LoginID: 9},
	}
	return func(v *known.Snapshot) {
		i := &v.Items[0]
		i.ReviewsChanged, i.Reviewers = true, review.Policy{Pool: all, MaxFixCycles: 2, Blocking: review.Major, Author: "op"}
		for _, name := range names {
			i.Reviewers.Order = append(i.Reviewers.Order, all[name])
		}
		v.Policy.Labels.Hold, v.Policy.Labels.HumanReview = "agent:hold", "agent:human-review"
	}
}

// stored sets the state of the reviews.
func stored(s review.State, reviewer string) func(*known.Snapshot) {
	return func(v *known.Snapshot) {
		r := &v.Items[0].Reviews.Record
		r.PullID, r.State, r.Reviewer, r.Head, r.Since = 20, s, reviewer, "aaa", noon.Add(-30*time.Minute)
		if s.Stopped() {
			r.Why = work.Reason{Kind: work.WhyReviewCycles, Number: 2, Count: 2}
			v.Items[0].State, v.Items[0].Reason = work.StateBlocked, r.Why
		}
	}
}

// verdict adds a verdict on a head.
func verdict(name, head string, d review.Decision) func(*known.Snapshot) {
	return func(v *known.Snapshot) {
		f := &v.Items[0].Reviews
		n := int64(len(f.Verdicts))
		f.Verdicts = append(f.Verdicts, review.Verdict{
			ID: n + 1, PullID: 20, ReviewID: 4000 + n, Reviewer: name, Human: name == "grace", Head: head, Cycle: review.FixCycle(f.Fixes, 0),
			Decision: d, Validity: review.Counts, At: noon.Add(-20 * time.Minute),
		})
	}
}

// tells returns the plan's decisions about reviews in short form.
func tells(p Plan) string {
	var all []string
	for _, m := range Of[change.Review](p) {
		said := fmt.Sprintf("%s(%s)", m.Record.State, m.Record.Reviewer)
		for _, l := range m.Logged {
			said += " logs " + l.What
		}
		for _, in := range m.Inserted {
			said += " calls in " + in.Name
		}
		all = append(all, said)
	}
	for _, t := range p.Turns() {
		e, _, _ := strings.Cut(t.Trigger.Source, ".aaa")
		all = append(all, fmt.Sprintf("turn %s %s %s+%d", t.Kind, t.Reviewer, e, len(t.Events)))
	}
	for _, m := range Of[change.Move](p) {
		all = append(all, string(m.Cause)+" → "+string(m.To))
	}
	for _, f := range Of[change.FinishEvents](p) {
		all = append(all, "finish "+f.Outcome)
	}
	for _, a := range Of[change.Notice](p) {
		if a.Kind != work.ActionReaction && a.Kind != work.ActionComment {
			all = append(all, fmt.Sprintf("%s %s%s", a.Kind, a.Target, strings.TrimSuffix(","+a.Base, ",")))
		}
	}
	for _, l := range p.Lines() {
		if l.What == "wait" {
			all = append(all, "waits: "+string(l.Code))
		}
	}
	if len(Of[change.ReviewsDecided](p)) > 0 {
		all = append(all, "looked")
	}
	return strings.Join(all, "; ")
}

// due has a review by quinn wait for a turn.
func due(epoch, cycle int) func(*known.Snapshot) {
	e, _ := work.EventOfKey(review.DueKey(2, review.Due{Reviewer: "quinn", Epoch: epoch, Cycle: cycle, Head: "aaa"}))
	e.ID, e.SeenAt = 300, noon
	return with(e)
}

// failsForGood has the turn of the first event fail for good, which no plan has seen.
func failsForGood(v *known.Snapshot) {
	r := &v.Items[0].Reviews.Record
	r.FailedKey, r.FailedWhy = v.Items[0].Events[0].Key, work.Reason{Kind: work.WhyFailed, Text: "no answer"}
}

func TestReviews(t *testing.T) {
	talk := said(work.EventIssue, 2, "66", bob)
	red := said(work.EventCheck, 2, "aaa", ann)
	red.Body = "FAILURE test"
	item := func(change func(*known.Item)) func(*known.Snapshot) {
		return func(v *known.Snapshot) { change(&v.Items[0]) }
	}
	wait := item(func(i *known.Item) { i.Reviews.Requested = []string{"grace"} })
	merged := pullIs(work.PullMerged)
	for _, c := range []struct {
		name string
		view known.Snapshot
		want string
	}{
		{"nobody reviews", scene(item(func(i *known.Item) { i.ReviewsChanged = true })), "looked"},
		{"nothing changed", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.ReviewsChanged = false })), ""},
		{"the first is asked", scene(reviewedBy("quinn")), "reviewing(quinn); turn review quinn quinn.0.0+0; status pending"},
		{"what asks for it is stored already", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), due(0, 0)), "reviewing(quinn); turn review quinn +1"},
		{"what asked for another is over", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), due(0, 1)), "reviewing(quinn); turn review quinn quinn.0.0+0; finish stale: the reviews moved on"},
		{"a person's comment comes first", scene(reviewedBy("quinn"), with(talk)), "turn implementation_feedback  +1"},
		{"and its quiet period", scene(reviewedBy("quinn"), with(talk), func(v *known.Snapshot) { v.Policy.QuietPeriod = time.Hour }), "waits: quiet_period"},
		{"red checks come first", scene(reviewedBy("quinn"), with(red), item(func(i *known.Item) { i.Pull.Rollup = "FAILURE" })), "turn fix  +1"},
		{"checks that run come first", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.Pull.Rollup, i.Pull.ChecksSince = "PENDING", noon.Add(-time.Minute) })), "pending(quinn); status pending; waits: review_checks"},
		{"red ones that nobody mends are waited for", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.Pull.Rollup = "FAILURE" })), "pending(quinn); status pending; waits: review_checks; looked"},
		{"for an hour", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.Pull.Rollup, i.Pull.ChecksSince = "PENDING", noon.Add(-time.Hour) })), "reviewing(quinn); turn review quinn quinn.0.0+0; status pending"},
		{"a draft waits", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.Pull.Draft = true })), "pending(quinn); status pending; waits: review_draft; looked"},
		{"what is held waits", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob"} })), "pending(quinn); status pending; waits: review_held; looked"},
		{"what is paused waits", scene(reviewedBy("quinn"), item(func(i *known.Item) { i.Pause = &work.Pause{By: "bob", Began: noon} })), "waits: paused"},
		{"the second follows", scene(reviewedBy("quinn", "grace"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.Approve)), "reviewing(grace); status pending; review_request grace; waits: review_person; looked"},
		{"and is asked once", scene(reviewedBy("quinn", "grace"), stored(review.Reviewing, "grace"), verdict("quinn", "aaa", review.Approve), wait), "reviewing(grace); waits: review_person; looked"},
		{"all have approved", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.Approve)), "approved(); status success; waits: approved; looked"},
		{"of another head", scene(reviewedBy("quinn"), stored(review.Approved, ""), verdict("quinn", "bbb", review.Approve)), "reviewing(quinn); turn review quinn quinn.0.0+0; status pending"},
		{"who is called in follows", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.Approve), item(func(i *known.Item) { i.Reviews.Verdicts[0].CalledIn = []string{"sam", "op"} })), "reviewing(sam) logs escalation_refused calls in sam; turn review sam sam.0.0+0; status pending"},
		{"changes are requested", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.RequestChanges)), "fixing(quinn) logs work_rejected; turn fix quinn 4000.0.0+0; status pending"},
		{"and nothing is fixed while it is held", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.RequestChanges), item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob"} })), "fixing(quinn) logs work_rejected; status pending; waits: review_held; looked"},
		{"never converges", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.RequestChanges), item(func(i *known.Item) { i.Reviewers.MaxFixCycles = 0 })), "human_review_required(quinn) logs work_rejected logs max_fix_cycles_exceeded; stopped → blocked; status pending; labels agent:human-review; waits: review_cycles_exceeded; looked"},
		{"stopped", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), verdict("quinn", "aaa", review.RequestChanges)), "waits: review_cycles_exceeded; looked"},
		{"stopped, and somebody pushes", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), verdict("quinn", "bbb", review.RequestChanges), item(func(i *known.Item) { i.Reviews.Record.Head = "bbb" })), "human_review_required(quinn) logs max_fix_cycles_exceeded; status pending; waits: review_cycles_exceeded; looked"},
		{"stopped for something else", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), state(work.StateBlocked), due(0, 0)), "finish stale: the reviews moved on; waits: ; looked"},
		{"stopped, and a person is answered", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), with(talk), item(func(i *known.Item) { i.Since = noon.Add(-time.Hour) })), "turn implementation_feedback  +1"},
		{"and then stopped again", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), state(work.StateAwaitingFeedback)), "stopped → blocked; waits: review_cycles_exceeded; looked"},
		{"and its red checks are people's", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), state(work.StateAwaitingFeedback), with(red)), "stopped → blocked; waits: review_cycles_exceeded; looked"},
		{"a reviewer decides", scene(reviewedBy("quinn", "grace"), stored(review.HumanReview, "quinn"), verdict("grace", "aaa", review.Approve)), "reviewing(quinn); turn review quinn quinn.1.0+0; resumed → awaiting_feedback; status pending; labels ,agent:human-review"},
		{"failed for good", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), due(0, 0), failsForGood), "error(quinn); stopped → blocked; finish stale: the reviews moved on; status pending; waits: review_failed; looked"},
		{"merged", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), merged), "merged(); pull merged → completed; looked"},
		{"never begun, and merged", scene(reviewedBy("quinn"), merged), "pull merged → completed"},
		{"switched off", scene(item(func(i *known.Item) { i.ReviewsChanged = true }), stored(review.Reviewing, "quinn"), due(0, 0)), "(); finish stale: the reviews moved on; looked"},
	} {
		if got := tells(For(c.view)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// No agent reviews or fixes an item that is paused, or one whose review is not due.
func TestNoReviewBeginsBeforeItsTime(t *testing.T) {
	begun, drawings := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawings++
		v := drawn(t)
		v.Policy.Budgets = work.Budgets{}
		for n := range v.Items {
			if i := &v.Items[n]; i.HasPull() {
				drawReviews(t, i)
				i.State, i.Pull.State, i.ReviewsChanged = work.StateAwaitingFeedback, work.PullOpen, true
				if rapid.Bool().Draw(t, "quiet") {
					i.Events = nil
				}
			}
		}
		for _, turn := range Of[Turn](For(v)) {
			if turn.Reviewer == "" {
				continue
			}
			begun++
			item := v.Items[slices.IndexFunc(v.Items, func(i known.Item) bool { return i.ID == turn.Item.ID })]
			said := slices.ContainsFunc(item.Events, func(e work.Event) bool { return e.Kind.IsComment() && e.Number == item.Pull.Number })
			ofReview := turn.Kind == work.KindReview
			who, _ := item.Reviewers.ReviewerOf(turn.Reviewer)
			first := who.Human && !ofReview // a fix for a person's review comes before comments
			switch {
			case item.Pause != nil, item.HeldBack != nil, item.Reviewers.Off(), said && !first:
				t.Fatalf("%s for %s begins on what people have: %+v", turn.Kind, turn.Reviewer, item)
			case ofReview && item.Pull.Draft, ofReview && item.Pull.Rollup == "FAILURE":
				t.Fatalf("%s for %s begins too early: %+v", turn.Kind, turn.Reviewer, item.Pull)
			case ofReview && slices.ContainsFunc(item.Reviews.Verdicts, func(v review.Verdict) bool { return v.Reviewer == turn.Reviewer && v.Head == turn.Head }):
				t.Fatalf("%s looks at %s again", turn.Reviewer, turn.Head)
			case !ofReview && turn.Kind != work.KindFix, turn.Head != item.Pull.HeadOID:
				t.Fatalf("%s of %s for %s", turn.Kind, turn.Head, turn.Reviewer)
			}
		}
	})
	if begun == 0 && drawings >= 100 { // with few drawings there may be none
		t.Error("none began at all")
	}
}

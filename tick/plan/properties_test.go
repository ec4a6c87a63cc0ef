package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// drawn returns a snapshot of some items in any state with comments.
func drawn(t *rapid.T) known.Snapshot {
	v := scene(labels)
	v.Items, v.Free = nil, 3
	v.Policy.MaxEvents = rapid.IntRange(1, 5).Draw(t, "most events")
	v.Policy.Budgets = work.Budgets{TurnsPerItem: rapid.IntRange(0, 3).Draw(t, "budget")}
	for i := range rapid.IntRange(1, 4).Draw(t, "items") {
		v.Items = append(v.Items, drawItem(t, i))
	}
	drawLandings(t, &v)
	return v
}

func drawItem(t *rapid.T, i int) known.Item {
	id, number := int64(10+i), 1+10*i
	flow := rapid.SampledFrom([]work.Flow{work.FlowBugfix, work.FlowSmallJob, work.FlowDesign, work.FlowImplementation, work.FlowRoadmap}).Draw(t, "flow")
	item := known.Item{Notices: map[string]work.ActionState{}, Item: work.Item{
		ID: id, RepoID: 1, Number: number, Flow: flow, State: rapid.SampledFrom(work.States()).Draw(t, "state"), Priority: 3, Label: "agent:bugfix",
		Since: noon.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, "since")) * time.Minute),
	}}
	if item.State == work.StateBlocked {
		item.Reason = work.Reason{Kind: work.WhyFailed, Count: 4}
	}
	onPull := rapid.Bool().Draw(t, "pull")
	if onPull {
		item.Pull = work.PullRequest{
			ID: 20 + id, ItemID: id, Number: number + 1, Branch: fmt.Sprintf("agent/bugfix/%d-x", number), Base: "main", HeadOID: fmt.Sprintf("aaa%d", i),
			State: rapid.SampledFrom([]work.PullState{work.PullOpen, work.PullMerged, work.PullClosed}).Draw(t, "pull is"), CreatedAt: noon.Add(-10 * time.Minute),
		}
	}
	if !onPull && rapid.Bool().Draw(t, "blocked") { // by issues that are no items: of a circle, one plan stops those that it knows of
		item.Dependencies = map[string]work.DependencyState{}
		for range rapid.IntRange(1, 2).Draw(t, "blockers") {
			by := work.Dependency{Repo: app.Name, Number: rapid.IntRange(901, 902).Draw(t, "by")}
			item.Dependencies[by.String()] = rapid.SampledFrom([]work.DependencyState{
				work.DependencyOpen, work.DependencyClosed, work.DependencyDropped, work.DependencyMissing, work.DependencyRefused,
			}).Draw(t, "it is")
		}
	}
	if rapid.Bool().Draw(t, "paused") {
		item.Pause = &work.Pause{Number: number, By: "bob", Began: noon.Add(-time.Duration(rapid.IntRange(0, 10).Draw(t, "paused for")) * time.Minute)}
	}
	if onPull && rapid.Bool().Draw(t, "reviewed") {
		drawReviews(t, &item)
	}
	item.Spent = took(work.KindBugfixStart, rapid.IntRange(0, 4).Draw(t, "spent"))
	kinds := []work.EventKind{work.EventSource, work.EventLabelled}
	if onPull {
		kinds = append(kinds, work.EventIssue, work.EventReview, work.EventSummary)
	}
	var events []work.Event
	for n := range rapid.IntRange(0, 4).Draw(t, "events") {
		kind, on := rapid.SampledFrom(kinds).Draw(t, "kind"), number
		if kind != work.EventSource && kind != work.EventLabelled {
			on = number + 1
		}
		e := said(kind, on, fmt.Sprint(1000*(i+1)+n), ann)
		e.ItemID = id
		at := noon.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "minutes ago")) * time.Minute)
		e.CreatedAt, e.UpdatedAt, e.SeenAt = at, at, at
		if kind == work.EventLabelled {
			e.State = "agent:bugfix"
		}
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b work.Event) int { return a.SeenAt.Compare(b.SeenAt) })
	fed := int64(0)
	for n := range events {
		events[n].ID = int64(1000*(i+1) + n)
		if events[n].SeenAt.Before(item.Since) {
			fed = events[n].ID
		}
	}
	if !onPull && (item.State == work.StateAwaitingIssueFollowup || item.State == work.StateBlocked) { // a turn had what came before
		item.Followup = &work.Followup{ItemID: id, EventCursor: fed, Reason: work.Reason{Kind: work.WhyQuestion, Text: "which?"}}
	}
	item.Events = events
	return item
}

// drawReviews adds reviewers and their verdicts.
func drawReviews(t *rapid.T, item *known.Item) {
	item.Reviewers = review.Policy{
		Order: []review.Reviewer{{Name: "quinn", MayCallIn: []string{"sam"}}}, MaxFixCycles: rapid.IntRange(0, 2).Draw(t, "most fixes"), Blocking: review.Major,
		Pool:         map[string]review.Reviewer{"sam": {Name: "sam"}},
		RequireHuman: rapid.Bool().Draw(t, "a person must approve"), Author: "op",
	}
	grace := review.Reviewer{Name: "grace", Human: true, Login: rapid.SampledFrom([]string{"grace", "op"}).Draw(t, "her login")}
	if rapid.Bool().Draw(t, "a person reviews") {
		item.Reviewers.Order = append(item.Reviewers.Order, grace)
	}
	if rapid.IntRange(0, 3).Draw(t, "nobody reviews any more") == 3 {
		item.Reviewers = review.Policy{}
	}
	item.ReviewsChanged, item.Decided = rapid.Bool().Draw(t, "look"), known.DecidedInputs{Pull: item.Pull.ID, Count: 1}
	item.Pull.Draft = rapid.IntRange(0, 3).Draw(t, "draft") == 3
	item.Pull.Rollup = rapid.SampledFrom([]string{"", "SUCCESS", "PENDING", "FAILURE"}).Draw(t, "rollup")
	item.Pull.ChecksSince = noon.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "checks run for")) * time.Minute)
	if rapid.IntRange(0, 3).Draw(t, "held") == 3 {
		item.HeldBack = &review.Held{By: "bob", At: noon.Add(-time.Hour)}
	}
	if rapid.Bool().Draw(t, "it is their time") {
		item.State, item.Pause, item.Pull.State, item.ReviewsChanged = work.StateAwaitingFeedback, nil, work.PullOpen, true
	}
	head := func(what string) string { return rapid.SampledFrom([]string{item.Pull.HeadOID, "bbb"}).Draw(t, what) }
	f := &item.Reviews
	f.Record = review.Record{PullID: item.Pull.ID, State: rapid.SampledFrom(append(review.States(), "")).Draw(t, "reviews are"), Head: head("decided of"), Since: noon.Add(-time.Hour)}
	if f.Record.State != "" {
		f.Record.Reviewer = rapid.SampledFrom([]string{"quinn", "sam", "grace"}).Draw(t, "whose turn it is")
	}
	if f.Record.State.Stopped() {
		f.Record.Why = work.Reason{Kind: work.WhyReviewFailed, Number: item.Pull.Number, Name: f.Record.Reviewer}
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "verdicts") {
		name := rapid.SampledFrom([]string{"quinn", "sam", "grace"}).Draw(t, "reviewer")
		v := review.Verdict{
			ID: int64(n + 1), PullID: item.Pull.ID, ReviewID: int64(4000 + n), Reviewer: name, Human: name == "grace", Head: head("of"), Epoch: rapid.IntRange(0, 1).Draw(t, "epoch"),
			Decision: rapid.SampledFrom([]review.Decision{review.Approve, review.RequestChanges}).Draw(t, "decision"),
			Validity: rapid.SampledFrom([]review.Validity{review.Counts, review.Moved, review.TakenBack}).Draw(t, "validity"),
			At:       noon.Add(-time.Duration(rapid.IntRange(30, 90).Draw(t, "given")) * time.Minute),
		}
		if name == "quinn" && rapid.Bool().Draw(t, "calls sam in") {
			v.CalledIn = []string{"sam"}
		}
		f.Verdicts = append(f.Verdicts, v)
		if v.Decision == review.RequestChanges && rapid.Bool().Draw(t, "a fix was tried") {
			f.Fixes = append(f.Fixes, review.Fix{
				PullID: item.Pull.ID, Reviewer: name, ReviewID: v.ReviewID, Epoch: v.Epoch, Head: v.Head,
				Outcome: rapid.SampledFrom([]review.FixOutcome{review.FixPushed, review.FixUnchanged, review.FixAsked}).Draw(t, "it"),
			})
		}
	}
}

// essence returns a plan's decisions in sorted order.
func essence(p Plan) string {
	var all []string
	for _, t := range Of[Turn](p) {
		all = append(all, fmt.Sprintf("turn %s of %d for %s%s", t.Kind, t.Item.ID, strings.Join(slices.Sorted(slices.Values(work.EventKeys(t.Events))), " "), t.Trigger.Key))
	}
	for _, a := range Of[change.Notice](p) {
		all = append(all, "notice "+a.Token)
	}
	for _, m := range Of[change.Move](p) {
		all = append(all, fmt.Sprintf("move %d to %s: %s", m.Item, m.To, m.Reason))
	}
	for _, f := range Of[change.FinishEvents](p) {
		for _, id := range f.Events {
			all = append(all, fmt.Sprintf("finish %d: %s", id, f.Outcome))
		}
	}
	for _, m := range Of[change.Review](p) {
		all = append(all, fmt.Sprintf("reviews of %d from %q to %q (%s) of %s: %s", m.Item, m.Before.State, m.Record.State, m.Record.Reviewer, m.Record.Head, m.Record.Why))
	}
	for _, r := range Of[change.RequestReview](p) {
		all = append(all, fmt.Sprintf("request %s of %d", r.Reviewer, r.Pull))
	}
	for _, m := range Of[change.Merge](p) {
		all = append(all, fmt.Sprintf("%s #%d at %s", m.Action.Kind, m.Number, m.Action.Head))
	}
	for _, l := range Of[change.ReviewsDecided](p) {
		all = append(all, fmt.Sprint("looked at ", l.Pull))
	}
	for _, c := range Of[change.ResumeTurn](p) {
		all = append(all, fmt.Sprint("resume ", c.Turn))
	}
	for _, c := range Of[change.RenewBudget](p) {
		all = append(all, fmt.Sprint("renew ", c.Item))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// carriedOut returns the snapshot after a plan: rows stored, turns claimed.
func carriedOut(v known.Snapshot, p Plan) known.Snapshot {
	v.Items, v.Held = slices.Clone(v.Items), slices.Clone(v.Held)
	item := func(id int64) *known.Item {
		return &v.Items[slices.IndexFunc(v.Items, func(i known.Item) bool { return i.ID == id })]
	}
	gone := map[int64]bool{}
	for _, f := range Of[change.FinishEvents](p) {
		for _, id := range f.Events {
			gone[id] = true
		}
	}
	for _, a := range Of[change.Notice](p) {
		i := item(a.ItemID)
		i.Notices = maps.Clone(i.Notices)
		i.Notices[a.Token] = work.ActionPlanned
		if a.Kind == work.ActionStatus {
			i.Landing.Status = a.Action
			i.Landing.Status.State = work.ActionApplied
		}
	}
	for _, m := range Of[change.Move](p) {
		i := item(m.Item)
		if i.State != m.To {
			i.Since = v.Now
		}
		i.State, i.Reason = m.To, m.Reason
	}
	for _, c := range Of[change.RenewBudget](p) {
		item(c.Item).Spent = nil
	}
	commanded := func(id int64, do func(*known.Item)) {
		if at := slices.IndexFunc(v.Items, func(i known.Item) bool {
			return i.ID == id || i.Pull.ID == id && id != 0 || i.Turn != nil && i.Turn.ID == id
		}); at >= 0 {
			do(&v.Items[at])
		}
	}
	for _, c := range Of[change.ResumeTurn](p) {
		commanded(c.Turn, func(i *known.Item) {
			t := *i.Turn
			t.Blocked, t.NotBefore, t.Attempts = false, v.Now, 0
			i.Turn = &t
		})
	}
	for _, c := range Of[change.Wait](p) {
		commanded(c.Item, func(i *known.Item) { i.Wait = c.Wait })
	}
	for _, c := range Of[change.Hold](p) {
		commanded(c.Pull, func(i *known.Item) {
			i.ReviewsChanged = true
			if i.HeldBack = nil; c.Held.By != "" {
				i.HeldBack = &c.Held
			}
		})
	}
	for _, c := range Of[change.Pause](p) {
		commanded(c.Item, func(i *known.Item) {
			if i.Pause = nil; c.Ended.IsZero() {
				i.Pause = &work.Pause{RepoID: 1, Number: i.Number, Began: c.Began, By: c.By}
			}
		})
	}
	for _, c := range Of[change.ForgetMerge](p) {
		commanded(c.Pull, func(i *known.Item) { i.Landing.Trouble = work.Reason{} })
	}
	for _, c := range Of[change.AcceptHead](p) {
		commanded(c.Pull, func(i *known.Item) { i.Pull.AcceptedOID = c.Head })
	}
	for _, m := range Of[change.Merge](p) { // and sent
		i, a := item(m.Item), m.Action
		a.State, a.SentAt = work.ActionSent, v.Now
		i.Landing.Actions = append(slices.Clone(i.Landing.Actions), a)
	}
	reviewed(p, v.Items, item)
	for n, t := range Of[Turn](p) {
		for _, e := range t.Events {
			gone[e.ID] = true
		}
		key := fmt.Sprint("turn", n)
		i := item(t.Item.ID)
		i.State = work.StateRunning
		i.Turn = &work.Turn{ID: int64(500 + n), ItemID: t.Item.ID, RepoID: 1, Number: t.Number, Key: key, Kind: t.Kind, Step: work.StepClaimed}
		v.Held = append(v.Held, work.Holder{Repo: v.Repo.Name.String(), Number: t.Number, Issue: t.Item.Number, Turn: key})
	}
	for n := range v.Items {
		v.Items[n].Events = slices.DeleteFunc(slices.Clone(v.Items[n].Events), func(e work.Event) bool { return gone[e.ID] })
	}
	return v
}

// reviewed stores a plan's decisions about reviews.
func reviewed(p Plan, items []known.Item, item func(int64) *known.Item) {
	for n := range items {
		if slices.ContainsFunc(Of[change.ReviewsDecided](p), func(c change.ReviewsDecided) bool { return c.DecidedInputs == items[n].Decided }) {
			items[n].ReviewsChanged = false
		}
	}
	for _, m := range Of[change.Review](p) {
		i := item(m.Item)
		i.Reviews.Record, i.Reviews.Inserted = m.Record, slices.Concat(i.Reviews.Inserted, m.Inserted)
	}
	for _, asked := range Of[change.RequestReview](p) {
		i := &items[slices.IndexFunc(items, func(i known.Item) bool { return i.Pull.ID == asked.Pull })]
		i.Reviews.Requested = append(i.Reviews.Requested, asked.Reviewer)
	}
}

// After a plan is executed, the next plan is empty, but for the commit status of a merge that is stopped: a plan
// that decides about what people did first leaves it to the next one.
func TestThePlanOfAPlansOutcomeIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawn(t)
		first := For(v)
		second := For(carriedOut(v, first))
		second.Decisions = slices.DeleteFunc(second.Decisions, func(d Decision) bool {
			n, ok := d.(change.Notice)
			return ok && n.Kind == work.ActionStatus && slices.ContainsFunc(v.Items, func(i known.Item) bool {
				return i.ID == n.ItemID && i.State == work.StateBlocked && merging.Stops(i.Reason.Kind)
			})
		})
		if again := essence(second); again != "" {
			t.Fatalf("planned\n%s\nand then again\n%s", essence(first), again)
		}
	})
}

// The order of the database's rows does not matter.
func TestTheOrderOfRowsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawn(t)
		want := essence(For(v))
		v.Items = rapid.Permutation(v.Items).Draw(t, "items in another order")
		for i := range v.Items {
			v.Items[i].Events = rapid.Permutation(v.Items[i].Events).Draw(t, "events in another order")
		}
		if got := essence(For(v)); got != want {
			t.Fatalf("planned\n%s\nand in another order\n%s", want, got)
		}
	})
}

// No turn starts for an item that is paused, out of budget, or blocked without a comment since,
// unless the reason for its block is over. None begins before what it depends on is closed, unless
// a person answered the item's stop.
func TestNoTurnBeginsUnasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawn(t)
		p := For(v)
		for _, turn := range Of[Turn](p) {
			id := turn.Item.ID
			item := v.Items[slices.IndexFunc(v.Items, func(i known.Item) bool { return i.ID == id })]
			if item.Pause != nil {
				t.Fatalf("%s begins on item %d, which is paused", turn.Kind, id)
			}
			if most := v.Policy.Budgets.TurnsPerItem; most > 0 && len(item.Spent) >= most && !slices.ContainsFunc(Of[change.RenewBudget](p), func(c change.RenewBudget) bool { return c.Item == id }) {
				t.Fatalf("%s begins on item %d, which has had %d turns of %d", turn.Kind, id, len(item.Spent), most)
			}
			since := func(e work.Event) bool { return !e.SeenAt.Before(item.Since) }
			over := func(m change.Move) bool { return m.Item == id && m.Cause == work.CauseResumed }
			answered := func(e work.Event) bool { return e.SeenAt.After(item.Since) }
			for on, is := range item.Dependencies {
				if turn.Kind.Start() && is != work.DependencyClosed && (!item.Stopped() || !slices.ContainsFunc(item.Events, answered)) {
					t.Fatalf("%s begins on item %d, and %s is %s", turn.Kind, id, on, is)
				}
			}
			if item.State == work.StateBlocked && !slices.ContainsFunc(item.Events, since) && !slices.ContainsFunc(Of[change.Move](p), over) {
				t.Fatalf("%s begins on item %d, which is blocked, and nobody has written since", turn.Kind, id)
			}
		}
	})
}

package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	app  = work.Repo{ID: 1, Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}, DefaultBranch: "main"}
	ann  = work.Account{ID: 7, Login: "ann"}
	bob  = work.Account{ID: 8, Login: "bob"}
)

// scene returns a snapshot with one bugfix item, #1, and its pull request, #2.
func scene(change ...func(*known.Snapshot)) known.Snapshot {
	v := known.Snapshot{
		Repo: app, Now: noon,
		Policy: known.Policy{QuietPeriod: time.Minute, MaxEvents: 50, Clean: strings.TrimSpace, Mark: work.Mark, Match: func(glob, path string) bool { return glob == path }},
		Items: []known.Item{{
			Item:    work.Item{ID: 10, RepoID: 1, Number: 1, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback, Priority: 3, Label: "agent:bugfix", Since: noon.Add(-time.Hour)},
			Pull:    work.PullRequest{ID: 20, ItemID: 10, Number: 2, State: work.PullOpen, Branch: "agent/bugfix/1-x", Base: "main", HeadOID: "aaa", CreatedAt: noon.Add(-time.Hour)},
			Notices: map[string]work.ActionState{},
		}},
	}
	for _, c := range change {
		c(&v)
	}
	return v
}

// said returns a comment that was made long enough ago.
func said(kind work.EventKind, number int, id string, who work.Account) work.Event {
	at := noon.Add(-5 * time.Minute)
	return work.Event{
		ID: int64(len(id)) + 100, ItemID: 10, Number: number, Kind: kind, Source: id, Hash: "h", Key: work.EventKey(number, kind, id, "h"),
		Author: who, Body: "please", ThreadTop: 55, CreatedAt: at, UpdatedAt: at, SeenAt: at,
	}
}

func with(events ...work.Event) func(*known.Snapshot) {
	return func(v *known.Snapshot) { v.Items[0].Events = append(v.Items[0].Events, events...) }
}

func state(s work.State) func(*known.Snapshot) {
	return func(v *known.Snapshot) { v.Items[0].State = s }
}

func noPull(v *known.Snapshot) { v.Items[0].Pull = work.PullRequest{} }

func pullIs(s work.PullState) func(*known.Snapshot) {
	return func(v *known.Snapshot) { v.Items[0].Pull.State = s }
}

func labelled() work.Event {
	e := said(work.EventLabelled, 1, "900", ann)
	e.State = "agent:bugfix"
	return e
}

// sketch returns a plan in short form, for comparison.
func sketch(p Plan) string {
	var b []string
	for _, t := range p.Turns() {
		b = append(b, "turn "+string(t.Kind)+" "+strings.Join(work.EventKeys(t.Events), ","))
	}
	for _, m := range Of[change.Move](p) {
		b = append(b, "move "+string(m.To))
	}
	for _, f := range Of[change.FinishEvents](p) {
		b = append(b, "finish "+f.Outcome)
	}
	for _, a := range Of[change.Notice](p) {
		b = append(b, "notice "+string(a.Kind)+" "+a.Target)
	}
	if len(Of[change.ResumeTurn](p)) > 0 {
		b = append(b, "resume")
	}
	return strings.Join(b, "; ")
}

func TestRoute(t *testing.T) {
	review := said(work.EventReview, 2, "55", ann)
	talk := said(work.EventIssue, 2, "66", bob)
	summary := said(work.EventSummary, 2, "77", ann)
	late := said(work.EventIssue, 2, "67", bob)
	late.SeenAt, late.UpdatedAt = noon.Add(-10*time.Second), noon.Add(-10*time.Second)
	ahead := late
	ahead.UpdatedAt = noon.Add(time.Hour) // GitHub's clock runs ahead
	before := said(work.EventSource, 1, "33", ann)
	before.CreatedAt = noon.Add(-2 * time.Hour)
	after := said(work.EventSource, 1, "34", ann)
	unfinished := func(change func(*work.Turn)) func(*known.Snapshot) {
		return func(v *known.Snapshot) {
			turn := work.Turn{ID: 5, ItemID: 10, RepoID: 1, Key: "k", Kind: work.KindImplementationFeedback, Step: work.StepClaimed}
			change(&turn)
			v.Items[0].Turn = &turn
		}
	}
	for _, c := range []struct {
		name string
		view known.Snapshot
		want string
	}{
		{"nothing new", scene(), ""},
		{"a label starts", scene(noPull, state(work.StatePending), with(labelled())), "turn bugfix_start 1:labelled:900:h"},
		{"what was said before is part of the start", scene(noPull, state(work.StatePending), with(labelled(), before)), "turn bugfix_start 1:source:33:h,1:labelled:900:h; notice reaction 33"},
		{"a blocked start waits for a word", scene(noPull, state(work.StateBlocked), func(v *known.Snapshot) { v.Items[0].Since = noon }, with(before)), "notice reaction 33"},
		{"and a person's answer resumes it", scene(noPull, state(work.StateBlocked), with(before)), "turn bugfix_start 1:source:33:h; notice reaction 33"},
		{"the label set again starts over", scene(noPull, state(work.StateBlocked), with(labelled())), "turn bugfix_start 1:labelled:900:h"},
		{"a label on what has a pull request changes nothing", scene(with(labelled())), "finish noted"},
		{"a closed issue ends the item", scene(noPull, state(work.StatePending), with(labelled(), said(work.EventClosed, 1, "901", ann))), "move closed; finish noted"},
		{"a reopened issue was never closed", scene(noPull, state(work.StatePending), with(labelled(), said(work.EventClosed, 1, "901", ann), said(work.EventReopened, 1, "902", ann))), "finish noted; turn bugfix_start 1:labelled:900:h"},
		{"comments of two people are one turn", scene(with(review, talk)), "turn implementation_feedback 2:review:55:h,2:issue:66:h; notice reaction 55; notice reaction 66"},
		{"a summary alone is a turn", scene(with(summary)), "turn implementation_feedback 2:summary:77:h"},
		{"the quiet period waits for the end of a burst, but eyes come at once", scene(with(review, late)), "notice reaction 55; notice reaction 67"},
		{"a clock that runs ahead does not stop the turn", scene(with(ahead), func(v *known.Snapshot) { v.Now = noon.Add(time.Minute) }), "turn implementation_feedback 2:issue:67:h; notice reaction 67"},
		{"eyes are given once", scene(with(talk), func(v *known.Snapshot) {
			v.Items[0].Notices[work.ReactionToken(app.Key(), work.EventIssue, "66")] = work.ActionApplied
		}), "turn implementation_feedback 2:issue:66:h"},
		{"a resolved thread is not answered", scene(with(review), func(v *known.Snapshot) { v.Items[0].Resolved = []int64{55} }), "finish ignored: its thread is resolved"},
		{"a running turn takes nothing new", scene(with(talk), unfinished(func(*work.Turn) {})), "notice reaction 66"},
		{"a held slot is left alone whatever the database says", scene(with(talk), func(v *known.Snapshot) {
			v.Held = []work.Holder{{Repo: "github.com/octo/app", Issue: 1, Number: 2, Turn: "k"}}
		}), "notice reaction 66"},
		{"a later comment on the issue is redirected", scene(with(after)), "notice comment 34"},
		{"one redirect, ever", scene(with(after), func(v *known.Snapshot) {
			v.Items[0].Notices[work.RedirectToken(app.Key(), 1, "34")] = work.ActionApplied
		}), "finish redirected"},
		{"a comment from before the pull request is feedback", scene(with(before)), "turn implementation_feedback 1:source:33:h; notice reaction 33"},
		{"merged", scene(with(talk, said(work.EventMerged, 2, "903", ann)), pullIs(work.PullMerged)), "move completed; finish noted; finish void: pull request #2 was merged"},
		{"a merged design stays merged", scene(with(said(work.EventMerged, 2, "903", ann)), pullIs(work.PullMerged), func(v *known.Snapshot) { v.Items[0].Flow = work.FlowDesign }), "move merged; finish noted"},
		{"merged is honoured when blocked", scene(state(work.StateBlocked), with(said(work.EventMerged, 2, "903", ann)), pullIs(work.PullMerged)), "move completed; finish noted"},
		{"closed", scene(with(said(work.EventClosed, 2, "904", ann)), pullIs(work.PullClosed)), "move closed; finish noted"},
		{"reopened", scene(state(work.StateClosed), with(said(work.EventReopened, 2, "905", ann))), "move awaiting_feedback; finish noted"},
		{"a blocked pull request waits for a word", scene(state(work.StateBlocked), func(v *known.Snapshot) { v.Items[0].Since = noon }, with(talk)), "notice reaction 66"},
		{"and goes on with one", scene(state(work.StateBlocked), with(talk)), "turn implementation_feedback 2:issue:66:h; notice reaction 66"},
		{"a turn blocked after its first effect resumes on a comment", scene(state(work.StateBlocked), with(talk), unfinished(func(t *work.Turn) { t.Blocked = true })), "move running; notice reaction 66; resume"},
		{"at most so many events a turn", scene(with(review, talk), func(v *known.Snapshot) { v.Policy.MaxEvents = 1 }), "turn implementation_feedback 2:review:55:h; notice reaction 55; notice reaction 66"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := normal(sketch(For(c.view)))
			if want := normal(c.want); got != want {
				t.Errorf("plan\n got %q\nwant %q", got, want)
			}
			if again := normal(sketch(For(c.view))); again != got {
				t.Errorf("planned again %q, first %q", again, got)
			}
		})
	}
}

// normal sorts the parts of a sketch.
func normal(s string) string {
	if s == "" {
		return ""
	}
	parts := strings.Split(s, "; ")
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func TestEveryPlannedLineHasAReason(t *testing.T) {
	v := scene(with(said(work.EventReview, 2, "55", ann), said(work.EventSource, 1, "34", bob)))
	for _, l := range For(v).Lines() {
		if l.Reason == "" || l.Number == 0 {
			t.Errorf("line %+v has no reason or number", l)
		}
	}
}

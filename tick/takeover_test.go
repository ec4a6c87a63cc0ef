package tick

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// L38: a list and a timeline are read one after the other, and either may lag.
func TestL38PausesOfATimeline(t *testing.T) {
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	event := func(id int64, what string, minute int) github.TimelineEvent {
		return github.TimelineEvent{ID: id, Event: what, Label: "Agent:Ignore", Actor: ann, CreatedAt: at(minute)}
	}
	pause := func(id int64, from, to int) work.Pause {
		p := work.Pause{Number: 2, LabelID: id, Began: at(from), By: "ann"}
		if to > 0 {
			p.Ended = at(to)
		}
		return p
	}
	other := github.TimelineEvent{ID: 3, Event: "unlabeled", Label: "agent:bugfix", CreatedAt: at(2)}
	for name, c := range map[string]struct {
		timeline []github.TimelineEvent
		on       bool
		stamp    int
		pauses   []work.Pause
		freed    int // minute; 0: it stands, or never did
	}{
		"never":                        {[]github.TimelineEvent{other}, false, 5, nil, 0},
		"lasts":                        {[]github.TimelineEvent{event(1, "labeled", 1), other}, true, 5, []work.Pause{pause(1, 1, 0)}, 0},
		"twice":                        {[]github.TimelineEvent{event(1, "labeled", 1), event(4, "unlabeled", 3), event(5, "labeled", 4)}, true, 5, []work.Pause{pause(1, 1, 3), pause(5, 4, 0)}, 0},
		"over":                         {[]github.TimelineEvent{event(1, "labeled", 1), event(4, "unlabeled", 3)}, false, 5, []work.Pause{pause(1, 1, 3)}, 3},
		"the timeline lags the label":  {nil, true, 5, []work.Pause{{Number: 2, Began: at(5), By: "somebody"}}, 0},
		"the list lags the label":      {[]github.TimelineEvent{event(1, "labeled", 1)}, false, 1, []work.Pause{pause(1, 1, 0)}, 0},
		"the timeline lags its ending": {[]github.TimelineEvent{event(1, "labeled", 1)}, false, 5, []work.Pause{pause(1, 1, 5)}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			got := takeoverOf(2, c.timeline, "agent:ignore", c.on, at(c.stamp))
			freed := time.Time{}
			if c.freed > 0 {
				freed = at(c.freed)
			}
			if !slices.Equal(got.pauses, c.pauses) || !got.freed.Equal(freed) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// L38: while people have an item, nothing is begun or said for it; what becomes
// of it is honoured.
func TestL38PlanOfAPausedItem(t *testing.T) {
	pause := func(v *View) {
		v.Paused = map[int64]work.Pause{10: {Number: 2, Began: noon.Add(-time.Hour), By: "bob"}}
		v.Policy.Labels.Ignore = "agent:ignore"
	}
	source := said(work.EventSource, 1, "33", ann)
	source.CreatedAt = noon
	red := said(work.EventCheck, 2, "aaa", work.Account{})
	merged := said(work.EventMerged, 2, "901", ann)
	blockedTurn := func(v *View) {
		v.Turns = []work.Turn{{ID: 5, ItemID: 10, Number: 2, Kind: work.KindImplementationFeedback, Step: work.StepPushed, Blocked: true}}
	}
	for name, c := range map[string]struct {
		view View
		want string
	}{
		"a comment waits":      {scene(pause, with(said(work.EventIssue, 2, "44", ann))), ""},
		"no redirect":          {scene(pause, with(source)), ""},
		"no turn for checks":   {scene(pause, with(red)), ""},
		"no start":             {scene(pause, noPull, state(work.StatePending), with(labelled())), ""},
		"no answer resumes":    {scene(pause, noPull, state(work.StateBlocked), with(said(work.EventSource, 1, "33", ann))), ""},
		"a turn stays blocked": {scene(pause, state(work.StateBlocked), blockedTurn, with(said(work.EventIssue, 2, "44", ann))), ""},
		"merged all the same":  {scene(pause, pullIs(work.PullMerged), with(merged)), "move completed; finish noted"},
		"closed all the same":  {scene(pause, pullIs(work.PullClosed)), "move closed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planRepo(c.view)
			if got := sketch(p); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			paused := slices.ContainsFunc(p.Lines, func(l Line) bool {
				return l.What == "wait" && l.Reason == "paused by bob since 2026-11-21 11:00:00 UTC; to resume: take agent:ignore away, or comment /mergexo resume"
			})
			if paused != (c.want == "") {
				t.Errorf("lines %+v", p.Lines)
			}
		})
	}
}

// L123: an issue that was edited after its labelling stops once, and no comment
// resumes it; the label set anew clears it where the issue is read.
func TestL123PlanOfAnEditedIssue(t *testing.T) {
	edited := func(v *View) { v.Items[0].Edited = "its description was edited" }
	stopped := func(v *View) { v.Items[0].Reason = "its description was edited" }
	for name, c := range map[string]struct {
		view View
		want string
	}{
		"it stops":              {scene(noPull, edited, state(work.StatePending), with(labelled())), "move blocked"},
		"once":                  {scene(noPull, edited, state(work.StateBlocked), stopped, with(labelled())), ""},
		"no comment resumes it": {scene(noPull, edited, state(work.StateBlocked), stopped, with(said(work.EventSource, 1, "33", ann))), "notice reaction 33"},
		"an answer stops it":    {scene(noPull, edited, state(work.StateAwaitingIssueFollowup), with(said(work.EventSource, 1, "33", ann))), "move blocked; notice reaction 33"},
		"it goes on":            {scene(noPull, state(work.StateBlocked), stopped, with(labelled())), "turn bugfix_start 1:labelled:900:h"},
		"a pull request goes on": {
			scene(edited, with(said(work.EventIssue, 2, "44", ann))),
			"turn implementation_feedback 2:issue:44:h; notice reaction 44",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sketch(planRepo(c.view)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

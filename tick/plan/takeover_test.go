package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Nothing starts and no notice is planned for a paused item. Its end is still handled.
func TestPlanOfAPausedItem(t *testing.T) {
	pause := func(v *known.Snapshot) {
		v.Items[0].Pause = &work.Pause{Number: 2, Began: noon.Add(-time.Hour), By: "bob"}
		v.Policy.Labels.Ignore = "agent:ignore"
	}
	source := said(work.EventSource, 1, "33", ann)
	source.CreatedAt = noon
	red := said(work.EventCheck, 2, "aaa", work.Account{})
	merged := said(work.EventMerged, 2, "901", ann)
	blockedTurn := func(v *known.Snapshot) {
		v.Items[0].Turn = &work.Turn{ID: 5, ItemID: 10, Number: 2, Kind: work.KindImplementationFeedback, Step: work.StepPushed, Blocked: true}
	}
	for name, c := range map[string]struct {
		view known.Snapshot
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
			p := For(c.view)
			if got := sketch(p); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			paused := slices.ContainsFunc(p.Lines(), func(l change.Line) bool {
				return l.What == "wait" && l.Code == work.WhyPaused && l.Why[0].Who == "bob"
			})
			if paused != (c.want == "") {
				t.Errorf("lines %+v", p.Lines())
			}
		})
	}
}

// An issue that was edited after its labelling stops once, and no comment resumes it. Setting the
// label again clears the stop when ingest reads the issue.
func TestPlanOfAnEditedIssue(t *testing.T) {
	edited := func(v *known.Snapshot) { v.Items[0].Edited = "its description was edited" }
	stopped := func(v *known.Snapshot) {
		v.Items[0].Reason = work.Reason{Kind: work.WhyIssueEdited, Text: v.Items[0].Edited}
	}
	for name, c := range map[string]struct {
		view known.Snapshot
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
			if got := sketch(For(c.view)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

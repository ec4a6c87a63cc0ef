package status

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/known"
)

func TestEveryStateSaysWhatItWaitsForAndWhatIsNext(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour)
	repo := work.Repo{Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}}
	limited := repo
	limited.NotBefore, limited.LastError = later, "rate limit"
	open := work.PullRequest{Number: 13, State: work.PullOpen}
	broken := work.PullRequest{Number: 13, State: work.PullOpen, NotBefore: later, LastError: "HTTP 500"}
	item := func(s work.State, f work.Flow) known.Item {
		return known.Item{Item: work.Item{Number: 12, State: s, Flow: f}}
	}
	with := func(i known.Item, changes ...func(*known.Item)) known.Item {
		for _, change := range changes {
			change(&i)
		}
		return i
	}
	pull := func(p work.PullRequest) func(*known.Item) { return func(i *known.Item) { i.Pull = p } }
	turn := func(t work.Turn) func(*known.Item) { return func(i *known.Item) { i.Turn = &t } }
	why := func(r work.Reason) func(*known.Item) { return func(i *known.Item) { i.Reason = r } }
	paused := func(i *known.Item) { i.Pause = &work.Pause{Began: now.Add(-time.Hour), By: "ann"} }
	refused := work.Reason{Kind: work.WhyPushRefused, Text: "rules", Advice: "allow pushes"}
	two := func(i *known.Item) {
		i.Events = []work.Event{{ID: 1, Kind: work.EventIssue}, {ID: 2, Kind: work.EventReview}}
	}
	for name, c := range map[string]struct {
		ItemFacts
		waits, next string // parts; an empty one means empty
	}{
		"pending":        {ItemFacts{Repo: repo, Item: item(work.StatePending, work.FlowBugfix)}, "a pass", "bugfix start"},
		"ready":          {ItemFacts{Repo: repo, Item: item(work.StateReady, work.FlowImplementation)}, "a pass", "implementation start"},
		"limited":        {ItemFacts{Repo: limited, Item: item(work.StatePending, work.FlowBugfix)}, "rate limit", "asked again after"},
		"agent":          {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepClaimed, Kind: work.KindBugfixStart, Slot: 1})), Live: true}, "a bugfix start turn in slot 1", "checked"},
		"interrupted":    {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepClaimed, Kind: work.KindBugfixStart}))}, "no agent works now", "the next pass resumes"},
		"answered":       {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepAnswered}))}, "has answered", "pushed and sent"},
		"pushed":         {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepPushed}))}, "has answered", "pushed and sent"},
		"usage limit":    {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepClaimed, NotBefore: later, WaitReason: work.Reason{Kind: work.WhyProvider, Text: "usage limit"}}))}, "usage limit", "resumes after"},
		"retry":          {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepClaimed, NotBefore: later, LastError: "exit 3"}))}, "exit 3", "resumes after"},
		"blocked":        {ItemFacts{Repo: repo, Item: with(item(work.StateBlocked, work.FlowBugfix), why(refused))}, "a person: the push was refused: rules", "allow pushes"},
		"paused":         {ItemFacts{Repo: repo, Item: with(item(work.StateAwaitingFeedback, work.FlowBugfix), pull(open), paused), Place: explain.Place{Ignore: "our:ignore"}}, "paused by ann since 2026-11-21 11:00:00 UTC", "remove our:ignore, or run gh mergexo resume octo/app#12"},
		"paused blocked": {ItemFacts{Repo: repo, Item: with(item(work.StateBlocked, work.FlowBugfix), why(refused), paused)}, "paused by ann since 2026-11-21 11:00:00 UTC; and then: the push was refused: rules", "agent:ignore"},
		"paused, pushed": {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepPushed}), paused)}, "has answered", "pushed and sent"},
		"paused closed":  {ItemFacts{Repo: repo, Item: with(item(work.StateClosed, work.FlowBugfix), paused)}, "", "set its label"},
		"blocked turn":   {ItemFacts{Repo: repo, Item: with(item(work.StateRunning, work.FlowBugfix), turn(work.Turn{Step: work.StepPushed, Blocked: true, LastError: "thread locked"}))}, "thread locked", "retry"},
		"blocked pull":   {ItemFacts{Repo: repo, Item: with(item(work.StateBlocked, work.FlowBugfix), pull(open))}, "no reason given", "set it again"},
		"conflict":       {ItemFacts{Repo: repo, Item: with(item(work.StateAwaitingFeedback, work.FlowBugfix), pull(work.PullRequest{Number: 13, State: work.PullOpen, Base: "main", Mergeable: work.Conflicting}))}, "it conflicts with", "comment on #13"},
		"comments":       {ItemFacts{Repo: repo, Item: with(item(work.StateAwaitingFeedback, work.FlowBugfix), pull(open), two)}, "2 events", "turn"},
		"people":         {ItemFacts{Repo: repo, Item: with(item(work.StateAwaitingFeedback, work.FlowBugfix), pull(open))}, "people on #13", "merge"},
		"broken pull":    {ItemFacts{Repo: repo, Item: with(item(work.StateAwaitingFeedback, work.FlowBugfix), pull(broken))}, "HTTP 500", "asked again after"},
		"followup":       {ItemFacts{Repo: repo, Item: item(work.StateAwaitingIssueFollowup, work.FlowBugfix)}, "answer on the issue", "turn"},
		"merged design":  {ItemFacts{Repo: repo, Item: item(work.StateMerged, work.FlowDesign)}, "", "implementation"},
		"completed":      {ItemFacts{Repo: repo, Item: item(work.StateCompleted, work.FlowBugfix)}, "", "nothing"},
		"closed":         {ItemFacts{Repo: repo, Item: item(work.StateClosed, work.FlowBugfix)}, "", "set its label"},
		"own reason":     {ItemFacts{Repo: repo, Item: with(item(work.StatePending, work.FlowBugfix), why(work.Reason{Kind: work.WhyDepends, Names: []string{"octo/app#9"}}))}, "octo/app#9", "once it is closed"},
		"closed, a turn": {ItemFacts{Repo: repo, Item: with(item(work.StateClosed, work.FlowBugfix), turn(work.Turn{Step: work.StepClaimed}))}, "", "set its label"},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.ItemFacts
			f.Now = now
			got := f.item()
			if !says(got.WaitingFor, c.waits) || !says(got.NextStep, c.next) {
				t.Errorf("waits for %q, next %q; want parts %q, %q", got.WaitingFor, got.NextStep, c.waits, c.next)
			}
		})
	}
}

func says(got, part string) bool { return strings.Contains(got, part) && (part != "" || got == "") }

// A wait that a wrong clock stored is none, in every place that tells of waits.
func TestAWaitFromAWrongClockIsNone(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	turn := work.Turn{Step: work.StepClaimed, NotBefore: now.Add(time.Hour), UpdatedAt: now}
	f := ItemFacts{Item: known.Item{Item: work.Item{State: work.StateRunning}, Turn: &turn}, Now: now}
	if got := f.item().State; got != "waiting" {
		t.Errorf("a wait: %q", got)
	}
	f.Turn.UpdatedAt = now.Add(24 * time.Hour)
	if got := f.item().State; got != "interrupted" {
		t.Errorf("a wait that was stored tomorrow: %q", got)
	}
}

func TestPullIsSaysWhatStillMatters(t *testing.T) {
	for want, p := range map[string]PullRequest{
		"open mergeable success": {State: work.PullOpen, Mergeable: "MERGEABLE", Checks: "SUCCESS"},
		"open unknown":           {State: work.PullOpen, Mergeable: "UNKNOWN"},
		"merged":                 {State: work.PullMerged, Mergeable: "UNKNOWN"},
		"closed failure":         {State: work.PullClosed, Mergeable: "UNKNOWN", Checks: "FAILURE"},
	} {
		if got := p.says(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A command that was run on the machine is no comment in the timeline.
func TestTheTimelineTellsCommandsApart(t *testing.T) {
	for state, want := range map[string]string{work.SaidLocally: "olga ran gh mergexo hold on the machine", "": "olga: /mergexo hold"} {
		if got := (Event{Kind: work.EventCommand, State: state, Author: "olga", Body: "/mergexo hold"}).happened(); got != want {
			t.Errorf("%q: %q", state, got)
		}
	}
	if got := (Event{Kind: work.EventCommand, Outcome: outcomeRefused}).fate(); got != " (refused)" {
		t.Errorf("a command that did nothing: %q", got)
	}
}

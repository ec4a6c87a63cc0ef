package status

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

func TestEveryStateSaysWhatItWaitsForAndWhatIsNext(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour)
	repo := work.Repo{Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}}
	limited := repo
	limited.NotBefore, limited.LastError = later, "rate limit"
	open := &work.PullRequest{Number: 13, State: work.PullOpen}
	broken := &work.PullRequest{Number: 13, State: work.PullOpen, NotBefore: later, LastError: "HTTP 500"}
	pause := work.Pause{Began: now.Add(-time.Hour), By: "ann"}
	item := func(s work.State, f work.Flow) work.Item { return work.Item{Number: 12, State: s, Flow: f} }
	for name, c := range map[string]struct {
		Facts
		waits, next string // parts; an empty one means empty
	}{
		"pending":        {Facts{Repo: repo, Item: item(work.StatePending, work.FlowBugfix)}, "free slot", "bugfix_start"},
		"ready":          {Facts{Repo: repo, Item: item(work.StateReady, work.FlowImplementation)}, "free slot", "implementation_start"},
		"limited":        {Facts{Repo: limited, Item: item(work.StatePending, work.FlowBugfix)}, "rate limit", "asked again after"},
		"agent":          {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepClaimed, Kind: work.KindBugfixStart, Slot: 1}, Live: true}, "bugfix_start in slot 1", "checked"},
		"interrupted":    {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepClaimed, Kind: work.KindBugfixStart}}, "no agent works now", "the next pass resumes"},
		"answered":       {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepAnswered}}, "has answered", "pushes"},
		"pushed":         {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepPushed}}, "is pushed", "comments"},
		"usage limit":    {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepClaimed, NotBefore: later, WaitReason: "usage limit"}}, "usage limit", "resumes after"},
		"retry":          {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepClaimed, NotBefore: later, LastError: "exit 3"}}, "exit 3", "resumes after"},
		"blocked":        {Facts{Repo: repo, Item: work.Item{State: work.StateBlocked, Reason: "push refused", Hint: "allow pushes"}}, "a person: push refused", "allow pushes"},
		"paused":         {Facts{Repo: repo, Item: item(work.StateAwaitingFeedback, work.FlowBugfix), Pull: open, Pause: &pause, Ignore: "our:ignore"}, "paused by ann since 2026-11-21 11:00:00 UTC", "take our:ignore away, or comment /mergexo resume"},
		"paused blocked": {Facts{Repo: repo, Item: work.Item{State: work.StateBlocked, Reason: "push refused"}, Pause: &pause}, "paused by ann since 2026-11-21 11:00:00 UTC; and then: push refused", "agent:ignore"},
		"paused, pushed": {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepPushed}, Pause: &pause}, "is pushed", "comments"},
		"paused closed":  {Facts{Repo: repo, Item: item(work.StateClosed, work.FlowBugfix), Pause: &pause}, "", "label again"},
		"blocked turn":   {Facts{Repo: repo, Item: item(work.StateRunning, work.FlowBugfix), Turn: &work.Turn{Step: work.StepPushed, Blocked: true, LastError: "thread locked"}}, "a person: thread locked", "label again"},
		"blocked pull":   {Facts{Repo: repo, Item: item(work.StateBlocked, work.FlowBugfix), Pull: open}, "no reason given", "comment on octo/app#13"},
		"comments":       {Facts{Repo: repo, Item: item(work.StateAwaitingFeedback, work.FlowBugfix), Pull: open, Pending: 2}, "2 events", "turn"},
		"people":         {Facts{Repo: repo, Item: item(work.StateAwaitingFeedback, work.FlowBugfix), Pull: open}, "people on octo/app#13", "merge"},
		"broken pull":    {Facts{Repo: repo, Item: item(work.StateAwaitingFeedback, work.FlowBugfix), Pull: broken}, "HTTP 500", "asked again after"},
		"followup":       {Facts{Repo: repo, Item: item(work.StateAwaitingIssueFollowup, work.FlowBugfix)}, "answer on the issue", "turn"},
		"merged design":  {Facts{Repo: repo, Item: item(work.StateMerged, work.FlowDesign)}, "", "implementation"},
		"completed":      {Facts{Repo: repo, Item: item(work.StateCompleted, work.FlowBugfix)}, "", "nothing"},
		"closed":         {Facts{Repo: repo, Item: item(work.StateClosed, work.FlowBugfix)}, "", "label again"},
		"own reason":     {Facts{Repo: repo, Item: work.Item{State: work.StatePending, Flow: work.FlowBugfix, Reason: "octo/app#9"}}, "octo/app#9", "bugfix_start"},
		"closed, a turn": {Facts{Repo: repo, Item: item(work.StateClosed, work.FlowBugfix), Turn: &work.Turn{Step: work.StepClaimed}}, "", "label again"},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.Facts
			f.Now = now
			got := f.standing()
			if !says(got.waits, c.waits) || !says(got.next, c.next) {
				t.Errorf("waits for %q, next %q; want parts %q, %q", got.waits, got.next, c.waits, c.next)
			}
		})
	}
}

func says(got, part string) bool { return strings.Contains(got, part) && (part != "" || got == "") }

// A wait that a wrong clock stored is none, in every place that tells of waits.
func TestAWaitFromAWrongClockIsNone(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f := Facts{Item: work.Item{State: work.StateRunning}, Now: now, Turn: &work.Turn{Step: work.StepClaimed, NotBefore: now.Add(time.Hour), UpdatedAt: now}}
	if got := f.state(); got != "waiting" {
		t.Errorf("a wait: %q", got)
	}
	f.Turn.UpdatedAt = now.Add(24 * time.Hour)
	if got := f.state(); got != "interrupted" {
		t.Errorf("a wait that was stored tomorrow: %q", got)
	}
}

func TestARepositoryThatNoPassHasSeenHasNoCurrentName(t *testing.T) {
	app := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	if got := viewRepo(work.Repo{Name: app}, store.Counts{}).Current; got != "" {
		t.Errorf("currentName is %q", got)
	}
	if got := viewRepo(work.Repo{Name: app, Current: app}, store.Counts{}).Current; got != "octo/app" {
		t.Errorf("currentName is %q", got)
	}
}

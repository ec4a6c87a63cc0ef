package status

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// A line of status, the head of show and the item in JSON say the same of an item.
func TestEveryViewOfAnItemSaysTheSame(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	repo := work.Repo{Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}}
	pull := work.PullRequest{Number: 13, State: work.PullOpen, URL: "https://github.com/octo/app/pull/13"}
	why := work.Reason{Kind: work.WhyQuestion, Text: "Which?"}
	stop := work.Stop{Reason: why, Since: now.Add(-time.Hour), Attempts: 2}
	item := func(s work.State, change func(*known.Item)) known.Item {
		i := known.Item{Item: work.Item{Number: 12, State: s, Flow: work.FlowBugfix, Reason: why, Since: now.Add(-time.Minute)}}
		change(&i)
		return i
	}
	for name, f := range map[string]ItemFacts{
		"pending":    {Item: item(work.StatePending, func(*known.Item) {})},
		"blocked":    {Item: item(work.StateBlocked, func(i *known.Item) { i.Pull, i.Stop = pull, stop })},
		"a question": {Item: item(work.StateAwaitingIssueFollowup, func(i *known.Item) { i.Stop = stop })},
		"paused":     {Item: item(work.StateAwaitingFeedback, func(i *known.Item) { i.Pull, i.Pause = pull, &work.Pause{Began: now, By: "ann"} })},
		"held": {
			Item:    item(work.StateAwaitingFeedback, func(i *known.Item) { i.Pull, i.Events = pull, []work.Event{{ID: 1, Kind: work.EventIssue}} }),
			Outlook: plan.Outlook{Waits: []work.Reason{{Kind: work.WhyDayBudget, Name: work.MaxTurnsPerDay, Used: 3, Limit: 3}}},
		},
		"interrupted": {Item: item(work.StateRunning, func(i *known.Item) { i.Turn = &work.Turn{Step: work.StepClaimed, Kind: work.KindBugfixStart} })},
	} {
		f.Repo, f.Now = repo, now
		var line, head, people bytes.Buffer
		v := f.item()
		b := Board{Items: []Item{v}}
		if err := b.Print(terminal.Output{W: &line}, io.Discard); err != nil {
			t.Fatal(err)
		}
		shown := terminal.Output{W: &people, TTY: true, Width: 400}
		if err := b.printStandings(shown); err != nil {
			t.Fatal(err)
		}
		if err := f.story(nil).Print(terminal.Output{W: &head}); err != nil {
			t.Fatal(err)
		}
		cells := strings.Split(line.String(), "\t")
		if cells[2] != v.Since.Format(time.RFC3339) || cells[3] != v.WaitingFor || cells[4] != v.NextStep || v.WaitingFor == "" || v.NextStep == "" || v.ReasonCode == "" {
			t.Errorf("%s: the line %q, JSON %+v", name, cells, v)
		}
		for _, want := range []string{"state:\t" + cells[1], "since:\t" + cells[2], "waiting for:\t" + v.WaitingFor, "next:\t" + v.NextStep} {
			if !strings.Contains(head.String(), want+"\n") {
				t.Errorf("%s: show says no %q:\n%s", name, want, &head)
			}
		}
		if forPeople := name == "blocked" || name == "paused"; forPeople != (v.toAct() == pull.URL) {
			t.Errorf("%s: people are sent to %q", name, v.toAct())
		}
		for _, want := range []string{"octo/app#12 waits: " + shown.Ours(v.WaitingFor) + "\n", strings.TrimSpace("→ "+v.NextStep+"  "+v.toAct()) + "\n", "  " + cells[1] + "  "} {
			if !strings.Contains(people.String(), want) {
				t.Errorf("%s: the terminal says no %q:\n%s", name, want, &people)
			}
		}
	}
}

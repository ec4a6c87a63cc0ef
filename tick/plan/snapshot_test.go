package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// stirred returns a drawn snapshot with everything else that a plan reads: commands, turns,
// rewritten branches, stop comments, and commands without an item.
func stirred(t *rapid.T) known.Snapshot {
	v := drawn(t)
	for n := range v.Items {
		stir(t, &v.Items[n])
	}
	if rapid.Bool().Draw(t, "stray") {
		v.Untracked = []known.Item{{Item: work.Item{RepoID: 1, Number: 99}, Events: []work.Event{drawCommand(t, 99, 0)}}}
	}
	return v
}

func stir(t *rapid.T, i *known.Item) {
	if rapid.Bool().Draw(t, "turn") {
		i.Turn = &work.Turn{
			ID: 500 + i.ID, ItemID: i.ID, RepoID: 1, Number: i.Number, Key: fmt.Sprint("turn", i.ID), Kind: work.KindBugfixStart,
			Step:    rapid.SampledFrom([]work.Step{work.StepClaimed, work.StepAnswered, work.StepPushed}).Draw(t, "step"),
			Blocked: rapid.Bool().Draw(t, "blocked"), NotBefore: noon.Add(time.Hour), Attempts: 2, EventKeys: []string{"x"},
		}
	}
	if i.HasPull() && rapid.Bool().Draw(t, "rewritten") {
		i.Pull.LostOID = "bbb"
	}
	if rapid.Bool().Draw(t, "stopped") {
		i.Stop = work.Stop{ItemID: i.ID, Reason: work.Reason{Kind: work.WhyQuestion, Text: "which?"}, Attempts: 1}
		if rapid.Bool().Draw(t, "taken") {
			i.Stop.Taken = noon
		}
	}
	i.Resolved, i.Shelved = []int64{55}, []string{"x"}
	for n := range rapid.IntRange(0, 2).Draw(t, "commands") {
		e := drawCommand(t, i.Number, n)
		e.ItemID = i.ID
		i.Events = append(i.Events, e)
	}
}

func drawCommand(t *rapid.T, number, n int) work.Event {
	verb := rapid.SampledFrom(work.CommandTable()).Draw(t, "verb").Verb
	e := commanded("/mergexo "+string(verb), number, fmt.Sprint(10*number+n))
	e.ID, e.ItemID = int64(9000+10*number+n), 0
	return e
}

// A plan uses its own earlier decisions and does not change the snapshot.
func TestThePlanLeavesTheSnapshotAsItIs(t *testing.T) {
	shown := func(v known.Snapshot) string {
		b, err := json.MarshalIndent([]any{v.Repo, v.Items, v.Untracked, v.Ignored, v.Held, v.Files, v.Day}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := stirred(t)
		before := shown(v)
		For(v)
		if after := shown(v); after != before {
			t.Fatalf("the snapshot was\n%s\nand after the plan\n%s", before, after)
		}
		item := rapid.SampledFrom(v.Items).Draw(t, "item")
		e := drawCommand(t, item.Number, 9)
		cmd, _ := work.ParseCommand(e.Body)
		ForCommand(v, item, e, cmd)
		if after := shown(v); after != before {
			t.Fatalf("the snapshot was\n%s\nand after %s\n%s", before, cmd, after)
		}
	})
}

// Items without work do not affect the plan, except for the room that they take.
func TestWhatAsksForNothingIsNotPlannedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := stirred(t)
		want := For(v)
		quiet := drawItem(t, 7)
		quiet.Events, quiet.Pause, quiet.Flow, quiet.ReviewsChanged = nil, nil, work.FlowBugfix, false
		v.Items = append([]known.Item{quiet}, v.Items...)
		got := For(v)
		if told(got) != told(want) {
			t.Fatalf("planned\n%s\nand with one more that asks for nothing\n%s", told(want), told(got))
		}
	})
}

// told returns a plan's decisions and lines.
func told(p Plan) string {
	all := essence(p)
	for _, l := range p.Lines() {
		all += fmt.Sprintf("\n#%d %s %s: %s", l.Number, l.What, l.Kind, l.Reason)
	}
	return all
}

// A stop comment shows a pause: it changes once when people pause the item, and again when they
// resume it.
func TestWhatACommentAboutAStopSaysOfAPause(t *testing.T) {
	lasts := work.Stop{ItemID: 10, Attempts: 1, Since: noon}
	taken, over := lasts, lasts
	taken.Taken, over.Ended = noon, noon
	bob := &work.Pause{By: "bob", Began: noon}
	for name, c := range map[string]struct {
		stop  work.Stop
		pause *work.Pause
		state work.State
		want  string
	}{
		"people take it over":           {lasts, bob, work.StateBlocked, "bob"},
		"it says so already":            {taken, bob, work.StateBlocked, "nothing"},
		"people give it back":           {taken, nil, work.StateBlocked, "nobody"},
		"given back, and over":          {taken, nil, work.StateClosed, "nobody"},
		"nobody has it":                 {lasts, nil, work.StateBlocked, "nothing"},
		"it went on before":             {over, bob, work.StateBlocked, "nothing"},
		"it is not stopped":             {lasts, bob, work.StateRunning, "nothing"},
		"paused, and never was blocked": {work.Stop{}, bob, work.StateAwaitingFeedback, "nothing"},
	} {
		v := scene(state(c.state), func(v *known.Snapshot) { v.Items[0].Stop, v.Items[0].Pause = c.stop, c.pause })
		got := "nothing"
		for _, b := range Of[change.Takeover](For(v)) {
			if got = "nobody"; b.Pause != (work.Pause{}) {
				got = b.Pause.By
			}
			if !reflect.DeepEqual(b.Stop, c.stop) {
				t.Errorf("%s: the comment of %+v", name, b.Stop)
			}
		}
		if got != c.want {
			t.Errorf("%s: it is to say that %s has it, not %s", name, got, c.want)
		}
	}
}

package turn

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Somebody else's pull request is only reviewed, in a sandbox that hides the machine, without a
// home folder of its own.
func TestSheltered(t *testing.T) {
	for _, sandbox := range work.Sandboxes() {
		for _, kind := range []work.Kind{work.KindReview, work.KindFix, work.KindImplementationFeedback} {
			for _, flow := range []work.Flow{work.FlowBugfix, work.FlowReview} {
				l := &env.Lease{Item: work.Item{Number: 7, Flow: flow}, Turn: work.Turn{Kind: kind}}
				err := requireSandbox(l, env.Hired{Name: "a", Sandbox: sandbox, Remedy: "get one"})
				may := flow != work.FlowReview || kind == work.KindReview && (sandbox == work.SandboxBwrap || sandbox == work.SandboxMac)
				if (err == nil) != may {
					t.Errorf("%s of %s in %s: %v", kind, flow, sandbox, err)
				}
				var blocked *work.BlockedError
				if flow == work.FlowReview && kind == work.KindReview && !may && (!errors.As(err, &blocked) || blocked.Reason.Kind != work.WhyReviewSandbox || blocked.Reason.Advice != "get one") {
					t.Errorf("%s: %v", sandbox, err)
				}
				if home := homeOf(l); (home == 0) != (flow == work.FlowReview) {
					t.Errorf("%s finds the home of %d", flow, home)
				}
			}
		}
	}
}

// The short prompt goes to the session that it was made for and to no other; a session that was lost
// is followed by one that gets the whole prompt, also before a repair.
func TestOnlyItsSessionGetsTheShortPrompt(t *testing.T) {
	for _, c := range []struct{ made, session, mend, want string }{
		{"s", "s", "", "news"},
		{"s", "", "", "whole"},
		{"s", "other", "", "whole"},
		{"", "", "", "whole"},
		{"", "s", "", "whole"},
		{"s", "s", "mend", "mend"},
		{"s", "", "mend", "whole\nmend"},
	} {
		talk := talk{asked: env.Request{Prompt: "whole", Resumed: env.Resumed{Session: c.made, Prompt: "news"}}, session: c.session, mend: c.mend}
		if got, err := talk.repairPrompt(nil); err != nil || got != c.want {
			t.Errorf("made for %q, in %q, repair %q: %q, %v", c.made, c.session, c.mend, got, err)
		}
	}
}

// What a session knows is certain if it answered the last turn that ran its agent in its role.
func TestWhatASessionKnows(t *testing.T) {
	turn := func(id int64, change func(*work.Turn)) work.Turn {
		u := work.Turn{
			ID: id, Key: strconv.FormatInt(id, 10), Kind: work.KindFix, Agent: "codex", Session: "s", Runs: 1,
			Request: []byte(`{"prompt":"p` + strconv.FormatInt(id, 10) + `"}`), Answer: []byte(`{"decision_summary":"d"}`),
		}
		change(&u)
		return u
	}
	same := func(*work.Turn) {}
	for name, c := range map[string]struct {
		turns []work.Turn
		want  string // the prompt
		keys  []string
	}{
		"none":                      {nil, "", nil},
		"the last":                  {[]work.Turn{turn(1, same), turn(2, same)}, "p2", []string{"1", "2"}},
		"another session before":    {[]work.Turn{turn(1, func(u *work.Turn) { u.Session = "lost" }), turn(2, same)}, "p2", []string{"2"}},
		"another session since":     {[]work.Turn{turn(1, same), turn(2, func(u *work.Turn) { u.Session = "lost" })}, "", nil},
		"a run without an answer":   {[]work.Turn{turn(1, same), turn(2, func(u *work.Turn) { u.Session, u.Answer = "", nil })}, "", nil},
		"a turn that never ran":     {[]work.Turn{turn(1, same), turn(2, func(u *work.Turn) { u.Runs, u.Session, u.Answer = 0, "", nil })}, "p1", []string{"1"}},
		"another agent":             {[]work.Turn{turn(1, same), turn(2, func(u *work.Turn) { u.Agent, u.Session = "claude", "c" })}, "p1", []string{"1"}},
		"a reviewer":                {[]work.Turn{turn(1, same), turn(2, func(u *work.Turn) { u.Kind, u.Reviewer, u.Session = work.KindReview, "quinn", "q" })}, "p1", []string{"1"}},
		"only the turn that begins": {[]work.Turn{turn(9, same)}, "", nil},
		"a prompt of several parts": {[]work.Turn{turn(1, func(u *work.Turn) { u.Request = []byte(`{}`) })}, "", nil},
		"a prompt that is gone":     {[]work.Turn{turn(1, func(u *work.Turn) { u.Request = nil })}, "", nil},
	} {
		told, ok := toldBefore(c.turns, turn(9, same), "s")
		if ok != (c.want != "") || ok && (told.Prompt != c.want || !slices.Equal(told.Turns, c.keys) || told.Decided != "d") {
			t.Errorf("%s: %+v, %v", name, told, ok)
		}
	}
}

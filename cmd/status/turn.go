package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Turn is one turn of an item.
type Turn struct {
	Key       string          `json:"key"`
	Kind      work.Kind       `json:"kind"`
	Reviewer  string          `json:"reviewer"` // who reviews, or whose findings it fixes
	Step      work.Step       `json:"step"`     // `claimed`, `answered`, `pushed`, `applied`, `done`; `superseded`, `failed`, `cancelled`
	Blocked   bool            `json:"blocked"`  // a person has to act before it resumes
	Reason    string          `json:"reason"`   // why it was made, or why it ended
	Agent     string          `json:"agent"`
	InsteadOf string          `json:"insteadOf"` // the agent whose provider is out
	Machine   string          `json:"machine"`
	Runs      int             `json:"runs"`
	Commit    string          `json:"commit"` // that it made
	Error     string          `json:"error"`
	WaitsFor  string          `json:"waitingFor"`
	Code      work.ReasonKind `json:"reasonCode"`
	StartedAt terminal.Time   `json:"startedAt"`
	EndedAt   terminal.Time   `json:"endedAt"` // null: it has not
	Usage
	Doing        string        `json:"doing"`        // empty: no pass works on it
	LastActivity terminal.Time `json:"lastActivity"` // when its agent last wrote something

	sandbox work.Sandbox // what surrounded the agent
	head    string       // the commit on which the agent worked
	since   time.Time    // when the pass that works on it now began
	machine string       // where it was worked on last, for people; empty: there is one machine only, or it is worked on here
	request []byte       // what its agent was asked; nil: nothing yet
	answer  []byte       // what it answered, JSON; nil: nothing yet
}

func turnOf(t work.Turn, at explain.Place, machines cli.Machines) Turn {
	return Turn{
		Key: t.Key, Kind: t.Kind, Reviewer: t.Reviewer, Step: t.Step, Blocked: t.Blocked, Reason: t.Reason, Agent: t.Agent, InsteadOf: t.InsteadOf,
		Machine: t.Machine, Runs: t.Runs, Commit: t.Commit, Error: t.LastError, WaitsFor: explain.Reason(t.WaitReason, at).Here(), Code: t.WaitReason.Kind,
		StartedAt: terminal.Stamp(t.ClaimedAt), EndedAt: terminal.Stamp(t.EndedAt), Usage: UsageOf(t.Used),
		sandbox: t.Sandbox, head: t.Head, request: t.Request, answer: t.Answer, machine: machines.Called(t.Machine),
	}
}

// by names an agent, and in whose place it works.
func by(agent, insteadOf string) string {
	if insteadOf == "" {
		return agent
	}
	return agent + " in place of " + insteadOf
}

// lastTurn is the name of an item's last turn.
const lastTurn = "last"

// turn finds a turn of the item by its key, or a prefix of it. Without one it returns the last turn
// that has the requested part, or else the last.
func (s Story) turn(key string, has func(Turn) bool) (Turn, error) {
	if len(s.Turns) == 0 {
		return Turn{}, fmt.Errorf("%s has had no turn yet", s.Item.ref())
	}
	if key == "" {
		for _, t := range slices.Backward(s.Turns) {
			if has(t) {
				return t, nil
			}
		}
	}
	if key == "" || key == lastTurn {
		return s.Turns[len(s.Turns)-1], nil
	}
	var found []Turn
	for _, t := range s.Turns {
		if strings.HasPrefix(t.Key, key) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Turn{}, fmt.Errorf("%s has no turn %q; it has %s", s.Item.ref(), key, strings.Join(terminal.Each(s.Turns, func(t Turn) string { return work.Short(t.Key) }), ", "))
	}
	return Turn{}, fmt.Errorf("%d turns of %s begin with %q; write more of the key", len(found), s.Item.ref(), key)
}

// asked reports whether the turn's agent was asked something.
func (t Turn) asked() bool { return t.request != nil }

// prompt returns the first prompt of the turn's agent, as a session that it continues got it; empty:
// none yet.
func (t Turn) prompt() string {
	var req env.Request
	if json.Unmarshal(t.request, &req) != nil {
		return ""
	}
	return req.Sent()
}

// is returns the step, and whether the turn is blocked.
func (t Turn) is() string {
	if t.Blocked {
		return string(t.Step) + ", blocked"
	}
	return string(t.Step)
}

// trouble is the last error, or else what it waits for.
func (t Turn) trouble() string { return cmp.Or(t.Error, t.WaitsFor) }

func (t Turn) took() string {
	if t.EndedAt.IsZero() {
		return ""
	}
	return terminal.Took(t.EndedAt.Sub(t.StartedAt.Time))
}

// says sums up the turn in one line.
func (t Turn) says() string {
	what := fmt.Sprintf("turn %s: %s", work.Short(t.Key), t.Kind.Words())
	if t.Reviewer != "" {
		what += ", " + t.Reviewer
	}
	if t.Agent != "" {
		what += " by " + by(t.Agent, t.InsteadOf)
	}
	if t.machine != "" {
		what += " on machine " + t.machine
	}
	what += ": " + t.is()
	if t.Runs != 1 {
		what += ", " + work.Count(t.Runs, "run")
	}
	if d := t.took(); d != "" {
		what += ", " + d
	}
	return what + t.used()
}

// shownKey is how much of a turn's key people see, as with commits: more than they need to name it.
const shownKey = 16

// printTurn prints one turn: its purpose, result and cost.
func (s Story) printTurn(out terminal.Output, t Turn) error {
	key := t.Key
	if out.TTY {
		key = key[:min(len(key), shownKey)]
	}
	lines := [][2]string{
		{"item", s.Item.ref()},
		{"turn", key},
		{"kind", out.Words(string(t.Kind))},
		{"reviewer", t.Reviewer},
		{"step", t.is()},
		{"because of", t.Reason},
		{"agent", by(t.Agent, t.InsteadOf)},
		{"machine", t.machine},
		{"sandbox", string(t.sandbox)},
		{"claimed", out.When(t.StartedAt.Time, s.Item.now)},
		{"ended", out.When(t.EndedAt.Time, s.Item.now)},
		{"took", t.took()},
		{"runs", fmt.Sprint(t.Runs)},
		{"used", strings.TrimPrefix(t.used(), ", ")},
		{"from commit", t.head},
		{"commit", t.Commit},
		{"trouble", t.Error},
		{waitsLabel(out), t.WaitsFor},
	}
	if w := s.Item.Turn; w != nil && w.Key == t.Key {
		lines = append(lines, [2]string{"works", w.Says(s.Item.local)})
	}
	if err := printLabelled(out, lines); err != nil {
		return err
	}
	for _, e := range s.Events {
		if e.Turn == t.Key {
			if err := printBelow(out, "answers", moment{mark: "•", said: e.happened(), link: e.URL}); err != nil {
				return err
			}
		}
	}
	for _, x := range s.Actions {
		if x.Turn == t.Key {
			if err := printBelow(out, "sent", moment{mark: "→", what: x.says(), link: x.URL}); err != nil {
				return err
			}
		}
	}
	return nil
}

// printBelow prints what a turn answered, or what it sent.
func printBelow(out terminal.Output, name string, m moment) error {
	line := fmt.Sprintf("%s:\t%s\t%s\n", name, terminal.OneLine(m.said+m.what), m.link)
	if out.TTY {
		line = m.draw(out, m.mark+" ")
	}
	_, err := fmt.Fprint(out.W, line)
	return err
}

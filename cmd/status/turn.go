package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/live"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// LastTurn is the name of an item's last turn.
const LastTurn = "last"

// Address is the item's URL on GitHub: its pull request, or else its issue.
func (s Story) Address() string { return cmp.Or(s.Pull.URL, s.URL) }

// Turn finds a turn of the item by its key, or a prefix of it. Without one it returns the last turn
// that has the requested part, or else the last.
func (s Story) Turn(key string, has func(work.Turn) bool) (work.Turn, error) {
	if len(s.turns) == 0 {
		return work.Turn{}, fmt.Errorf("%s has had no turn yet", s.ref())
	}
	if key == "" {
		for _, t := range slices.Backward(s.turns) {
			if has(t) {
				return t, nil
			}
		}
	}
	if key == "" || key == LastTurn {
		return s.turns[len(s.turns)-1], nil
	}
	var found []work.Turn
	for _, t := range s.turns {
		if strings.HasPrefix(t.Key, key) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return work.Turn{}, fmt.Errorf("%s has no turn %q; it has %s", s.ref(), key, strings.Join(terminal.Each(s.turns, func(t work.Turn) string { return work.Short(t.Key) }), ", "))
	}
	return work.Turn{}, fmt.Errorf("%d turns of %s begin with %q; write more of the key", len(found), s.ref(), key)
}

// Prompt returns the first prompt of a turn's agent; empty: none yet.
func Prompt(t work.Turn) string {
	var req env.Request
	if json.Unmarshal(t.Request, &req) != nil {
		return ""
	}
	return req.Prompt
}

// shownKey is how much of a turn's key people see, as with commits: more than they need to name it.
const shownKey = 16

// PrintTurn prints one turn: its purpose, result and cost.
func (s Story) PrintTurn(out terminal.Output, t work.Turn) error {
	key := t.Key
	if out.TTY {
		key = key[:min(len(key), shownKey)]
	}
	lines := [][2]string{
		{"item", s.ref()},
		{"turn", key},
		{"kind", string(t.Kind)},
		{"reviewer", t.Reviewer},
		{"step", turnStep(t)},
		{"because of", t.Reason},
		{"agent", t.Agent},
		{"sandbox", string(t.Sandbox)},
		{"claimed", out.When(t.ClaimedAt, s.Now)},
		{"ended", out.When(t.EndedAt, s.Now)},
		{"took", took(t)},
		{"runs", fmt.Sprint(t.Runs)},
		{"used", strings.TrimPrefix(live.Used(t.Usage), ", ")},
		{"from commit", t.Head},
		{"commit", t.Commit},
		{"trouble", t.LastError},
		{waitsLabel(out), s.why(t.WaitReason)},
	}
	if w := s.Worked; w != nil && w.Turn == t.Key {
		lines = append(lines, [2]string{"works", w.Says(s.Local)})
	}
	var below []moment
	for _, e := range s.events {
		if e.TurnID == t.ID {
			below = append(below, moment{mark: "•", what: s.happened(e), link: e.URL})
		}
	}
	for _, x := range s.actions {
		if x.TurnID == t.ID {
			below = append(below, moment{mark: "→", what: sent(x), link: x.ResultURL})
		}
	}
	if err := printLabelled(out, lines); err != nil {
		return err
	}
	return printBelow(out, below)
}

// printBelow prints what a turn answered, and what it sent.
func printBelow(out terminal.Output, all []moment) error {
	names := map[string]string{"•": "answers", "→": "sent"}
	for _, m := range all {
		line := fmt.Sprintf("%s:\t%s\t%s\n", names[m.mark], terminal.OneLine(m.what), m.link)
		if out.TTY {
			line = m.draw(out, m.mark+" ")
		}
		if _, err := fmt.Fprint(out.W, line); err != nil {
			return err
		}
	}
	return nil
}

func took(t work.Turn) string {
	if t.EndedAt.IsZero() {
		return ""
	}
	return terminal.Took(t.EndedAt.Sub(t.ClaimedAt))
}

// printLabelled prints one line per fact; empty ones are skipped.
func printLabelled(out terminal.Output, lines [][2]string) error {
	for _, l := range lines {
		text := out.LocalTimes(terminal.OneLine(l[1]))
		if text == "" {
			continue
		}
		var err error
		if out.TTY {
			_, err = fmt.Fprint(out.W, out.Labelled("", fmt.Sprintf("%-20s", l[0]), text))
		} else {
			_, err = fmt.Fprintf(out.W, "%s:\t%s\n", l[0], text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

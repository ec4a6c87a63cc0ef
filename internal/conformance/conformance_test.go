package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// pupil is an agent that does what it is told, but for its faults.
type pupil struct {
	agent.Agent // its other methods are not called

	idle, forgets, noSession, noUsage, always, silent, talks bool

	err error
	ran int
}

func (p *pupil) Run(_ context.Context, r agent.Request) (agent.Result, error) {
	p.ran++
	if p.err != nil {
		return agent.Result{}, p.err
	}
	file := filepath.Join(r.Dir, fileName)
	title, blocked := "Read", any(nil)
	switch {
	case r.Session != "":
		title = map[bool]string{false: word, true: "I know no word"}[p.forgets]
	case r.Mode == work.ModeWrite && !p.idle:
		title = "Begin"
		if err := os.WriteFile(file, []byte(word+"\n"), 0o600); err != nil {
			return agent.Result{}, err
		}
	case r.Mode == work.ModeRead && p.always:
		if err := os.WriteFile(file, []byte(word+"\nmore\n"), 0o600); err != nil {
			return agent.Result{}, err
		}
	case r.Mode == work.ModeRead && !p.silent:
		blocked = "The file system is read-only."
	}
	answer, err := json.Marshal(map[string]any{"pr_title": title, "pr_summary": "Did it.", "commit_message": title, "followups": []any{}, "blocked_reason": blocked, "decision_summary": "None."})
	if p.talks {
		answer = []byte(`"Done!"`)
	}
	res := agent.Result{Answer: answer, ByTool: true, Session: "s1", Usage: work.Usage{InputTokens: 10, OutputTokens: 1, CostUSD: 0.5}, Known: work.Known{Tokens: !p.noUsage, Cost: true}}
	if p.noSession {
		res.Session = ""
	}
	return res, err
}

func TestEachStepFindsItsFault(t *testing.T) {
	for name, c := range map[string]struct {
		pupil pupil
		bare  bool // no tool is offered
		want  string
		runs  int
	}{
		"as needed":         {pupil{}, false, "begin 0, tool 0, continue 0, read 0", 3},
		"no tool":           {pupil{}, true, "begin 0, tool 0, continue 0, read 0", 3},
		"does nothing":      {pupil{idle: true}, false, "begin 2", 1},
		"answers in prose":  {pupil{talks: true}, false, "begin 2", 1},
		"no session":        {pupil{noSession: true}, false, "begin 1, tool 0, continue 1, read 0", 2},
		"no usage":          {pupil{noUsage: true}, false, "begin 1, tool 0, continue 0, read 0", 3},
		"forgets":           {pupil{forgets: true}, false, "begin 0, tool 0, continue 1, read 0", 3},
		"always writes":     {pupil{always: true}, false, "begin 0, tool 0, continue 0, read 2", 3},
		"says nothing":      {pupil{silent: true}, false, "begin 0, tool 0, continue 0, read 1", 3},
		"provider does not": {pupil{err: errors.New("401")}, false, "begin 2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var told, got []string
			trial := Trial{Agent: &c.pupil, Form: "Answer.", Tool: !c.bare, Dir: t.TempDir(), Mark: "M=1"}
			for _, o := range Play(t.Context(), &trial, func(step string) { told = append(told, step) }) {
				got = append(got, fmt.Sprintf("%s %d", o.Step, o.Level))
				if o.Says == "" {
					t.Errorf("%s says nothing", o.Step)
				}
			}
			if strings.Join(got, ", ") != c.want || c.pupil.ran != c.runs || len(told) != len(got) {
				t.Errorf("got %q after %d runs, told %q; want %q after %d", got, c.pupil.ran, told, c.want, c.runs)
			}
			if want := int64(10 * c.runs); c.pupil.err == nil && trial.Used.InputTokens != want {
				t.Errorf("used %+v, want %d tokens", trial.Used, want)
			}
		})
	}
}

func TestThatNoToolWasUsedIsSaid(t *testing.T) {
	found, err := tool(t.Context(), &Trial{Tool: true})
	if err != nil || found.Level != Lacks || !strings.Contains(found.Says, "did not use the tool") {
		t.Errorf("%+v, %v", found, err)
	}
	if names := Steps(); !slices.ContainsFunc(names, func(s [2]string) bool { return s[0] == "continue" }) {
		t.Error(names)
	}
}

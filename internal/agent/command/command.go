// Package command is the adapter of any program that speaks a small protocol of JSON.
package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// maxOutput is the size of output, in bytes, at which an agent is stopped.
const maxOutput = 8 << 20

// Adapter starts any program: one JSON document on its standard input, one on its
// standard output, log lines on its standard error.
var Adapter = agent.Adapter{Name: "command", New: open}

type command struct {
	agent.Tester
	spec agent.Spec
}

// open makes an agent of a program; Spec.Command is required.
func open(s agent.Spec) (agent.Agent, error) {
	if len(s.Command) == 0 {
		return nil, fmt.Errorf("agent %q: its command is empty", s.Name)
	}
	return &command{Tester: s.Tester(), spec: s}, nil
}

// Document is the input of the program.
type Document struct {
	Version int             `json:"version"` // 1
	Turn    string          `json:"turn"`    // the turn's key
	Kind    work.Kind       `json:"kind"`    // `design_start`, `bugfix_start`, `small_job_start`, `roadmap_start`, `implementation_start`, `design_feedback`, `implementation_feedback`, `fix` (checks, conflicts, review findings) or `review`
	Mode    work.Mode       `json:"mode"`    // `write`: changed files become the commit; `read`: changes are ignored
	Prompt  string          `json:"prompt"`  // what the agent is to do; in a continued session without what was said in it
	Context json.RawMessage `json:"context"` // the prompt's facts as data; `surroundings` has network, limits, tests and what the set-up did, `partial` names the commit with an earlier attempt's unfinished work, `review.part` and `parts` number the runs of a review of a large change
	Schema  json.RawMessage `json:"schema"`  // JSON Schema of the answer: every key must be present, null or [] is nothing
	Session *string         `json:"session"` // null at first, then that of the program's last answer
}

func (c *command) Run(ctx context.Context, r agent.Request) (agent.Result, error) {
	input, err := c.document(r)
	if err != nil {
		return agent.Result{}, err
	}
	res, err := c.spec.Launch(ctx, r, agent.Launch{Argv: c.spec.Command, Stdin: input, MaxOutput: maxOutput})
	if err != nil {
		return c.spent(res), err
	}
	return c.judge(res)
}

// spent returns the usage that a failed program reported.
func (c *command) spent(res proc.Result) agent.Result {
	out, _ := decodeOutput(res.Stdout, c.spec.Redact)
	return c.charged(agent.Result{Usage: out.Usage, Known: out.Known})
}

// charged applies the config's prices to a program's usage.
func (c *command) charged(r agent.Result) agent.Result {
	r.Usage, r.Known = c.spec.Charge(spending.Tokens{Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens}, r.Usage.CostUSD, r.Known)
	return r
}

func (c *command) document(r agent.Request) ([]byte, error) {
	d := Document{
		Version: 1, Turn: r.Turn, Kind: r.Kind, Mode: r.Mode,
		Prompt: r.Prompt, Context: r.Context, Schema: r.Schema,
	}
	if r.Session != "" {
		d.Session = &r.Session
	}
	b, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the request for agent %q: %w", c.spec.Name, err)
	}
	return append(b, '\n'), nil
}

// judge turns the end of the program into a result.
func (c *command) judge(res proc.Result) (agent.Result, error) {
	switch {
	case res.Truncated:
		return agent.Result{}, &agent.AnswerError{Agent: c.spec.Name, Violations: []string{fmt.Sprintf("the standard output has more than %d bytes; it must be the answer document alone", maxOutput)}}
	case res.Code != 0:
		return c.spent(res), &agent.FailedError{Agent: c.spec.Name, Code: res.Code, Stderr: c.spec.Redact(string(res.Stderr))}
	}
	out, violations := decodeOutput(res.Stdout, c.spec.Redact)
	out = c.charged(out)
	if len(violations) > 0 {
		for i, v := range violations {
			violations[i] = c.spec.Redact(v)
		}
		return out, &agent.AnswerError{Agent: c.spec.Name, Violations: violations}
	}
	return out, nil
}

// Check is part of Agent. An unknown program cannot be tried: it must exist, and a shell must be
// able to work in its place.
func (c *command) Check(ctx context.Context, r agent.Request) error {
	if _, err := c.spec.ProgramPath(c.spec.Command[0]); err != nil {
		return err
	}
	if c.spec.Wrap == nil {
		return nil
	}
	return c.spec.Checked(c.spec.CheckInside(ctx, r, nil, agent.Writes(r)))
}

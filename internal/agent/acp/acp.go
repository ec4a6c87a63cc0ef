// Package acp is the adapter of programs that speak the Agent Client Protocol, version 1: JSON-RPC
// over standard input and output, a message a line.
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Adapter returns the adapter of a command line. What is known of a program, such as the folders
// with its login, is of the preset that the command line names.
func Adapter(command []string) agent.Adapter {
	p, _ := Find(command)
	return agent.Adapter{
		Name: "acp", New: func(s agent.Spec) (agent.Agent, error) { return open(s, p) },
		Install: p.Install(), Env: p.env, Variable: p.variable, InHome: p.inHome, Settings: p.settings,
		NoCost: !p.cost, Login: p.loginOf, Step: step,
		Tool: func(r agent.Request) bool { return p.noServer == nil || !p.noServer(r) },
	}
}

type client struct {
	agent.Tester
	spec    agent.Spec
	program Program
}

// open makes an agent of a program; Spec.Command is required.
func open(s agent.Spec, p Program) (agent.Agent, error) {
	if len(s.Command) == 0 {
		return nil, fmt.Errorf("agent %q: its command is empty", s.Name)
	}
	return &client{Tester: s.Tester(), spec: s, program: p}, nil
}

// Check is part of Agent. The program must exist, and a shell must be able to work in its place. The
// handshake that precedes every prompt costs no tokens either, so it is not tried twice.
func (c *client) Check(ctx context.Context, r agent.Request) error {
	if _, err := c.spec.ProgramPath(c.spec.Command[0]); err != nil {
		return err
	}
	if c.spec.Wrap == nil {
		return nil
	}
	return c.spec.Checked(c.spec.CheckInside(ctx, r, nil, agent.Writes(r)))
}

func (c *client) Run(ctx context.Context, r agent.Request) (agent.Result, error) {
	if r.Session != "" && !isSession(r.Session) {
		return agent.Result{}, c.lost("its name is not one line of at most 500 bytes")
	}
	t := newTalk(c, r)
	t.start()
	res, err := c.spec.Launch(ctx, r, agent.Launch{Argv: c.argv(r), Env: c.program.env, Dialog: t, MaxOutput: agent.MaxStream, Meter: t})
	t.close() // so that nothing waits for more messages
	out := t.result()
	out.Answer, err = c.judge(t, res, err)
	return out, err
}

// argv returns the command line.
func (c *client) argv(r agent.Request) []string {
	argv := slices.Clone(c.spec.Command)
	if server, ok := c.spec.Server(r); ok && c.program.option != "" {
		argv = append(argv, c.program.option, server.JSON())
	}
	return argv
}

// judge turns the end of a run into its answer. A complete answer counts even if the run was
// stopped at a limit; ended is why it was stopped.
func (c *client) judge(t *talk, res proc.Result, ended error) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.answered:
		answer, violations := c.spec.AnswerOf(unfenced(t.words.text.String()))
		if len(violations) > 0 {
			return nil, cmp.Or[error](ended, &agent.AnswerError{Agent: c.spec.Name, Violations: violations})
		}
		return answer, nil
	case t.failure != nil:
		return nil, t.failure
	case ended != nil:
		return nil, ended
	case t.request.Session != "" && !t.prompting:
		// If the session is not the reason, a new one will show that.
		return nil, c.lost("the program ended while it was loaded: " + agent.LastLine(c.spec.Redact(string(res.Stderr))))
	}
	return nil, c.spec.Failed(res.Code, "", res.Stderr)
}

// lost reports a session that cannot be continued.
func (c *client) lost(why string) error {
	return &agent.SessionError{Agent: c.spec.Name, Reason: why}
}

// unfenced takes the Markdown fence off a message that is nothing else: no schema stops a model from
// writing one.
func unfenced(words string) string {
	inner, fenced := strings.CutPrefix(strings.TrimSpace(words), "```")
	if !fenced {
		return words
	}
	info, body, _ := strings.Cut(inner, "\n")
	body, ended := strings.CutSuffix(body, "```")
	if info = strings.TrimSpace(info); !ended || info != "" && info != "json" {
		return words
	}
	return body
}

// The codes of errors in responses.
const (
	codeLogin         = -32000 // the program is not logged in
	codeUnknownMethod = -32601
)

// failure is an error in a response.
type failure struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// readFailure reads an error; nil: there is none.
func readFailure(raw json.RawMessage) *failure {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var f failure
	if json.Unmarshal(raw, &f) != nil {
		f = failure{Message: string(raw)}
	}
	return &f
}

// data are the fields of an error's data that programs use.
type data struct {
	Kind    string `json:"errorKind"` // claude-agent-acp
	Details string `json:"details"`
	Message string `json:"message"`
}

// read returns the fields, and the text with the most detail.
func (f *failure) read() (data, string) {
	var d data
	var text string
	if json.Unmarshal(f.Data, &d) != nil {
		_ = json.Unmarshal(f.Data, &text) // other data has no text
	}
	detail := cmp.Or(d.Details, d.Message, text)
	if detail == "" || strings.Contains(f.Message, detail) {
		return d, f.Message
	}
	return d, f.Message + ": " + detail
}

// failed translates an error in a response. Programs put HTTP statuses into the code, or name the
// kind; anything else is a failure in the program's own words.
func (t *talk) failed(method string, f *failure) error {
	s := t.client.spec
	d, words := f.read()
	switch {
	case f.Code == codeLogin, d.Kind == "authentication_failed", f.Code == 401, f.Code == 403:
		return s.LoggedOut(words, t.howToLogIn())
	case f.Code == codeUnknownMethod:
		return s.Unable(fmt.Sprintf("it does not know %s, so it does not speak version %d of the Agent Client Protocol: %s", method, protocolVersion, s.Cite(words)))
	case f.Code == 402, d.Kind == "billing_error":
		return s.OutOfCredit(words)
	case d.Kind == "model_not_found":
		return s.WrongModel(words)
	case f.Code == 429, d.Kind == "rate_limit":
		return s.Wait(agent.TooMany, s.After(0), agent.PauseBusy)
	case f.Code >= 500 && f.Code < 600, d.Kind == "server_error", d.Kind == "overloaded":
		return s.Wait("its provider does not answer", s.After(0), agent.PauseBusy)
	}
	return s.Failed(0, words, nil)
}

// howToLogIn names the command by which a person logs in: the preset's, or what the program says.
func (t *talk) howToLogIn() string {
	if t.client.program.Login != "" {
		return t.client.program.Login
	}
	var all []string
	for _, m := range t.logins {
		if how := strings.TrimSpace(cmp.Or(m.Description, m.Name)); how != "" {
			all = append(all, t.client.spec.Cite(how))
		}
	}
	if len(all) == 0 {
		return "log in with its own program"
	}
	return strings.Join(all, "; or: ")
}

// stopped translates the reason with which a prompt ended other than by an answer.
func (t *talk) stopped(reason string) error {
	s, words := t.client.spec, t.words.text.String()
	switch reason {
	case "refusal":
		return s.Refused(t.request, words)
	case "max_tokens":
		return s.Full(t.request, "the model reached its limit of tokens (max_tokens)")
	case "max_turn_requests":
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentLimit, Who: s.Name, Local: "the program reached its limit of requests in a turn (max_turn_requests)"}}
	case "cancelled":
		return s.Failed(0, "it cancelled the turn, which nobody had asked for", nil)
	}
	return s.Failed(0, fmt.Sprintf("it ended the turn with the unknown reason %q", agent.Clip(reason, 60)), nil)
}

// errTooLong and errUnread are broken limits of the protocol.
var (
	errTooLong = errors.New("sent a message of more than " + work.SizeText(maxMessage))
	errUnread  = errors.New("asked much, and did not read the answers")
)

// broke reports a broken limit of the protocol.
func (t *talk) broke(limit error) error {
	return &agent.LimitError{Agent: t.client.spec.Name, Did: limit.Error(), Hint: "ask for less in a comment; if it happens again, the program is broken: update it"}
}

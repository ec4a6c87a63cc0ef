package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The answer by a tool. A program that takes MCP servers starts one of ours as its child, in its
// own sandbox: the tool refuses an invalid answer while the model can still correct it, where a
// repair would be another paid run. The server holds no credential and leaves the last valid answer
// in a folder of this run. The agent can write there too, so an answer from there is worth as much
// as a last message: it is read once the run has ended, within a bound, and checked like any other.

// The names of the server and of its tool.
const (
	ServerName = "mergexo"
	ToolName   = "answer"
)

// Server is an MCP server that an agent's program starts, which speaks over standard input and
// output.
type Server struct {
	Name    string
	Command string   // absolute path
	Args    []string // its arguments
	Env     []string // NAME=value: the marks of the run, among others
}

// JSON is a settings file with the server alone, as claude and copilot take it on their command
// lines.
func (s Server) JSON() string {
	type server struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	one := server{Command: s.Command, Args: s.Args, Env: map[string]string{}}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		one.Env[name] = value
	}
	b, err := json.Marshal(map[string]map[string]server{"mcpServers": {s.Name: one}})
	if err != nil {
		panic(err) // strings are always JSON
	}
	return string(b)
}

// Server returns the server with the tool for the answer. ok is false if the program is offered
// none.
func (s Spec) Server(r Request) (server Server, ok bool) {
	if !s.offersTool(r) {
		return Server{}, false
	}
	return Server{Name: ServerName, Command: s.Tool[0], Args: append(s.Tool[1:len(s.Tool):len(s.Tool)], AnswerFolder(r.Dir)), Env: s.Ours(r)}, true
}

func (s Spec) offersTool(r Request) bool {
	return len(s.Tool) > 0 && s.Adapter.Tool != nil && s.Adapter.Tool(r)
}

// AnswerFolder returns the folder in which the tool leaves the answer of a run in a checkout: beside
// the checkout, because what is in there may be committed.
func AnswerFolder(checkout string) string { return checkout + ".answer" }

// FinalSchema returns the schema of the final message: the answer's own, or, beside the tool, one
// that also takes null. So a provider that enforces a schema has the answer from a program that
// could not start the server, and does not ask twice for one that the tool has.
func (s Spec) FinalSchema(r Request) json.RawMessage {
	if !s.offersTool(r) {
		return r.Schema
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{"answer":{"description":"Null once the tool %s has accepted your answer; else the whole answer.",`+
		`"anyOf":[%s,{"type":"null"}]}},"required":["answer"],"additionalProperties":false}`, ToolName, r.Schema)
}

// finalAnswer takes an answer out of the object of FinalSchema; nil: it says that the tool has it.
func finalAnswer(raw json.RawMessage) json.RawMessage {
	var final map[string]json.RawMessage
	if json.Unmarshal(raw, &final) != nil || len(final) != 1 || final["answer"] == nil {
		return raw
	}
	if string(final["answer"]) == "null" {
		return nil
	}
	return final["answer"]
}

// withTool offers the tool to every run of an agent.
type withTool struct {
	Agent
	spec Spec
}

// Run is part of Agent. The tool's last answer comes before the final message. It also counts if
// the program failed or lost its provider after it: only the model's farewell is missing.
func (w withTool) Run(ctx context.Context, r Request) (Result, error) {
	if !w.spec.offersTool(r) {
		return w.Agent.Run(ctx, r)
	}
	dir := AnswerFolder(r.Dir)
	if err := w.spec.makeAnswerFolder(dir, r); err != nil {
		return Result{}, fmt.Errorf("make the folder for the answer of agent %q: %w", w.spec.Name, err)
	}
	defer func() { _ = files.Remove(dir) }() // what stays is removed before the next run
	res, err := w.Agent.Run(ctx, r)
	if err == nil || endedAfterAnswer(err) {
		if given := readAnswer(dir); given != nil {
			res.Answer, res.ByTool = given, true
			return res, nil
		}
	}
	if err != nil {
		return res, err
	}
	if res.Answer = finalAnswer(res.Answer); res.Answer == nil {
		return res, &AnswerError{Agent: w.spec.Name, Violations: []string{"the final message says that the tool " + ToolName + " has the answer, but it accepted none"}}
	}
	return res, nil
}

// endedAfterAnswer reports whether a run that ended like this may have been done. A run that a
// limit or a person stopped was still at work.
func endedAfterAnswer(err error) bool {
	var answer *AnswerError
	var failed *FailedError
	var wait *work.WaitError
	return errors.As(err, &answer) || errors.As(err, &failed) || errors.As(err, &wait)
}

// Files in the folder for the answer.
const (
	taskFile   = "task.json"
	answerFile = "answer.json"
)

// maxAnswer is how much of an answer is read, in bytes; package prompts refuses a smaller one
// already.
const maxAnswer = 2 << 20

// Task is what the tool must know to check an answer.
type Task struct {
	Kind    work.Kind       `json:"kind"`
	Context json.RawMessage `json:"context"` // of the request
}

// makeAnswerFolder makes a new folder, so that no answer of an earlier run is taken for this one's.
func (s Spec) makeAnswerFolder(dir string, r Request) error {
	if err := files.Remove(dir); err != nil {
		return err
	}
	task, err := json.Marshal(Task{Kind: r.Kind, Context: r.Context})
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, taskFile), task, 0o600)
}

// ReadTask is for the tool: it reads what an answer is checked against.
func ReadTask(dir string) (Task, error) {
	var t Task
	raw, err := os.ReadFile(filepath.Join(dir, taskFile))
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return t, fmt.Errorf("read the task: %w", err)
	}
	return t, nil
}

// LeaveAnswer is for the tool: it replaces the answer as a whole, because the program may be killed
// at any time.
func LeaveAnswer(dir string, answer []byte) error {
	path := filepath.Join(dir, answerFile)
	if err := os.WriteFile(path+".new", answer, 0o600); err != nil {
		return fmt.Errorf("leave the answer: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("leave the answer: %w", err)
	}
	return nil
}

// readAnswer reads what the tool left; nil: nothing that could be an answer.
func readAnswer(dir string) json.RawMessage {
	f, _, err := files.OpenRegular(filepath.Join(dir, answerFile))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxAnswer+1))
	if err != nil || len(raw) > maxAnswer || !json.Valid(raw) {
		return nil
	}
	return raw
}

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Agent runs one agent.
type Agent interface {
	// Run runs the agent to its end. On an error, too, the result holds the session and the usage
	// as far as they are known. Errors are *work.BlockedError (a person must act), *work.WaitError
	// (a limit, or the provider is down), *SessionError (a new session with the whole story may
	// work), *AnswerError (one repair run may help), *FailedError, *TimeoutError, *LimitError, or
	// ctx's.
	Run(ctx context.Context, r Request) (Result, error)
	// Check tests, without a model and in less than a second, whether the agent can work in the
	// checkout: whether a command like its own runs there, reads, and writes as far as r.Mode
	// allows. If not, the error is a *work.BlockedError; other errors are those of Run.
	Check(ctx context.Context, r Request) error
	// CanTest looks for the command's program where Test would run it. If it is certainly missing
	// or not visible there, the error is a *work.BlockedError.
	CanTest(ctx context.Context, r Request, argv []string) error
	// Test runs a command of the config, the required tests or the set-up, in the checkout as the
	// agent's own commands run: same environment, marks and sandbox. Errors are those of Run.
	Test(ctx context.Context, r Request, argv []string) (Tested, error)
}

// Request is one invocation.
type Request struct {
	Turn    string // turn key
	Mark    string // "NAME=value" in the environment of every process of this run and of no other; empty means MERGEXO_TURN
	Item    int    // number of the work item: in a sandbox, its turns share a home folder
	Role    string // the reviewer that the agent plays, with a home folder of their own; empty: the author
	Kind    work.Kind
	Mode    work.Mode
	Prompt  string
	Context json.RawMessage
	Schema  json.RawMessage
	Session string     // the provider's thread to resume; empty for a new one
	Counted work.Usage // usage of that thread before this run, from an earlier Result.Counted
	Dir     string     // the checkout, absolute
	Images  []Image    // that belong to the prompt

	Wall time.Duration // 0: no limit
	Idle time.Duration // longest time without activity; 0: no limit
	Log  io.Writer     // gets the agent's standard error, redacted; may be nil

	Offline bool // Test only: no network; an error without a sandbox that can take it away

	Active func() // called at signs of activity; may be nil

	// Used is called repeatedly with the run's usage so far, if the program reports it while it
	// runs. An error ends the run and is returned by Run. May be nil.
	Used func(Used) error
}

// Image belongs to a prompt. It lies in the checkout, where an agent may have changed it.
type Image struct {
	Path    string // in the checkout
	Content []byte
}

// Result is an agent's answer: one JSON value, not yet validated.
type Result struct {
	Answer  json.RawMessage
	ByTool  bool // the answer came by the tool, which has checked it
	Session string
	Model   string     // that answered, as the program names it, else the configured one; empty: unknown
	Usage   work.Usage // of this run, even if it failed
	Known   work.Known // which parts of Usage are complete
	Counted work.Usage // of the whole thread so far, if the provider counts per thread; else zero
}

// Spec is the setup of an agent.
type Spec struct {
	Name     string           // required; in the config, for messages and file names
	Adapter  Adapter          // required
	Command  []string         // program and arguments; empty: the program named like the adapter
	Model    string           // empty: the program's own default
	Effort   string           // reasoning effort, in the program's own terms; empty: its default
	Writable []string         // folders outside the checkout that it may write to without Wrap
	Args     []string         // further arguments of codex and claude, after ours
	Prices   *spending.Prices // prices of its tokens; nil: the program's reported cost, or Anthropic's list
	Environ  []string         // required; exactly its environment, without what the adapter adds
	Tool     []string         // the command that serves the tool for the answer, without the folder; nil: none is offered
	Plain    []string         // required by Test: Environ without provider keys and passed-on variables
	Home     string           // required; a folder of ours outside every checkout, for its git configuration
	Now      func() time.Time // required by codex, claude and acp

	MaxMemory    int64 // bytes of memory for the agent, or tests, and all processes they start; 0: no limit
	MaxProcesses int   // how many processes they may be together; 0: no limit
	MaxDisk      int64 // bytes that a run may add to its checkout and the Rooms; 0: no limit

	// Rooms are the folders that Wrap mounts over the temporary folders and the home. Nil: none.
	Rooms Rooms

	// Wrap returns a command line that ends with argv and runs it inside a sandbox, and the folders
	// beside the checkout that can be written there. It must pass signals and the environment on and
	// keep Home readable and, for an agent, the folders of Homes writable. A program missing inside
	// is a *work.BlockedError. Nil: no sandbox.
	Wrap func(argv []string, j work.Job) (line, writable []string, err error)

	Redact func(string) string // removes secrets from logs and quotations; nil leaves text unchanged
}

// Rooms are a run's private folders outside its checkout.
type Rooms interface {
	Folders(j work.Job) []string // the folders that it may write to
	Leave(j work.Job)            // removes what only this run needed, after it ended
}

// Lookup returns a variable's value; if it is set twice, the last one counts.
func Lookup(environ []string, name string) (value string) {
	for _, v := range environ {
		if n, val, ok := strings.Cut(v, "="); ok && n == name {
			value = val
		}
	}
	return value
}

// CommandLine returns the agent's program and its first arguments.
func (s Spec) CommandLine() []string {
	if len(s.Command) > 0 {
		return s.Command
	}
	return []string{s.Adapter.Name} // each adapter is named like its program
}

// Program returns the path of an agent's program.
func Program(s Spec) (string, error) { return s.ProgramPath(s.CommandLine()[0]) }

// MissingError means that an agent's program cannot be found.
type MissingError struct{ Says, Do string }

func (e *MissingError) Error() string { return e.Says + ": " + e.Do }

// Find reports whether an agent's program can be found. Its error is a *MissingError.
func Find(s Spec) error {
	if missing := Missing(s); missing != nil {
		return missing
	}
	return nil
}

// Missing is Find with the error's type.
func Missing(s Spec) *MissingError {
	program := s.CommandLine()[0]
	if _, err := s.ProgramPath(program); err == nil {
		return nil
	}
	return &MissingError{fmt.Sprintf("agent %q: its program %q was not found", s.Name, program), s.remedy()}
}

// remedy says how to fix a missing program.
func (s Spec) remedy() string {
	how := "install it"
	if command := s.Adapter.Install; command != "" {
		how = "run `" + command + "`"
	}
	return fmt.Sprintf("%s, or correct command of [agents.%s]; cron has a short PATH, an absolute path is safer", how, s.Name)
}

// FailedError means that the agent failed.
type FailedError struct {
	Agent  string
	Code   int    // exit code
	Stderr string // the end of its standard error, redacted
	Drift  string // a note about its program's version; empty: none
}

func (e *FailedError) Error() string {
	s := fmt.Sprintf("agent %q %s", e.Agent, e.Did())
	if last := LastLine(e.Stderr); last != "" {
		s += ": " + last
	}
	if e.Drift != "" {
		s += "; " + e.Drift
	}
	return s
}

// Did describes how the agent's run ended, without its output.
func (e *FailedError) Did() string {
	if e.Code == 0 {
		return "ended without an answer"
	}
	return fmt.Sprintf("ended with exit code %d", e.Code)
}

// TimeoutError means that the agent was stopped at a time limit. Its changes in the checkout are
// worth keeping.
type TimeoutError struct {
	Agent string
	Limit proc.Limit // wall or idle
	After time.Duration
}

func (e *TimeoutError) Error() string {
	if e.Limit == proc.IdleLimit {
		return fmt.Sprintf("agent %q was stopped: no activity for %s", e.Agent, e.After)
	}
	return fmt.Sprintf("agent %q was stopped: not done after %s", e.Agent, e.After)
}

// AnswerError means that the agent succeeded but its answer is unusable: a repair turn quotes the
// violations.
type AnswerError struct {
	Agent      string
	Violations []string
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("agent %q gave no usable answer: %s", e.Agent, strings.Join(e.Violations, "; "))
}

// SessionError means that the thread cannot be resumed, but a new one with the whole story may
// work. It is never returned for a new thread.
type SessionError struct {
	Agent  string
	Reason string
}

func (e *SessionError) Error() string {
	return fmt.Sprintf("agent %q cannot continue its session: %s", e.Agent, e.Reason)
}

// LastLine returns the last line of a text, cut to 300 characters.
func LastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return Clip(strings.TrimSpace(lines[len(lines)-1]), 300)
}

// Clip cuts text to n characters.
func Clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

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
	// Run runs the agent to its end. With an error, too, the result holds the
	// session and what was used, as far as they are known. Errors are *work.BlockedError (a person
	// must act), *work.WaitError (a limit, a provider that is down),
	// *SessionError (worth a new session with the whole story), *AnswerError
	// (worth one repair), *FailedError, *TimeoutError,
	// *LimitError, or ctx's.
	Run(ctx context.Context, r Request) (Result, error)
	// Check finds out, without a model and in less than a second, whether the agent
	// can work in the checkout at all: whether a command of its kind runs where its
	// own would, reads, and writes as far as r.Mode lets it. What it cannot do is a
	// *work.BlockedError; other errors are as those of Run.
	Check(ctx context.Context, r Request) error
	// CanTest looks for the program of such a command where Test would run it. One
	// that is certainly not there, or cannot be seen there, is a *work.BlockedError.
	CanTest(ctx context.Context, r Request, argv []string) error
	// Test runs a command in the checkout just as the agent's own would run: with
	// its environment, its marks, its sandbox. Errors are as those of Run.
	Test(ctx context.Context, r Request, argv []string) (Tested, error)
}

// Request is one invocation.
type Request struct {
	Turn    string // turn key
	Mark    string // "NAME=value" that every process of this run carries, and of no other; empty means MERGEXO_TURN
	Item    int    // number of the work item: in a sandbox its turns share a home folder
	Role    string // the reviewer whose part the agent plays, with a home folder of their own; empty: the author
	Kind    work.Kind
	Mode    work.Mode
	Prompt  string
	Context json.RawMessage
	Schema  json.RawMessage
	Session string     // the provider's thread to resume; empty for a new one
	Counted work.Usage // what was counted of that thread before, as Result.Counted told
	Dir     string     // the checkout, absolute

	Wall  time.Duration // 0: no limit
	Idle  time.Duration // without a sign of life; 0: no limit
	Trace []string      // of the environment: where a program that makes spans hangs them
	Log   io.Writer     // gets the agent's standard error, redacted; may be nil

	Active func() // is told of signs of life; may be nil

	// Used is told again and again what the run has used so far, where the program
	// tells while it runs. An error ends the run as a limit does, and is Run's. It
	// may be nil.
	Used func(Used) error
}

// Result is what an agent said. The answer is one JSON value, not yet checked
// against anything.
type Result struct {
	Answer  json.RawMessage
	Session string
	Usage   work.Usage // of this run, however it ended
	Counted work.Usage // of the whole thread so far, where the provider counts so; else zero
}

// Identity is who the agent's own commits are by. They are never published:
// only its tree counts.
type Identity struct{ Name, Email string }

// Spec is how an agent is set up.
type Spec struct {
	Name     string           // required; in the config, for messages and file names
	Adapter  Adapter          // required
	Command  []string         // program and arguments; empty: the program that is named like the adapter
	Model    string           // empty: the program's own default
	Effort   string           // how hard the model thinks, in the program's own words; empty: its default
	Writable []string         // folders beside the checkout that codex's own sandbox lets its commands write to
	Args     []string         // further arguments of codex and claude, after ours
	Prices   *spending.Prices // what its tokens cost; nil: what the program says, or Anthropic's list
	Environ  []string         // required; exactly what it sees, beside what the adapter adds
	Plain    []string         // required by Test: of that, what holds no key of the provider and nothing that was passed on
	Home     string           // required; a folder of ours outside every checkout, for its git configuration
	Identity Identity         // empty fields get defaults
	Now      func() time.Time // required by codex and claude

	MaxMemory int64 // bytes that a run of the agent, or of tests, holds with all that it starts; 0: no limit
	MaxDisk   int64 // bytes that a run adds to its checkout, with what Rooms hold; 0: no limit

	// Rooms are what Wrap puts in place of the temporary folders and the home. Nil:
	// there are none.
	Rooms Rooms

	// Wrap makes the command line that runs another one inside a sandbox. It must
	// leave signals and the environment alone, Home readable, and for an agent the
	// folders of Homes writable. A program that is not there inside is a
	// *work.BlockedError. Nil means none.
	Wrap func(argv []string, j work.Job) ([]string, error)

	Redact func(string) string // takes secrets out of logs and quotations; nil leaves text as it is
}

// Rooms are a run's own folders beside its checkout.
type Rooms interface {
	Folders(j work.Job) []string // those that it may write to
	Leave(j work.Job)            // the run is over: what only it needed goes
}

// Lookup finds a variable's value; the last of a name counts.
func Lookup(environ []string, name string) (value string) {
	for _, v := range environ {
		if n, val, ok := strings.Cut(v, "="); ok && n == name {
			value = val
		}
	}
	return value
}

// CommandLine is the program of an agent and its first arguments.
func (s Spec) CommandLine() []string {
	if len(s.Command) > 0 {
		return s.Command
	}
	return []string{s.Adapter.Name} // each adapter is called like its program
}

// Program is the path of an agent's program.
func Program(s Spec) (string, error) { return s.ProgramPath(s.CommandLine()[0]) }

// Find finds an agent's program. Its error is one line that says what to do.
func Find(s Spec) error {
	program := s.CommandLine()[0]
	_, err := s.ProgramPath(program)
	if err == nil {
		return nil
	}
	return fmt.Errorf("agent %q: its program %q is not to be found: %s", s.Name, program, s.remedy())
}

// remedy says how to mend a program that is missing.
func (s Spec) remedy() string {
	how := "install it"
	if command := s.Adapter.Install; command != "" {
		how = "run `" + command + "`"
	}
	return fmt.Sprintf("%s, or correct command of [agents.%s]; under cron PATH is short, and an absolute path is safer", how, s.Name)
}

// FailedError says that the agent ended badly.
type FailedError struct {
	Agent  string
	Code   int    // exit code
	Stderr string // the end of its standard error, redacted
	Drift  string // what is to be known of its program's version; empty: nothing
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

// Did says how it ended, and nothing of what it printed.
func (e *FailedError) Did() string {
	if e.Code == 0 {
		return "ended without an answer"
	}
	return fmt.Sprintf("ended with exit code %d", e.Code)
}

// TimeoutError says that the agent was ended at a limit. What it left in the
// checkout is worth keeping.
type TimeoutError struct {
	Agent string
	Limit proc.Limit // wall or idle
	After time.Duration
}

func (e *TimeoutError) Error() string {
	if e.Limit == proc.IdleLimit {
		return fmt.Sprintf("agent %q was ended: no sign of life for %s", e.Agent, e.After)
	}
	return fmt.Sprintf("agent %q was ended: not done after %s", e.Agent, e.After)
}

// AnswerError says that the agent ended well but what it said cannot be used:
// a repair turn quotes the violations.
type AnswerError struct {
	Agent      string
	Violations []string
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("agent %q gave no usable answer: %s", e.Agent, strings.Join(e.Violations, "; "))
}

// SessionError says that the thread that was to be resumed is of no more
// use: a new one, told the whole story, is. It is never about a new thread.
type SessionError struct {
	Agent  string
	Reason string
}

func (e *SessionError) Error() string {
	return fmt.Sprintf("agent %q cannot continue its session: %s", e.Agent, e.Reason)
}

// LastLine is the last line of a text, not too long.
func LastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return Clip(strings.TrimSpace(lines[len(lines)-1]), 300)
}

// Clip bounds text to n characters.
func Clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

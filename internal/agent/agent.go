package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Agent runs one agent.
type Agent interface {
	// Run runs the agent to its end. Its errors are *work.BlockedError (a person
	// must mend the set-up), *FailedError, *TimeoutError, *AnswerError (worth
	// one repair), or ctx's.
	Run(ctx context.Context, r Request) (Result, error)
}

// Request is one invocation.
type Request struct {
	Turn    string // turn key
	Mark    string // "NAME=value" that every process of this run carries, and of no other; empty means MERGEXO_TURN
	Kind    work.Kind
	Mode    work.Mode
	Prompt  string
	Context json.RawMessage
	Schema  json.RawMessage
	Session string // the provider's thread to go on with; empty for a new one
	Dir     string // the checkout, absolute

	Wall time.Duration // 0: no limit
	Idle time.Duration // without output; 0: no limit
	Log  io.Writer     // gets the agent's standard error, redacted; may be nil
}

// Result is what an agent said. The answer is one JSON value, not yet checked
// against anything.
type Result struct {
	Answer  json.RawMessage
	Session string
	Usage   work.Usage
}

// Adapter names in the config.
const (
	AdapterCommand = "command"
	AdapterCodex   = "codex"
	AdapterClaude  = "claude"
)

// Identity is who the agent's own commits are by. They are never published:
// only its tree counts.
type Identity struct{ Name, Email string }

// Spec is how an agent is set up.
type Spec struct {
	Name     string           // required; in the config, for messages and file names
	Adapter  string           // required
	Command  []string         // required by the command adapter: program and arguments; others know their program
	Model    string           // empty: the program's own default
	Effort   string           // how hard the model thinks, in the program's own words; empty: its default
	Args     []string         // further arguments of codex and claude, after ours
	Environ  []string         // required; exactly what it sees, beside what the adapter adds
	Home     string           // required; a folder of ours outside every checkout, for its git configuration
	Identity Identity         // empty fields get defaults
	Fresh    bool             // never go on with a session
	Now      func() time.Time // required by codex and claude

	// Wrap makes the command line that runs another one inside a sandbox, in a
	// checkout. It must leave signals and the environment alone, Home readable,
	// and the folders of Homes writable. Nil means none.
	Wrap func(argv []string, dir string) []string

	Redact func(string) string // takes secrets out of logs and quotations; nil leaves text as it is
}

// Homes are the folders in which an adapter's program keeps its login and its
// sessions, as an environment says: they must stay writable in a sandbox. A
// claude that was told of no folder also has a file beside its own.
func Homes(adapter string, environ []string) []string {
	v, known := homeVariables[adapter]
	if !known {
		return nil
	}
	if dir := lookup(environ, v.name); dir != "" {
		return absolute(dir)
	}
	var all []string
	for _, name := range v.inHome {
		all = append(all, absolute(filepath.Join(lookup(environ, "HOME"), name))...)
	}
	return all
}

func absolute(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	return []string{filepath.Clean(path)}
}

// homeVariables name each program's home, and what there is below HOME
// otherwise.
var homeVariables = map[string]struct {
	name   string
	inHome []string
}{
	AdapterCodex:  {"CODEX_HOME", []string{".codex"}},
	AdapterClaude: {"CLAUDE_CONFIG_DIR", []string{".claude", ".claude.json"}},
}

// lookup finds a variable's value; the last of a name counts.
func lookup(environ []string, name string) (value string) {
	for _, v := range environ {
		if n, val, ok := strings.Cut(v, "="); ok && n == name {
			value = val
		}
	}
	return value
}

// New makes an agent.
func New(s Spec) (Agent, error) {
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
	switch s.Adapter {
	case AdapterCommand:
		if len(s.Command) == 0 {
			return nil, fmt.Errorf("agent %q: its command is empty", s.Name)
		}
		return &command{spec: s}, nil
	default:
		return nil, fmt.Errorf("agent %q: adapter %q is not supported yet; use adapter = %q", s.Name, s.Adapter, AdapterCommand)
	}
}

// FailedError says that the agent ended badly.
type FailedError struct {
	Agent  string
	Code   int    // exit code
	Stderr string // the end of its standard error, redacted
}

func (e *FailedError) Error() string {
	s := fmt.Sprintf("agent %q ended with exit code %d", e.Agent, e.Code)
	if last := lastLine(e.Stderr); last != "" {
		s += ": " + last
	}
	return s
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
		return fmt.Sprintf("agent %q was ended: no output for %s", e.Agent, e.After)
	}
	return fmt.Sprintf("agent %q was ended: not done after %s", e.Agent, e.After)
}

// AnswerError says that the agent ended well but what it said cannot be used:
// a repair turn quotes the violations. Session is what a repair goes on with,
// as far as it could be read.
type AnswerError struct {
	Agent      string
	Violations []string
	Session    string
	Usage      work.Usage
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("agent %q gave no usable answer: %s", e.Agent, strings.Join(e.Violations, "; "))
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return clip(strings.TrimSpace(lines[len(lines)-1]), 300)
}

// clip bounds text to n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

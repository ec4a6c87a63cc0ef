package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxOutput is the size in bytes at which an agent that writes on is ended.
const maxOutput = 8 << 20

// command is the adapter that starts any program (design §10): one JSON
// document on its standard input, one on its standard output, log lines on its
// standard error.
type command struct{ spec Spec }

// document is what the program reads.
type document struct {
	Version int             `json:"version"`
	Turn    string          `json:"turn"`
	Kind    work.Kind       `json:"kind"`
	Mode    work.Mode       `json:"mode"`
	Prompt  string          `json:"prompt"`
	Context json.RawMessage `json:"context"`
	Schema  json.RawMessage `json:"schema"`
	Session *string         `json:"session"`
}

func (c *command) Run(ctx context.Context, r Request) (Result, error) {
	path, err := c.program()
	if err != nil {
		return Result{}, err
	}
	if err := checkDir(r.Dir); err != nil {
		return Result{}, fmt.Errorf("run agent %q: %w", c.spec.Name, err)
	}
	input, err := c.document(r)
	if err != nil {
		return Result{}, err
	}
	env, err := c.environ(r)
	if err != nil {
		return Result{}, err
	}
	log := &redactor{to: r.Log, redact: c.spec.Redact}
	res, err := proc.Run(ctx, proc.Cmd{
		Path: path, Args: c.spec.Command[1:], Dir: r.Dir, Env: env,
		Stdin: input, Stderr: log,
		Wall: r.Wall, Idle: r.Idle, MaxOutput: maxOutput,
		Mark: r.mark(), DieWithParent: true,
	})
	log.flush()
	if err != nil {
		return Result{}, c.notRun(ctx, err)
	}
	return c.judge(r, res)
}

// program finds the program; one that is missing is for a person to mend.
func (c *command) program() (string, error) {
	name := c.spec.Command[0]
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		return "", &work.BlockedError{
			Reason: fmt.Sprintf("The program of agent %q, %q, is given relative to a checkout, where the repository could put one of its own.", c.spec.Name, name),
			Hint:   fmt.Sprintf("Write its absolute path into command of [agents.%s], then retry.", c.spec.Name),
		}
	}
	search := ""
	for _, v := range c.spec.Environ {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			search = p
		}
	}
	path, err := proc.LookPath(name, search)
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("found at %q, which is relative", path)
	}
	if err != nil {
		return "", &work.BlockedError{
			Reason: fmt.Sprintf("The program of agent %q, %q, cannot be started on the machine that runs gh mergexo.", c.spec.Name, name),
			Hint:   fmt.Sprintf("Install it, or correct command of [agents.%s], then retry. Under cron PATH is short: an absolute path is safer.", c.spec.Name),
			Err:    err,
		}
	}
	return path, nil
}

func (c *command) document(r Request) ([]byte, error) {
	d := document{
		Version: 1, Turn: r.Turn, Kind: r.Kind, Mode: r.Mode,
		Prompt: r.Prompt, Context: r.Context, Schema: r.Schema,
	}
	if r.Session != "" && !c.spec.Fresh {
		d.Session = &r.Session
	}
	b, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the request for agent %q: %w", c.spec.Name, err)
	}
	return append(b, '\n'), nil
}

// turnMark is what every process of a turn carries in its environment.
func turnMark(turn string) string { return "MERGEXO_TURN=" + turn }

func (r Request) mark() string {
	if r.Mark != "" {
		return r.Mark
	}
	return turnMark(r.Turn)
}

// environ is what the program sees: the Spec's, the turn's mark, and a git
// that knows no credential helper and never asks.
func (c *command) environ(r Request) ([]string, error) {
	config, err := c.gitConfig()
	if err != nil {
		return nil, err
	}
	env := make([]string, 0, len(c.spec.Environ)+4)
	for _, v := range c.spec.Environ {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "GIT_") && name != "MERGEXO_TURN" {
			env = append(env, v)
		}
	}
	env = append(env, turnMark(r.Turn))
	if r.Mark != "" {
		env = append(env, r.Mark)
	}
	env = append(env, "GH_CONFIG_DIR="+filepath.Join(c.spec.Home, "no-gh")) // gh finds no login there
	return append(env, "GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"), nil
}

// gitConfig writes the agent's git configuration. It is written before every
// run: an agent runs as the same user and may have changed it.
func (c *command) gitConfig() (string, error) {
	id := c.spec.Identity
	if id.Name == "" {
		id.Name = "gh mergexo agent"
	}
	if id.Email == "" {
		id.Email = "agent@mergexo.invalid"
	}
	text := fmt.Sprintf(`# Written by gh mergexo before every run of this agent.
[user]
	name = %s
	email = %s
	useConfigOnly = true
[credential]
	helper =
[commit]
	gpgSign = false
[tag]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
`, gitQuote(id.Name), gitQuote(id.Email))
	path := filepath.Join(c.spec.Home, c.spec.Name+".gitconfig")
	if err := replaceFile(path, text); err != nil {
		return "", fmt.Errorf("write the git configuration of agent %q: %w", c.spec.Name, err)
	}
	return path, nil
}

func gitQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}

// replaceFile writes a file whole: agents of other turns may be reading it.
func replaceFile(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".gitconfig-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// notRun explains why the program could not be run at all. What will fail
// again tomorrow is for a person: no permission, no such interpreter, another
// machine's format. Anything else is worth another attempt.
func (c *command) notRun(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return &work.BlockedError{
			Reason: fmt.Sprintf("The program of agent %q, %q, could not be started on the machine that runs gh mergexo.", c.spec.Name, c.spec.Command[0]),
			Hint:   fmt.Sprintf("Correct command of [agents.%s], or the interpreter on the program's first line, then retry.", c.spec.Name),
			Err:    err,
		}
	}
	return fmt.Errorf("run agent %q: %w", c.spec.Name, err)
}

// checkDir refuses a checkout that is not there before anything is started: the
// system would report it as if the program were missing.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("the checkout %q is no absolute path", dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the checkout: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the checkout %q is no folder", dir)
	}
	return nil
}

// judge makes a result of the way in which the program ended.
func (c *command) judge(r Request, res proc.Result) (Result, error) {
	switch {
	case res.TimedOut == proc.WallLimit:
		return Result{}, &TimeoutError{Agent: c.spec.Name, Limit: res.TimedOut, After: r.Wall}
	case res.TimedOut == proc.IdleLimit:
		return Result{}, &TimeoutError{Agent: c.spec.Name, Limit: res.TimedOut, After: r.Idle}
	case res.Truncated:
		return Result{}, &AnswerError{Agent: c.spec.Name, Violations: []string{fmt.Sprintf("the standard output has more than %d bytes; it must be the answer document alone", maxOutput)}}
	case res.Code != 0:
		return Result{}, &FailedError{Agent: c.spec.Name, Code: res.Code, Stderr: c.spec.Redact(string(res.Stderr))}
	}
	out, violations := decodeOutput(res.Stdout, c.spec.Redact)
	if len(violations) > 0 {
		for i, v := range violations {
			violations[i] = c.spec.Redact(v)
		}
		return Result{}, &AnswerError{Agent: c.spec.Name, Violations: violations, Session: out.Session, Usage: out.Usage}
	}
	return out, nil
}

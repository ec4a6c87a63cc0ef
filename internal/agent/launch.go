package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Launch is how an adapter starts its program. All adapters use it, so that environment, marks and
// sandbox are the same for each.
type Launch struct {
	Argv      []string    // required; a name on the agent's PATH or an absolute path, and arguments
	Rest      Rest        // further arguments; may be nil
	Env       []string    // added to the environment that every agent sees
	Stdin     []byte      // written, then closed
	Dialog    proc.Dialog // writes standard input instead of Stdin; may be nil
	Signal    os.Signal   // on which it ends cleanly; nil means SIGTERM
	MaxOutput int64       // required; bytes of standard output at which it is stopped
	Meter     Meter       // gets its standard output as it is written; may be nil
}

// Rest returns the end of a command line that tells the program's own sandbox which folders beside
// the checkout its commands may write to. writable has those that can be written where it runs.
type Rest func(writable []string) []string

// Launch runs a program to its end. Its errors are those of Agent.Run; a nonzero exit code is no
// error. If a limit stops it, the result holds the output so far.
func (s Spec) Launch(ctx context.Context, r Request, l Launch) (proc.Result, error) {
	path, err := s.ProgramPath(l.Argv[0])
	if err != nil {
		return proc.Result{}, err
	}
	argv, env, err := s.line(r, append([]string{path}, l.Argv[1:]...), l.Rest)
	if err != nil {
		return proc.Result{}, err
	}
	defer s.removeRunFolders(r, work.RunsAgent)
	log := &redactor{to: r.Log, redact: s.Redact}
	c := proc.Cmd{
		Path: argv[0], Args: argv[1:], Dir: r.Dir, Env: append(env, l.Env...),
		Stdin: l.Stdin, Dialog: l.Dialog, Stderr: log,
		Wall: r.Wall, Idle: r.Idle, Active: r.Active, MaxOutput: l.MaxOutput, EndSignal: l.Signal,
		Mark: r.mark(), DieWithParent: true, OwnKeyring: true, Sandbox: s.Wrap != nil,
		MaxStderr: maxStderr, MaxMemory: s.MaxMemory, MaxProcesses: s.MaxProcesses, Disk: s.disk(r, work.RunsAgent),
	}
	alive := s.life(r)
	if alive != nil {
		c.Counts, c.Alive, c.OutputFile = alive.counts, alive.alive, l.Dialog == nil
	}
	if l.Meter != nil {
		c.Stdout = l.Meter
	}
	running, over := r.follow(ctx, l.Meter)
	res, err := proc.Run(running, c)
	log.flush()
	if tooMuch := over(); tooMuch != nil {
		return res, tooMuch
	}
	switch {
	case err == nil && res.TimedOut != proc.NoLimit && alive != nil && alive.failing():
		// It retries forever.
		return res, s.Wait("its provider was not reached", time.Time{}, PauseBusy)
	case err != nil:
		return res, s.notRun(ctx, l.Argv[0], err)
	case res.TimedOut == proc.WallLimit:
		return res, &TimeoutError{Agent: s.Name, Limit: res.TimedOut, After: r.Wall}
	case res.TimedOut == proc.IdleLimit:
		return res, &TimeoutError{Agent: s.Name, Limit: res.TimedOut, After: r.Idle}
	case res.Passed != proc.NoLimit, res.Truncated && alive != nil:
		return res, s.passed(res)
	case s.missingInside(res):
		return res, s.notInside(l.Argv[0], res)
	}
	return res, nil
}

// Line returns a command line and environment that run a program as the agent's own runs: in the
// sandbox, with its marks. argv begins with the program's path.
func (s Spec) Line(r Request, argv []string) (line, env []string, err error) {
	return s.line(r, argv, nil)
}

func (s Spec) line(r Request, argv []string, rest Rest) (line, env []string, err error) {
	if err := checkDir(r.Dir); err != nil {
		return nil, nil, fmt.Errorf("run agent %q: %w", s.Name, err)
	}
	if env, err = s.environOf(s.Environ, r); err != nil {
		return nil, nil, err
	}
	line, writable, err := s.wrap(argv, r, work.RunsAgent)
	if err == nil && rest != nil {
		line = slices.Concat(line, rest(writable))
	}
	return line, env, err
}

// wrapped puts the sandbox, if there is one, in front of a command.
func (s Spec) wrapped(argv []string, r Request, purpose work.Purpose) ([]string, error) {
	line, _, err := s.wrap(argv, r, purpose)
	return line, err
}

// wrap is wrapped with the folders beside the checkout that can be written: those of the sandbox's
// final layout, or without one those of the config.
func (s Spec) wrap(argv []string, r Request, purpose work.Purpose) (line, writable []string, err error) {
	if s.Wrap == nil {
		return argv, s.Writable, nil
	}
	return s.Wrap(argv, s.job(r, purpose))
}

// Exit codes with which shells and env report that a program could not be started or found.
const (
	codeNotStarted = 126
	codeNotFound   = 127
)

// missingInside reports whether a command failed because its program or interpreter is not visible
// inside the sandbox.
func (s Spec) missingInside(res proc.Result) bool {
	return s.Wrap != nil && (res.Code == codeNotFound || res.Code == codeNotStarted || strings.HasPrefix(LastLine(string(res.Stderr)), "bwrap: execvp"))
}

// notInside returns the error of a program that cannot start in the sandbox. It blocks the turn,
// because another attempt would fail the same way.
func (s Spec) notInside(program string, res proc.Result) error {
	why := LastLine(s.Redact(string(res.Stderr)))
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyShutOut, Who: s.Name, Name: program, Text: why}}
}

// ProgramPath finds the program. If it is missing, a person must act.
func (s Spec) ProgramPath(name string) (string, error) {
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		return "", &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentMissing, Who: s.Name, Name: name, Advice: "write its absolute path into command of [agents." + s.Name + "]: the repository could put its own where a relative one leads"}}
	}
	path, err := proc.LookPath(name, Lookup(s.Environ, "PATH"))
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("found at %q, which is relative", path)
	}
	if err != nil {
		return "", &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentMissing, Who: s.Name, Name: name, Advice: s.remedy()}, Err: err}
	}
	return path, nil
}

// turnMark is in the environment of every process of a turn.
func turnMark(turn string) string { return "MERGEXO_TURN=" + turn }

func (r Request) mark() string {
	if r.Mark != "" {
		return r.Mark
	}
	return turnMark(r.Turn)
}

// Ours returns what we add to an agent's environment. Its commands must see it too: the turn's
// mark, and settings by which git and gh have no credentials and never ask.
func (s Spec) Ours(r Request) []string {
	env := []string{
		turnMark(r.Turn),
		"GH_CONFIG_DIR=" + filepath.Join(s.Home, "no-gh"), // gh finds no login there
		"GIT_CONFIG_GLOBAL=" + s.gitConfigPath(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	}
	if r.Mark != "" {
		env = append(env, r.Mark)
	}
	return env
}

// environOf adds our own variables to a part of our environment.
func (s Spec) environOf(base []string, r Request) ([]string, error) {
	if err := s.writeGitConfig(); err != nil {
		return nil, err
	}
	var env []string
	for _, v := range base {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "GIT_") && name != "MERGEXO_TURN" {
			env = append(env, v)
		}
	}
	return append(env, s.Ours(r)...), nil
}

// notRun explains why the program could not be run. No permission, no such interpreter or another
// machine's format would fail again, so a person must act. Anything else is retried.
func (s Spec) notRun(ctx context.Context, program string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentMissing, Who: s.Name, Name: program, Advice: "correct command of [agents." + s.Name + "], or the interpreter on the program's first line"}, Err: err}
	}
	return fmt.Errorf("run agent %q: %w", s.Name, err)
}

// checkDir returns an error for a missing checkout before anything is started: the system would
// report it as a missing program.
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

// WithNeighbours returns an agent's environment with the folder of its program at the end of PATH:
// npm and nvm install scripts whose interpreter lies beside them, and under cron PATH has neither.
func WithNeighbours(s Spec) []string {
	path, err := Program(s)
	if err != nil {
		return s.Environ
	}
	dirs := []string{filepath.Dir(path)}
	if to, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		if dir := filepath.Dir(to); filepath.Base(dir) == "bin" {
			dirs = append(dirs, dir)
		}
	}
	all := filepath.SplitList(Lookup(s.Environ, "PATH"))
	for _, dir := range dirs {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	environ := slices.DeleteFunc(slices.Clone(s.Environ), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(environ, "PATH="+strings.Join(all, string(filepath.ListSeparator)))
}

// PathOf returns the PATH of an environment.
func PathOf(environ []string) string { return Lookup(environ, "PATH") }

func (s Spec) gitConfigPath() string { return filepath.Join(s.Home, s.Name+".gitconfig") }

// writeGitConfig writes the agent's git configuration before every run: agents run as the same user
// and may have changed it. The agent's own commits have an author whose address nobody has: they are
// never published, only the tree is used.
func (s Spec) writeGitConfig() error {
	const text = `# Written by gh mergexo before every run of this agent.
[user]
	name = gh mergexo agent
	email = agent@mergexo.invalid
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
`
	if err := files.Replace(s.gitConfigPath(), text); err != nil {
		return fmt.Errorf("write the git configuration of agent %q: %w", s.Name, err)
	}
	return nil
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Tested is the result of a repository's own command: its tests or its set-up.
type Tested struct {
	Failure string // why it failed; empty if it passed
	Output  string // the end of the output, redacted
	Code    int    // the exit code
}

// Limits of the tests' output and of the end that is kept, in bytes.
const (
	maxTestOutput  = 16 << 20
	keptTestOutput = 24 << 10
)

// Tester runs a repository's own tests and set-up where the agent runs. Every adapter's agent embeds one.
type Tester struct{ spec Spec }

// Tester returns the tester of this agent.
func (s Spec) Tester() Tester { return Tester{s} }

// Test runs a command from the config in the checkout, which holds the agent's changes. So it runs
// in the same sandbox, with a smaller environment (no provider keys), for at most r.Wall. If the
// command cannot be started, a person must act; it never counts as passed.
func (t Tester) Test(ctx context.Context, r Request, argv []string) (Tested, error) {
	s := t.spec
	if err := checkDir(r.Dir); err != nil {
		return Tested{}, fmt.Errorf("run %q: %w", argv[0], err)
	}
	if r.Offline && s.Wrap == nil {
		return Tested{}, fmt.Errorf("run %q without a network: there is no sandbox", argv[0])
	}
	path, err := t.program(r.Dir, argv[0])
	if err != nil {
		return Tested{}, err
	}
	env, err := s.environOf(s.Plain, r)
	if err != nil {
		return Tested{}, err
	}
	run, err := s.wrapped(append([]string{path}, argv[1:]...), r, work.RunsTests)
	if err != nil {
		return Tested{}, err
	}
	var printed ending
	res, err := proc.Run(ctx, proc.Cmd{
		Path: run[0], Args: run[1:], Dir: r.Dir, Env: env, Stdout: &printed, Stderr: &printed,
		Wall: r.Wall, Active: r.Active, MaxOutput: maxTestOutput, MaxStderr: maxTestOutput, MaxMemory: s.MaxMemory, MaxProcesses: s.MaxProcesses, Disk: s.disk(r, work.RunsTests), Mark: r.mark(), DieWithParent: true, OwnKeyring: true, Sandbox: s.Wrap != nil,
	})
	s.removeRunFolders(r, work.RunsTests)
	if err != nil {
		return Tested{}, testsNotRun(ctx, argv[0], err)
	}
	out := Tested{Output: s.Redact(printed.text()), Code: res.Code}
	switch {
	case res.TimedOut != proc.NoLimit:
		out.Failure = fmt.Sprintf("did not end within %s", r.Wall)
	case res.Passed == proc.MemoryLimit:
		out.Failure = s.tooMuchMemory()
	case res.Passed == proc.ProcessLimit:
		out.Failure = s.tooManyProcesses()
	case res.Passed == proc.DiskLimit:
		out.Failure = s.tooMuchDisk()
	case res.Truncated, res.Passed == proc.StderrLimit:
		out.Failure = fmt.Sprintf("printed more than %d MiB", maxTestOutput>>20)
	case s.Wrap != nil && strings.HasPrefix(LastLine(out.Output), "bwrap: execvp"):
		return Tested{}, t.notInside(argv[0], LastLine(out.Output))
	case s.missingInside(res):
		out.Failure = fmt.Sprintf("ended with exit code %d: a program was not found. If it is installed on this machine, but not visible in the sandbox, name its folder in readable of [runtime]", res.Code)
	case res.Code != 0:
		out.Failure = fmt.Sprintf("ended with exit code %d", res.Code)
	}
	return out, nil
}

func (t Tester) notInside(name, why string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyShutOut, Who: t.spec.Name, Name: name, Text: "the required tests need it; " + why}}
}

// program finds the tests' program: on the agent's PATH, or, if it is a path, in the checkout.
func (t Tester) program(dir, name string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, filepath.FromSlash(name))
		}
		if _, err := os.Stat(name); err != nil {
			return "", testsMissing(filepath.Base(name), err)
		}
		return name, nil
	}
	path, err := proc.LookPath(name, Lookup(t.spec.Environ, "PATH"))
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("found at %q, which is relative", path)
	}
	if err != nil {
		return "", testsMissing(name, err)
	}
	return path, nil
}

func testsNotRun(ctx context.Context, name string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return testsMissing(filepath.Base(name), err)
	}
	return fmt.Errorf("run %q: %w", name, err)
}

func testsMissing(name string, err error) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyTestsMissing, Name: name}, Err: err}
}

// ending keeps the end of its input; two writers may use it at once.
type ending struct {
	mu   sync.Mutex
	kept []byte
	cut  bool
}

var _ io.Writer = (*ending)(nil)

func (e *ending) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept = append(e.kept, b...)
	if len(e.kept) > 2*keptTestOutput {
		e.kept, e.cut = append(e.kept[:0], e.kept[len(e.kept)-keptTestOutput:]...), true
	}
	return len(b), nil
}

func (e *ending) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.kept
	if len(text) > keptTestOutput {
		text, e.cut = text[len(text)-keptTestOutput:], true
	}
	if e.cut {
		return "[… the beginning is left out]\n" + strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

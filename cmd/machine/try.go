package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Trial is a command to run like an agent's own program.
type Trial struct {
	Agent   config.Agent
	Repo    work.Repo
	Command []string
	Dir     string // empty: a temporary empty folder
	Streams proc.Streams
}

// Try runs a command in an agent's sandbox and returns its exit code. It writes nothing to the
// state.
func (m *Machine) Try(ctx context.Context, t Trial) (code int, err error) {
	if m.scratch, err = os.MkdirTemp("", "mergexo-sandbox-"); err != nil {
		return 0, fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, sandbox.Remove(m.scratch)) }()
	dir, err := m.workFolder(t.Dir)
	if err != nil {
		return 0, err
	}
	spec := m.spec(t.Agent)
	protection, wrap, err := m.protect(ctx, t.Repo, t.Agent)
	switch {
	case err != nil:
		return 0, err
	case !protection.Hides():
		return 0, fmt.Errorf("nothing was run: agent %q has %s; %s", t.Agent.Name, protection, remedy(m.cfg.Sandbox(t.Agent)))
	}
	if err := agent.Find(spec); err != nil { // before the sandbox makes its home folder
		return 0, fmt.Errorf("nothing was run: %w", err)
	}
	spec.Wrap = wrap
	program, err := findIn(m.env, dir, t.Command[0])
	if err != nil {
		return 0, err
	}
	line, env, err := spec.Line(agent.Request{Turn: "sandbox-run", Dir: dir}, append([]string{program}, t.Command[1:]...))
	if err != nil {
		return 0, err
	}
	return proc.Attach(ctx, proc.Cmd{Path: line[0], Args: line[1:], Dir: dir, Env: env, OwnKeyring: true}, t.Streams)
}

// FolderError is why no command may write to a folder.
type FolderError struct{ Dir, Why string }

func (e *FolderError) Error() string {
	return fmt.Sprintf("%s: it %s, which no command in a sandbox may write to; name a smaller folder", e.Dir, e.Why)
}

// workFolder returns the folder in which a command works and writes: never one that holds the home,
// the state or gh's login.
func (m *Machine) workFolder(dir string) (string, error) {
	if dir == "" {
		dir = filepath.Join(m.scratch, "checkout")
		return dir, os.Mkdir(dir, 0o700)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("find the folder %q: %w", dir, err)
	}
	if why := m.cfg.TooMuch(m.env, abs); why != "" {
		return "", &FolderError{Dir: dir, Why: why}
	}
	return abs, nil
}

// findIn finds a command as a shell in the folder would.
func findIn(env environ.Env, dir, name string) (string, error) {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		return filepath.Join(dir, name), nil
	}
	path, err := proc.LookPath(name, env.Path)
	if err != nil {
		return "", fmt.Errorf("%q is not on PATH: %w", name, err)
	}
	return path, nil
}

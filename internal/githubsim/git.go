package githubsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// gitDir is one bare repository. Everything that can be computed from object ids alone is
// remembered.
type gitDir struct {
	dir  string
	mu   sync.Mutex
	refs refCache
	memo map[string]any
	ran  atomic.Int64 // commands so far
}

// signature is who made a commit, and when.
type signature struct {
	name, email string
	at          time.Time
}

// initGit makes an empty bare repository.
func initGit(dir, branch string) (*gitDir, error) {
	g := &gitDir{dir: dir, memo: map[string]any{}}
	if _, err := g.exec(nil, "", "init", "--quiet", "--bare", "--template=", "--initial-branch="+branch, dir); err != nil {
		return nil, err
	}
	return g, g.configure()
}

// configure adds to what git init wrote. Thousands of tests make a repository, so this starts no
// process.
func (g *gitDir) configure() error {
	const ours = "[receive]\n\tdenyDeleteCurrent = ignore\n\tautogc = false\n[gc]\n\tauto = 0\n[core]\n\tfsync = none\n"
	f, err := os.OpenFile(filepath.Join(g.dir, "config"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(ours)
	return errors.Join(err, f.Close())
}

// run runs a git command on the bare repository and returns what it printed, without the last
// newline.
func (g *gitDir) run(args ...string) (string, error) {
	out, err := g.exec(nil, "", append([]string{"--git-dir=" + g.dir}, args...)...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// feed is run with standard input.
func (g *gitDir) feed(stdin string, args ...string) (string, error) {
	out, err := g.exec(nil, stdin, append([]string{"--git-dir=" + g.dir}, args...)...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// exec runs git away from the operator's configuration. The commands are local and short, so
// nothing cancels them.
func (g *gitDir) exec(env []string, stdin string, args ...string) ([]byte, error) {
	g.ran.Add(1)
	cmd := exec.Command("git", args...) //nolint:noctx // see above
	cmd.Env = append(g.plainEnv(cmd.Environ()), env...)
	cmd.Dir = filepath.Dir(g.dir)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), &gitError{args: args, code: exitCode(err), stderr: strings.TrimSpace(errs.String()), err: err}
	}
	return out.Bytes(), nil
}

// stream runs a git command between two streams.
func (g *gitDir) stream(ctx context.Context, env string, in io.Reader, out io.Writer, args ...string) error {
	g.ran.Add(1)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(g.plainEnv(cmd.Environ()), env)
	cmd.Stdin, cmd.Stdout = in, out
	return cmd.Run()
}

// plainEnv is an environment away from the operator's configuration.
func (g *gitDir) plainEnv(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	return append(env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
}

// gitError is a git command that did not end with 0.
type gitError struct {
	args   []string
	code   int
	stderr string
	err    error
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: %v: %s", strings.Join(e.args, " "), e.err, e.stderr)
}

func (e *gitError) Unwrap() error { return e.err }

// exitCode is the code of a command that ran and failed, or -1.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}

// cached answers from memory what was computed before under the same key. Keys hold object ids,
// never branch names.
func cached[T any](g *gitDir, key string, compute func() (T, error)) (T, error) {
	g.mu.Lock()
	v, ok := g.memo[key]
	g.mu.Unlock()
	if ok {
		return v.(T), nil // a key has one type
	}
	out, err := compute()
	if err == nil {
		g.mu.Lock()
		g.memo[key] = out
		g.mu.Unlock()
	}
	return out, err
}

package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// keptVars are the GIT_ variables of the operator that may reach our commands;
// any other could name another repository, index or configuration.
var keptVars = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
	"GIT_SSL_NO_VERIFY", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME",
}

// baseEnv is the environment of every command of ours.
func baseEnv(operator []string) []string {
	var env []string
	for _, v := range operator {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "GIT_") && !slices.Contains(keptVars, name) {
			continue
		}
		env = append(env, v)
	}
	return append(env, "LC_ALL=C", "LANGUAGE=", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1")
}

// safeConfig is said on every command line, so that nothing depends on what
// stands in a file.
func safeConfig() []string {
	var args []string
	for _, kv := range []string{
		"core.hooksPath=" + os.DevNull,
		"core.fsmonitor=false",
		"core.attributesFile=" + os.DevNull,
		"core.autocrlf=false",
		"core.safecrlf=false",
		"core.trustctime=true",
		"core.untrackedCache=false",
		"core.sparseCheckout=false",
		"core.protectHFS=true", // a name that is .git on another system is one here
		"core.protectNTFS=true",
		"core.fsync=committed",
		"protocol.ext.allow=never",
		"submodule.recurse=false",
		"advice.addEmbeddedRepo=false",
		"gc.auto=0",
		"maintenance.auto=false",
	} {
		args = append(args, "-c", kv)
	}
	return args
}

// maxOutput bounds what a command may print, in bytes.
const maxOutput = 1 << 30

// call is one git command.
type call struct {
	args   []string
	config []string // key=value pairs, in front of args
	gitDir string   // "" is only for commands that need no repository
	tree   string   // working tree, and working directory
	index  string
	env    []string
	stdin  []byte
	in     *quarantine // where new objects go; nil for the mirror

	operator bool   // the operator's configuration applies
	remote   string // URL that is spoken to: network limits; its secrets are kept out of errors
	answers  []int  // exit codes that are answers, besides 0

	wall time.Duration // 0 means Options.Timeout
}

// environment is what the command runs with.
func (g *Git) environment(c call) []string {
	env := slices.Clone(g.env)
	if !c.operator {
		env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	}
	if c.gitDir != "" {
		env = append(env, "GIT_DIR="+c.gitDir)
	}
	if c.tree != "" {
		env = append(env, "GIT_WORK_TREE="+c.tree)
	}
	if c.index != "" {
		env = append(env, "GIT_INDEX_FILE="+c.index)
	}
	if c.in != nil {
		env = append(env, c.in.env...)
	}
	return append(env, c.env...)
}

// run runs the command. A failure is a *CommandError, or wraps what proc says.
func (g *Git) run(ctx context.Context, c call) (proc.Result, error) {
	args := safeConfig()
	if file := g.path("core.excludesfile"); file != "" {
		args = append(args, "-c", "core.excludesFile="+file)
	}
	if c.in != nil {
		c.config = append(noSync(), c.config...)
	}
	for _, kv := range c.config {
		args = append(args, "-c", kv)
	}
	cmd := proc.Cmd{
		Path: g.bin, Args: append(args, c.args...), Dir: c.tree, Env: g.environment(c), Stdin: c.stdin,
		Wall: g.opt.Timeout, MaxOutput: maxOutput, Survivors: proc.LeaveSurvivors, DieWithParent: true,
	}
	if cmd.Dir == "" && !c.operator {
		cmd.Dir = c.gitDir
	}
	if c.wall > 0 {
		cmd.Wall = c.wall
	}
	if c.remote != "" {
		cmd.Wall, cmd.Idle = g.opt.NetTimeout, g.opt.NetIdle
	}
	res, err := proc.Run(ctx, cmd)
	name := strings.Join(c.args[:min(2, len(c.args))], " ")
	if err != nil {
		return res, fmt.Errorf("git %s: %w", name, err)
	}
	if c.remote != "" {
		res.Stderr = []byte(redact(string(res.Stderr), c.remote))
	}
	switch {
	case res.TimedOut != proc.NoLimit:
		return res, &timeoutError{command: name, limit: res.TimedOut}
	case res.Truncated:
		return res, fmt.Errorf("git %s: more than %d bytes of output", name, cmd.MaxOutput)
	case res.Code != 0 && !slices.Contains(c.answers, res.Code):
		return res, &CommandError{Command: name, Code: res.Code, Stderr: string(res.Stderr)}
	}
	return res, nil
}

// text runs the command for its output, without the last line ending.
func (g *Git) text(ctx context.Context, c call) (string, error) {
	res, err := g.run(ctx, c)
	return strings.TrimSuffix(string(res.Stdout), "\n"), err
}

type timeoutError struct {
	command string
	limit   proc.Limit
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("git %s: ended at the %s time limit", e.command, e.limit)
}

// remoteError says what kind of failure a command had that spoke to a remote.
func remoteError(op string, err error) error {
	if late, ok := errors.AsType[*timeoutError](err); ok {
		return &NetworkError{Op: op, Detail: late.Error()}
	}
	var failed *CommandError
	if !errors.As(err, &failed) {
		return err
	}
	switch {
	case says(failed.Stderr, hopelessSigns):
		return err
	case says(failed.Stderr, accessSigns):
		return &AccessError{Op: op, Detail: lastLines(failed.Stderr, 4)}
	case says(failed.Stderr, networkSigns):
		return &NetworkError{Op: op, Detail: lastLines(failed.Stderr, 4)}
	}
	return err
}

// redact takes the user part of a URL out of what git said.
func redact(s, remote string) string {
	u, err := url.Parse(remote)
	if err != nil || u.User == nil {
		return s
	}
	s = strings.ReplaceAll(s, u.User.String()+"@", "")
	if secret, ok := u.User.Password(); ok && secret != "" {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// fields splits the output of a command that was asked for -z.
func fields(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

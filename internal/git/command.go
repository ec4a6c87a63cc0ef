package git

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// keptVars are the operator's GIT_ variables that our commands inherit. Any other could select
// another repository, index or configuration.
var keptVars = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
	"GIT_SSL_NO_VERIFY", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME",
}

// baseEnv returns the environment of all our git commands.
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

// safeConfig returns options for every command line, which override configuration files.
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
		"core.protectHFS=true", // refuse names that are .git on another system
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

// maxOutput limits the output of a command, in bytes.
const maxOutput = 1 << 30

// command is one git command, made by Git.command; zero fields do not apply.
type command struct {
	Args    []string
	Config  []string // key=value pairs, in front of Args
	GitDir  string   // "" is only for commands that need no repository
	Tree    string   // working tree and working directory
	Index   string
	Env     []string
	Stdin   []byte
	Pipe    []byte    // see proc.Cmd
	Stderr  io.Writer // gets a copy as it arrives; may be nil
	Objects []string  // variables that redirect new objects to another folder

	Operator bool   // read the operator's configuration
	Remote   string // URL of the remote: network limits apply, and its credentials are removed from errors
	Answers  []int  // exit codes besides 0 that are not failures

	Wall time.Duration // 0 means Options.Timeout
	Most int64         // limit on output in bytes; the command is killed beyond it, without an error; 0 means no limit

	git *Git
}

func (g *Git) command(args ...string) command { return command{git: g, Args: args} }

func (c command) environment() []string {
	env := slices.Clone(c.git.env)
	if !c.Operator {
		env = append(env, "GIT_CONFIG_GLOBAL="+noFile(), "GIT_CONFIG_NOSYSTEM=1")
	}
	if c.GitDir != "" {
		env = append(env, "GIT_DIR="+c.GitDir)
	}
	if c.Tree != "" {
		env = append(env, "GIT_WORK_TREE="+c.Tree)
	}
	if c.Index != "" {
		env = append(env, "GIT_INDEX_FILE="+c.Index)
	}
	return slices.Concat(env, c.Objects, c.Env)
}

// noFile returns the path of a configuration that is not there: git would open an empty one several
// times.
func noFile() string { return os.DevNull + "/none" }

// configuration returns the options before the command's arguments.
func (c command) configuration() []string {
	args := safeConfig()
	if file := c.git.operatorPath("core.excludesfile"); file != "" {
		args = append(args, "-c", "core.excludesFile="+file)
	}
	if len(c.Objects) > 0 {
		c.Config = append(noSync(), c.Config...)
	}
	for _, kv := range c.Config {
		args = append(args, "-c", kv)
	}
	return args
}

// noSync turns off git's sync of each object: callers that redirect objects sync them all at once.
func noSync() []string { return []string{"core.fsync=none"} }

// Run runs the command. A failure is a *CommandError, a *work.MachineError, a *TimeoutError, or wraps
// an error of proc.
func (c command) Run(ctx context.Context) (proc.Result, error) {
	opt := c.git.opt
	cmd := proc.Cmd{
		Path: c.git.bin, Args: append(c.configuration(), c.Args...), Dir: c.Tree, Env: c.environment(), Stdin: c.Stdin, Pipe: c.Pipe, Stderr: c.Stderr,
		Wall: opt.Timeout, MaxOutput: maxOutput, Survivors: proc.LeaveSurvivors, DieWithParent: true,
	}
	if cmd.Dir == "" && !c.Operator {
		cmd.Dir = c.GitDir
	}
	if c.Wall > 0 {
		cmd.Wall = c.Wall
	}
	if c.Most > 0 {
		cmd.MaxOutput = c.Most
	}
	if c.Remote != "" {
		cmd.Wall, cmd.Idle = opt.NetTimeout, opt.NetIdle
	}
	res, err := proc.Run(ctx, cmd)
	name := strings.Join(c.Args[:min(2, len(c.Args))], " ")
	if err != nil {
		return res, fmt.Errorf("git %s: %w", name, err)
	}
	if c.Remote != "" {
		res.Stderr = []byte(redactRemote(string(res.Stderr), c.Remote))
	}
	switch {
	case res.TimedOut != proc.NoLimit:
		return res, &TimeoutError{Command: name, Limit: res.TimedOut}
	case res.Truncated && c.Most > 0:
		return res, nil
	case res.Truncated:
		return res, fmt.Errorf("git %s: more than %d bytes of output", name, cmd.MaxOutput)
	case res.Code != 0 && !slices.Contains(c.Answers, res.Code):
		return res, c.failure(name, res.Code, string(res.Stderr))
	}
	return res, nil
}

// converse starts a command for several queries. It has no time limit; each query has its own.
func (c command) converse() (*proc.Conversation, error) {
	talk, err := proc.Converse(proc.Cmd{
		Path: c.git.bin, Args: append(c.configuration(), c.Args...), Dir: c.GitDir, Env: c.environment(), DieWithParent: true,
	})
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	return talk, nil
}

// timeLimit returns the time limit of a local command.
func (c command) timeLimit() time.Duration { return c.git.opt.Timeout }

// text runs the command and returns its output without the last line ending.
func (c command) text(ctx context.Context) (string, error) {
	res, err := c.Run(ctx)
	return strings.TrimSuffix(string(res.Stdout), "\n"), err
}

// fields runs a command with -z and returns the fields of its output.
func (c command) fields(ctx context.Context) ([]string, error) {
	res, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	return splitFields(res.Stdout), nil
}

// splitFields splits output of a command with -z.
func splitFields(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// redactRemote removes the credentials of a remote URL from git's output.
func redactRemote(s, remote string) string {
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

package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// checkTime is how long a check may take. It takes a fraction of a second.
const checkTime = time.Minute

// checkScript reads a file, then makes and removes one in each folder. `true` is
// used, for a redirection that fails ends the shell beside `:` with a code of the
// shell's own.
const checkScript = `read=$1 name=$2; shift 2
true < "$read" || exit 9
for dir; do true > "$dir/$name" && rm -f "$dir/$name" || exit 9; done`

// codexUsage is codex's exit code for a command line that it does not know.
const codexUsage = 2

// Check is part of Agent. Codex runs a command as it runs those of its model: in
// the sandbox of its own.
func (c *codex) Check(ctx context.Context, r Request) error {
	argv := append(append([]string{}, c.spec.command()...), "sandbox")
	mode, dirs := "read-only", []string(nil)
	if r.Mode != work.ModeRead {
		mode, dirs = "workspace-write", append([]string{r.Dir}, c.temp(r)...)
	}
	argv = append(argv, "-c", "sandbox_mode="+tomlString(mode))
	for _, setting := range append(c.settings(r), overrides(c.spec.Args)...) {
		argv = append(argv, "-c", setting)
	}
	argv = append(argv, "-c", untrusted(r.Dir), "--")
	defer tidy(r.Dir)
	res, err := c.spec.check(ctx, r, argv, dirs)
	if err == nil && res.Code == codexUsage && strings.Contains(string(res.Stderr), "Usage:") {
		return nil // a codex that has no such command: the turn shows what works
	}
	return c.spec.checked(res, err)
}

// temp is the temporary folder of codex's commands, where they may write to it.
func (c *codex) temp(r Request) []string {
	dir := lookup(c.spec.Environ, "TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if c.guards(r, dir) {
		return nil
	}
	return []string{dir}
}

// overrides are the settings among arguments of codex.
func overrides(args []string) []string {
	var all []string
	for i, arg := range args {
		for _, flag := range []string{"-c", "--config"} {
			if value, joined := strings.CutPrefix(arg, flag+"="); joined {
				all = append(all, value)
			} else if arg == flag && i+1 < len(args) {
				all = append(all, args[i+1])
			}
		}
	}
	return all
}

// Check is part of Agent. Claude has no sandbox of its own: it must start, and a
// shell must be able to work beside it.
func (c *claude) Check(ctx context.Context, r Request) error {
	program, err := c.spec.program(c.spec.command()[0])
	if err != nil {
		return err
	}
	version := append(append([]string{program}, c.spec.command()[1:]...), "--version")
	if res, err := c.spec.launch(ctx, within(r), launch{argv: version, env: claudeEnv, maxOutput: maxOutput}); err != nil || res.Code != 0 {
		return c.spec.checked(res, err)
	}
	return c.spec.checked(c.spec.check(ctx, r, nil, writes(r)))
}

// Check is part of Agent. Of a program that is not known nothing can be tried: it
// must be there, and a shell must be able to work in its place.
func (c *command) Check(ctx context.Context, r Request) error {
	if _, err := c.spec.program(c.spec.Command[0]); err != nil {
		return err
	}
	if c.spec.Wrap == nil {
		return nil
	}
	return c.spec.checked(c.spec.check(ctx, r, nil, writes(r)))
}

func writes(r Request) []string {
	if r.Mode == work.ModeRead {
		return nil
	}
	return []string{r.Dir}
}

// within is a request with the limits of a check.
func within(r Request) Request {
	r.Wall, r.Idle = checkTime, 0
	return r
}

// check runs the script behind a command line, as the agent would be run. It
// leaves nothing in the folders, however it ends.
func (s Spec) check(ctx context.Context, r Request, before, dirs []string) (proc.Result, error) {
	if runtime.GOOS == "windows" {
		return proc.Result{}, nil // there is no such shell
	}
	name := ".mergexo-check-" + rand.Text()
	defer func() {
		for _, dir := range dirs {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}()
	argv := slices.Concat(before, []string{"/bin/sh", "-c", checkScript, "sh", s.gitConfigPath(), name}, dirs)
	return s.launch(ctx, within(r), launch{argv: argv, maxOutput: maxOutput})
}

// checked says what became of a check. What it could not do, a turn could not do
// either, for money.
func (s Spec) checked(res proc.Result, err error) error {
	if err != nil {
		_, slow := errors.AsType[*TimeoutError](err)
		if !slow {
			return err
		}
		return s.unable("it did not end within "+checkTime.String(), err)
	}
	if res.Code != 0 {
		said := ends(s.Redact(strings.ToValidUTF8(string(res.Stderr), "\uFFFD")))
		return s.unable(cmp.Or(said, fmt.Sprintf("it ended with exit code %d", res.Code)), nil)
	}
	return nil
}

// ends is the end of what a program printed, in one line.
func ends(text string) string {
	const most = 400
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > most {
		return "… " + string(words[len(words)-most:])
	}
	return string(words)
}

func (s Spec) unable(detail string, err error) error {
	return &work.BlockedError{
		Reason: fmt.Sprintf("Agent %q cannot work on the machine that runs gh mergexo: its program does not start, or nothing can run or be written in its sandbox. No tokens were used.", s.Name),
		Local:  detail,
		Hint: fmt.Sprintf("on that machine `gh mergexo show` has the details; update the agent's program, or change sandbox or readable of [agents.%s] in the config; "+
			"then comment to have it tried again", s.Name),
		Err: err,
	}
}

package codex

import (
	"context"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// usageCode is codex's exit code for an unknown command line.
const usageCode = 2

// Check is part of Agent. Codex runs the check as it runs its model's commands: in its own sandbox.
func (c *codex) Check(ctx context.Context, r agent.Request) error {
	argv := append(append([]string{}, c.spec.CommandLine()...), "sandbox")
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
	res, err := c.spec.CheckInside(ctx, r, argv, dirs)
	if err == nil && res.Code == usageCode && strings.Contains(string(res.Stderr), "Usage:") {
		return nil // this codex has no such command: the turn will show what works
	}
	return c.spec.Checked(res, err)
}

// temp returns the temporary folder that codex's commands may write to.
func (c *codex) temp(r agent.Request) []string {
	dir := agent.Lookup(c.spec.Environ, "TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if c.guards(r, dir) {
		return nil
	}
	return []string{dir}
}

// overrides returns the settings among codex's arguments.
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

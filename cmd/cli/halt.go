package cli

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Halted tells whether everything on this machine is paused; nil: it is not.
func Halted(cfg *config.Config) (*folder.Halt, error) {
	if err := machine.GuardState(cfg.Runtime.StateDir); err != nil {
		return nil, err
	}
	h, is := folder.Dirs{State: cfg.Runtime.StateDir}.Halted()
	if !is {
		return nil, nil //nolint:nilnil // no pause is an answer
	}
	return &h, nil
}

// HaltSays is what a person reads of a pause of everything.
func HaltSays(h folder.Halt) string { return Plain(terminal.OneLine(h.Says())) }

// ConfigForAll is the config, or of a broken one as much as a pause of everything
// needs: whoever must stop everything does not repair it first.
func (a *App) ConfigForAll() (cfg *config.Config, broken, err error) {
	if cfg, broken = a.Config(); broken == nil {
		return cfg, nil, nil
	}
	if a.StateDir, err = config.StateDir(a.Environ()); err != nil {
		return nil, broken, err
	}
	return &config.Config{Runtime: config.Runtime{StateDir: a.StateDir}}, broken, nil
}

// PrintHalt says that a pass, or a dry run, does nothing, in one line.
func (a *App) PrintHalt(h *folder.Halt) {
	to, out := a.Env.Stderr, a.Output()
	if out.TTY {
		to = a.Env.Stdout
	}
	fmt.Fprintln(to, out.LocalTimes(HaltSays(*h)))
}

// Plain is a text as a terminal shows it: without Markdown's marks of code.
func Plain(text string) string { return strings.ReplaceAll(text, "`", "") }

package cli

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Halted returns the pause of this machine's work (`pause --all`); nil if there is none.
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

// HaltSays is a pause of all work as a text for people.
func HaltSays(h folder.Halt) string { return Plain(terminal.OneLine(h.Says())) }

// ConfigForAll returns the config. If it is invalid, it returns as much as `pause --all` needs:
// nobody should have to repair a config before stopping everything.
func (a *App) ConfigForAll() (cfg *config.Config, broken, err error) {
	if cfg, broken = a.Config(); broken == nil {
		return cfg, nil, nil
	}
	if a.StateDir, err = config.StateDir(a.Environ()); err != nil {
		return nil, broken, err
	}
	return &config.Config{Runtime: config.Runtime{StateDir: a.StateDir}}, broken, nil
}

// PrintHalt prints in one line that everything is paused.
func (a *App) PrintHalt(h *folder.Halt) {
	out := a.Output()
	fmt.Fprintln(a.Notes(out), out.LocalTimes(HaltSays(*h)))
}

// Plain removes Markdown's code marks for a terminal.
func Plain(text string) string { return strings.ReplaceAll(text, "`", "") }

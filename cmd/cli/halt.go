package cli

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Halted returns the pause of this machine's work (`pause --all`); nil if there is none.
func Halted(cfg *config.Config) (*folder.Halt, error) {
	if err := machine.GuardState(cfg.Runtime.StateDir); err != nil {
		return nil, err
	}
	h, is := folder.At(cfg.Runtime.StateDir).Halted()
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
	run, err := config.Places(a.Environ())
	if err != nil {
		return nil, broken, err
	}
	a.StateDir = run.StateDir
	a.knowDatabase(&run)
	return &config.Config{Runtime: run}, broken, nil
}

// PrintHalt prints in one line that everything is paused.
func (a *App) PrintHalt(h *folder.Halt) {
	out := a.Output()
	fmt.Fprintln(a.Notes(out), out.Ours(HaltSays(*h)))
}

// Plain removes Markdown's code marks for a terminal.
func Plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// HaltView is a pause of everything, as JSON.
type HaltView struct {
	Since   terminal.Time `json:"since"`
	Reason  string        `json:"reason"`  // the text after `pause --all`
	Fleet   bool          `json:"fleet"`   // all machines that share the database are paused, not only this one
	By      string        `json:"by"`      // who paused all
	Machine string        `json:"machine"` // where they did
}

// ViewHalt returns a pause as JSON; null: there is none.
func ViewHalt(h *folder.Halt) *HaltView {
	if h == nil {
		return nil
	}
	return &HaltView{terminal.Stamp(h.Since), h.Why, h.Fleet, h.By, h.On}
}

// StoppedView is a repository's merge stop as JSON.
type StoppedView struct {
	Since  terminal.Time `json:"since"`
	Reason string        `json:"reason"`
	Code   string        `json:"reasonCode"`
	Resume string        `json:"nextStep"` // the command that ends it
}

// ViewStopped returns a merge stop as JSON.
func ViewStopped(h merging.Halt, repo string) *StoppedView {
	why := terminal.OneLine(explain.What(h.Why, explain.Place{Repo: repo, Spending: true}))
	return &StoppedView{Since: terminal.Stamp(h.At), Reason: why, Code: string(h.Why.Kind), Resume: "gh mergexo resume --merging " + repo}
}

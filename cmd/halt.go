package cmd

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// halted tells whether everything on this machine is paused; nil: it is not.
func halted(cfg *config.Config) (*folder.Halt, error) {
	if err := machine.GuardState(cfg.Runtime.StateDir); err != nil {
		return nil, err
	}
	h, is := folder.Dirs{State: cfg.Runtime.StateDir}.Halted()
	if !is {
		return nil, nil //nolint:nilnil // no pause is an answer
	}
	return &h, nil
}

// haltSays is what a person reads of a pause of everything.
func haltSays(h folder.Halt) string { return plain(terminal.OneLine(h.Says())) }

// addAll lets pause and resume be about everything on this machine.
func (a *app) addAll(c *cobra.Command, verb command.Verb, flags **terminal.JSON) {
	all := c.Flags().Bool("all", false, map[command.Verb]string{
		command.VerbPause:  "Stop everything on this machine; what follows is the reason",
		command.VerbResume: "End the pause of everything on this machine",
	}[verb])
	use := map[command.Verb]string{command.VerbPause: "{<owner/name#number> | --all [<reason>]}", command.VerbResume: "{<owner/name#number> | --all}"}
	c.Use = string(verb) + " " + use[verb]
	c.Example += "\n  $ gh mergexo " + string(verb) + " --all" + map[command.Verb]string{command.VerbPause: " the bill is being looked at"}[verb]
	c.Long += "\n\n" + map[command.Verb]string{
		command.VerbPause: `With --all everything on this machine stops at once: agents that work are ended,
what they made is kept, no pass asks GitHub anything, and tick, status and the
dry run say so. It needs no network and waits for no pass. "resume --all" ends
it. What people write until then is answered afterwards.`,
		command.VerbResume: `With --all the pause that "pause --all" began ends. What people paused on GitHub
stays paused.`,
	}[verb]
	one, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, given []string) error {
		switch {
		case !*all:
			return one(c, given)
		case verb == command.VerbResume && len(given) > 0:
			return &usageError{errors.New("--all is about everything: name nothing with it")}
		case len(given) == 1 && itemName.MatchString(given[0]):
			return &usageError{fmt.Errorf("--all is about everything, and %q names one item: leave out one of them", given[0])}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		if !*all {
			return run(c, given)
		}
		return a.everything(verb, strings.Join(given, " "), *flags)
	}
}

// itemName is what people write for an item, and not as a reason.
var itemName = regexp.MustCompile(`^\S*#?[0-9]+$|^https?://\S+$`)

// everything pauses all that this machine does, or resumes it.
func (a *app) everything(verb command.Verb, reason string, flags *terminal.JSON) error {
	cfg, broken, err := a.configForAll()
	if err != nil {
		return err
	}
	if err := machine.GuardState(cfg.Runtime.StateDir); err != nil {
		return err
	}
	if name, err := work.ParseRepoName(reason, github.DefaultHost()); err == nil {
		if _, known := cfg.Repo(name); known {
			return &usageError{fmt.Errorf("--all is about everything, and %q names one repository: to leave it alone, take it out of the config", reason)}
		}
	}
	dirs, answer := folder.Dirs{State: cfg.Runtime.StateDir}, ""
	if verb == command.VerbPause {
		answer, err = a.haltAll(dirs, reason)
	} else {
		answer, err = endHalt(dirs)
	}
	if err != nil {
		return err
	}
	if broken != nil {
		fmt.Fprintln(a.env.Stderr, "the config is broken, and passes stop at that, too:", terminal.OneLine(broken.Error()))
	}
	out := newOutput(a.env)
	if flags.Asked() {
		return flags.Write(out, map[string]any{"item": "", "command": string(verb) + " --all", "answer": answer, "left": 0, "why": ""})
	}
	_, err = fmt.Fprintln(out.W, answer)
	return err
}

// configForAll is the config, or of a broken one as much as a pause of everything
// needs: whoever must stop everything does not repair it first.
func (a *app) configForAll() (cfg *config.Config, broken, err error) {
	if cfg, broken = a.config(); broken == nil {
		return cfg, nil, nil
	}
	if a.stateDir, err = config.StateDir(a.environ()); err != nil {
		return nil, broken, err
	}
	return &config.Config{Runtime: config.Runtime{StateDir: a.stateDir}}, broken, nil
}

func (a *app) haltAll(dirs folder.Dirs, reason string) (string, error) {
	if err := machine.MakeFolder(dirs.State); err != nil {
		return "", err
	}
	h, before, err := dirs.HaltAll(a.secrets().Redact(reason), a.now())
	if err != nil {
		return "", err
	}
	if before {
		return "It was paused already: " + haltSays(h) + ".", nil
	}
	return "Everything on this machine is paused: no pass begins anything. Agents that work now end within seconds, and what they made is kept. gh mergexo resume --all ends the pause.", nil
}

func endHalt(dirs folder.Dirs) (string, error) {
	was, err := dirs.EndHalt()
	switch {
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%w; the state folder is not yours to change", err)
	case err != nil:
		return "", err
	case !was:
		return "Nothing was paused by pause --all. An item that is paused is named: gh mergexo resume owner/name#number.", nil
	}
	return "The pause of everything is over: the next pass continues what was stopped. What people paused on GitHub stays paused.", nil
}

// printHalt says that a pass, or a dry run, does nothing, in one line.
func (a *app) printHalt(h *folder.Halt) {
	to, out := a.env.Stderr, newOutput(a.env)
	if out.TTY {
		to = a.env.Stdout
	}
	fmt.Fprintln(to, out.LocalTimes(haltSays(*h)))
}

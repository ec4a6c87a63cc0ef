package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// everythingWords are the help texts of --all.
var everythingWords = map[work.Verb]struct{ flag, use, example, long string }{
	work.VerbPause: {
		"Pause everything on this machine; further arguments are the reason", "{<owner/name#number> | --all [<reason>]}", "--all checking the bill",
		`--all pauses everything on this machine at once: running agents are stopped, their
changes are kept, and no pass asks GitHub anything. tick, status and the dry run
report the pause. It needs no network and waits for no pass. To end it, run
"gh mergexo resume --all": comments made until then are answered afterwards.

All machines that share a database are paused with it. If the database cannot be
reached, only this machine is, and the exit code is 1.`,
	},
	work.VerbResume: {
		"End the pause of everything on this machine", "{<owner/name#number> | --all}", "--all",
		`--all ends the pause that "gh mergexo pause --all" began. What people paused on
GitHub stays paused.`,
	},
}

// addAll adds --all to a command: everything on this machine.
func (a *app) addAll(c *cobra.Command, verb work.Verb, words struct{ flag, use, example, long string }) {
	all := c.Flags().Bool("all", false, words.flag)
	c.Use = string(verb) + " " + words.use
	c.Example += "\n  $ gh mergexo " + string(verb) + " " + words.example
	c.Long += "\n\n" + words.long
	one, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, given []string) error {
		switch {
		case !*all:
			return one(c, given)
		case verb == work.VerbResume && len(given) > 0:
			return &cli.UsageError{Err: errors.New("--all resumes everything: leave out the item")}
		case len(given) == 1 && itemName().MatchString(given[0]):
			return &cli.UsageError{Err: fmt.Errorf("--all means everything, and %q is one item: leave out one of them", given[0])}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		if !*all {
			return run(c, given)
		}
		return a.everything(c.Context(), verb, strings.Join(given, " "))
	}
}

// itemName matches the name of an item, to tell it from a reason.
var itemName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S*#?[0-9]+$|^https?://\S+$`) })

// everything pauses or resumes all work: on this machine, and then on all that share its database.
func (a *app) everything(ctx context.Context, verb work.Verb, reason string) error {
	cfg, broken, err := a.ConfigForAll()
	if err != nil {
		hand := map[work.Verb]string{
			work.VerbPause:  `make the empty file "paused.json" in the state folder%s: while it is there, everything is paused`,
			work.VerbResume: `remove the file "paused.json" from the state folder%s`,
		}[verb]
		where := ""
		if dir := a.Environ().DataDir; dir != "" {
			where = fmt.Sprintf(" (%s, unless state_dir in the config names another one)", dir)
		}
		return fmt.Errorf("%w. Or, by hand, "+hand, err, where)
	}
	if err := machine.GuardState(cfg.Runtime.StateDir); err != nil {
		return err
	}
	if name, err := work.ParseRepoName(reason, github.DefaultHost()); err == nil {
		if _, known := cfg.Repo(name); known {
			return &cli.UsageError{Err: fmt.Errorf("--all means everything, and %q is one repository: to exclude it, remove it from the config", reason)}
		}
	}
	dirs, answer := folder.At(cfg.Runtime.StateDir), ""
	if verb == work.VerbPause {
		answer, err = a.haltAll(ctx, cfg, dirs, reason)
	} else {
		answer, err = a.endHalt(ctx, cfg, dirs)
	}
	if err != nil {
		return err
	}
	if broken != nil {
		fmt.Fprintln(a.Env.Stderr, "the config is invalid, which also stops passes:", terminal.OneLine(broken.Error()))
	}
	out := a.Output()
	if a.JSON.Asked() {
		return a.JSON.Write(out, answerView{Answer: answer})
	}
	_, err = fmt.Fprintln(out.W, out.Ours(answer))
	return err
}

func (a *app) haltAll(ctx context.Context, cfg *config.Config, dirs folder.Dirs, reason string) (string, error) {
	if err := machine.MakeFolder(dirs.State); err != nil {
		return "", err
	}
	was, _ := dirs.Halted()
	h, before, err := dirs.HaltAll(a.Secrets().Redact(reason), a.Now())
	if err != nil {
		return "", err
	}
	var fleet store.Fleet
	shared, err := a.WithFleet(ctx, cfg, func(tx *store.Tx) (err error) {
		if err = tx.PauseFleet(ctx, h.Since, a.Environ().UserName(), h.Why); err == nil {
			fleet, err = tx.GetFleet(ctx)
		}
		return err
	})
	moved, isMoved := errors.AsType[*store.MovedError](err)
	switch {
	case isMoved:
		return "", fmt.Errorf("all work on this machine is paused, but not on the others: %w, and then: gh mergexo pause --all", moved)
	case shared && err != nil:
		return "", hereOnly("all work on this machine is paused, but not on the others", err, "pause them, too: gh mergexo pause --all")
	case err != nil:
		return "", err
	case shared:
		if h, err = dirs.HaltFleet(h); err != nil {
			return "", err
		}
		h = env.HaltOf(fleet)
		if !before {
			return "Paused all work on all machines. Running agents stop within seconds; their changes are kept. To resume: gh mergexo resume --all", nil
		}
	}
	if before && h.Why != was.Why {
		return "It was paused already, and stays so since then; the reason is a new one: " + cli.HaltSays(h) + ".", nil
	}
	if before {
		return "It was paused already: " + cli.HaltSays(h) + ".", nil
	}
	return "Paused all work on this machine. Running agents stop within seconds; their changes are kept. To resume: gh mergexo resume --all", nil
}

// noteHalted notes in the database that this machine alone is paused, so that the others do not miss
// its passes. A pause needs no database: that it cannot be reached is no error.
func (a *app) noteHalted(ctx context.Context, cfg *config.Config, h *folder.Halt) error {
	if h != nil {
		_, _ = a.WithFleet(ctx, cfg, func(tx *store.Tx) error { return tx.StopMachine(ctx, work.MachinePaused) })
	}
	return ctx.Err()
}

// hereOnly is the error of a command for all machines that reached this one only.
func hereOnly(done string, err error, do string) error {
	return cli.Coded(cli.CodeDatabase, fmt.Errorf("%s: the database that they share cannot be reached (%s); when it can be, %s", done, terminal.OneLine(err.Error()), do))
}

func (a *app) endHalt(ctx context.Context, cfg *config.Config, dirs folder.Dirs) (string, error) {
	ended := false
	shared, err := a.WithFormerFleet(ctx, cfg, func(tx *store.Tx) (err error) {
		ended, err = tx.ResumeFleet(ctx)
		return err
	})
	moved, isMoved := errors.AsType[*store.MovedError](err)
	here, _ := dirs.Halted()
	switch {
	case isMoved:
		return "", fmt.Errorf("%w, and then: gh mergexo resume --all", moved)
	case shared && err != nil && here.Fleet:
		return "", cli.Coded(cli.CodeDatabase, fmt.Errorf("all machines stay paused: the database that they share cannot be reached (%s); when it can be: gh mergexo resume --all", terminal.OneLine(err.Error())))
	case err != nil && !shared:
		return "", err
	}
	was, fileErr := dirs.EndHalt()
	if fileErr != nil && ended {
		fileErr = fmt.Errorf("the other machines work again, but not this one: %w", fileErr)
	}
	switch {
	case errors.Is(fileErr, os.ErrPermission):
		return "", fmt.Errorf("%w; the state folder is not yours to change", fileErr)
	case fileErr != nil:
		return "", fileErr
	case err != nil:
		return "", hereOnly("the pause of this machine is over, but not that of the others", err, "resume all machines: gh mergexo resume --all")
	case ended:
		return "The pause of all machines is over: the next passes continue what was stopped. What people paused on GitHub stays paused.", nil
	case !was:
		return "pause --all is not in force. To resume one item: gh mergexo resume owner/name#number", nil
	}
	return "The pause of everything is over: the next pass continues what was stopped. What people paused on GitHub stays paused.", nil
}

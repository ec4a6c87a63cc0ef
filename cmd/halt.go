package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// everythingWords are the help texts of --all.
var everythingWords = map[work.Verb]struct{ flag, use, example, long string }{
	work.VerbPause: {
		"Pause everything on this machine; further arguments are the reason", "{<owner/name#number> | --all [<reason>]}", "--all checking the bill",
		`--all pauses everything on this machine at once: running agents are stopped, their
changes are kept, and no pass asks GitHub anything. tick, status and the dry run
report the pause. It needs no network and waits for no pass. To end it, run
"gh mergexo resume --all": comments made until then are answered afterwards.`,
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
		return err
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
		return a.JSON.Write(out, answerView{Command: string(verb) + " --all", Answer: answer})
	}
	_, err = fmt.Fprintln(out.W, answer)
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
	shared, err := a.withFleet(ctx, cfg, func(tx *store.Tx) error { return tx.PauseFleet(ctx, h.Since, h.Why) })
	switch {
	case shared && err != nil:
		return "Paused all work on this machine only: " + noFleet(err) + ". When it can be reached, pause the other machines, too: gh mergexo pause --all", nil
	case err != nil:
		return "", err
	case shared:
		if h, err = dirs.HaltFleet(h); err != nil {
			return "", err
		}
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

// withFleet runs fn in a transaction of the database that machines share; shared is false if this one
// shares none. Of such a one it runs fn as well if the database has what holds for several machines, from
// a time when it was shared. It does not wait long: a person who pauses everything has no time.
func (a *app) withFleet(ctx context.Context, cfg *config.Config, fn func(*store.Tx) error) (shared bool, err error) {
	m, err := a.Machine(cfg)
	if err != nil {
		return false, err
	}
	if !m.Shared() && !wasShared(ctx, cfg) {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fleetTime)
	defer cancel()
	db, err := m.OpenShared(ctx)
	if err != nil {
		return true, err
	}
	return true, errors.Join(db.Update(ctx, fn), db.Close())
}

// wasShared reports whether a database has a pause of all machines, says where it was moved to, or knows
// other machines.
func wasShared(ctx context.Context, cfg *config.Config) (was bool) {
	_, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		fleet, err := tx.GetFleet(ctx)
		if err != nil {
			return err
		}
		known, err := tx.ListMachines(ctx)
		was = !fleet.PausedAt.IsZero() || fleet.MovedTo != "" || len(known) > 1
		return err
	})
	return err == nil && was
}

// fleetTime bounds withFleet.
const fleetTime = 10 * time.Second

// noFleet says that the shared database cannot be reached.
func noFleet(err error) string {
	return "the database that it shares with other machines cannot be reached (" + terminal.OneLine(err.Error()) + ")"
}

func (a *app) endHalt(ctx context.Context, cfg *config.Config, dirs folder.Dirs) (string, error) {
	was, err := dirs.EndHalt()
	switch {
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%w; the state folder is not yours to change", err)
	case err != nil:
		return "", err
	}
	ended := false
	shared, err := a.withFleet(ctx, cfg, func(tx *store.Tx) (err error) {
		ended, err = tx.ResumeFleet(ctx)
		return err
	})
	switch {
	case errors.Is(err, store.ErrMoved):
		return "", refused("%w; name that one in the config, and then: gh mergexo resume --all", err)
	case shared && err != nil:
		return "The pause of this machine is over, but " + noFleet(err) + ". When it can be reached, resume all machines: gh mergexo resume --all", nil
	case err != nil:
		return "", err
	case ended:
		return "The pause of all machines is over: the next passes continue what was stopped. What people paused on GitHub stays paused.", nil
	case !was:
		return "pause --all is not in force. To resume one item: gh mergexo resume owner/name#number", nil
	}
	return "The pause of everything is over: the next pass continues what was stopped. What people paused on GitHub stays paused.", nil
}

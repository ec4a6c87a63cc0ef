package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// uninstallOptions are the flags of schedule remove. Those after all go with it.
type uninstallOptions struct{ all, purge, labels, force, yes bool }

// uninstall ends all that runs on this machine.
func (r *room) uninstall(ctx context.Context, opt uninstallOptions) error {
	cfg, broken, err := r.ConfigForAll()
	switch {
	case err != nil:
		return err
	case broken != nil && opt.labels:
		return fmt.Errorf("the labels of gh mergexo are unknown without a valid config: %w", broken)
	case opt.force && !opt.labels:
		return &cli.UsageError{Err: errors.New("--force needs --labels")}
	}
	dir := cfg.Runtime.StateDir
	env := r.Environ()
	if opt.purge {
		if err := machine.Purgeable(dir, env.Home, append(env.Kept(), env.ConfigPath)...); err != nil {
			return err
		}
	} else if err := machine.GuardState(dir); err != nil {
		return err
	}
	if yes, err := r.agreed(ctx, opt, cfg); err != nil || !yes {
		return err
	}
	if err := r.stop(ctx, cfg); err != nil {
		return err
	}
	stays, unread := look(ctx, cfg)
	if unread != nil && !opt.purge { // a broken database must not prevent its deletion
		return unread
	}
	var kept error
	users := stays.labelUsers(cfg, unread)
	if opt.labels && !opt.force && users != "" {
		fmt.Fprintf(r.Output().W, "Kept the labels: %s; --force deletes them.\n", users)
	} else if opt.labels { // a label that GitHub does not delete must not prevent the rest
		kept = r.dropLabels(ctx, cfg, opt.force, r.Output().W)
	}
	if err := r.purge(ctx, cfg, opt); err != nil {
		return errors.Join(kept, err)
	}
	r.printLeftovers(stays, cfg, opt, unread != nil)
	fmt.Fprintln(r.Output().W, "The last step: gh extension remove mergexo")
	return kept
}

// agreed reports whether a person, or --yes, confirms.
func (r *room) agreed(ctx context.Context, opt uninstallOptions, cfg *config.Config) (bool, error) {
	if opt.yes {
		return true, nil
	}
	var does []string
	does = append(does, "the schedule of "+r.Environ().ConfigPath+" is removed", "running agents are stopped", "everything on this machine is paused")
	if opt.labels {
		does = append(does, "labels are deleted in "+strings.Join(terminal.Each(cfg.Repos, func(x config.Repo) string { return cfg.Called(x.Name) }), ", "))
	}
	if opt.purge {
		does = append(does, "the state folder "+cfg.Runtime.StateDir+" is deleted")
	}
	out := r.Output()
	prompts, _ := r.Environ().Lookup("GH_PROMPT_DISABLED")
	if !out.CanAsk(r.Env.Stdin) || prompts != "" {
		return false, &cli.UsageError{Err: fmt.Errorf("there is no terminal to ask, and this would be done: %s; to do it, add --yes", strings.Join(does, "; "))}
	}
	yes, err := out.Confirm(ctx, r.Env.Stdin, "this is done: "+strings.Join(does, "; ")+".\nContinue?")
	if err == nil && !yes {
		fmt.Fprintln(out.W, "Nothing was done.")
	}
	return yes, err
}

// stop removes the schedule, then ends the passes.
func (r *room) stop(ctx context.Context, cfg *config.Config) error {
	if err := r.removeJobs(ctx, cfg, r.Output().W); err != nil {
		return err
	}
	dirs := folder.At(cfg.Runtime.StateDir)
	if !files.Exists(dirs.State) {
		return nil
	}
	return r.stopPasses(ctx, cfg, dirs)
}

// purge deletes the state folder if --purge is given.
func (r *room) purge(ctx context.Context, cfg *config.Config, opt uninstallOptions) error {
	dir := cfg.Runtime.StateDir
	if !opt.purge || !files.Exists(dir) {
		return nil
	}
	planning, ok, err := folder.At(dir).LockPlanning(ctx, 0, r.Now())
	if err == nil && !ok {
		err = errors.New("a pass has started; run again: gh mergexo schedule remove --all --purge")
	}
	if err != nil {
		return err
	}
	defer planning.Unlock()
	r.forgetThis(ctx, cfg)
	if err := machine.Purge(dir); err != nil {
		return err
	}
	fmt.Fprintf(r.Output().W, "Deleted: %s.\n", dir)
	return nil
}

// forgetThis takes this machine out of those that share its database: nothing of it is left.
func (r *room) forgetThis(ctx context.Context, cfg *config.Config) {
	name := cli.ThisMachine(cfg)
	shared, err := r.WithFleet(ctx, cfg, func(tx *store.Tx) error { _, err := tx.ForgetMachine(ctx, name); return err })
	if moved, is := errors.AsType[*store.MovedError](err); is {
		fmt.Fprintf(r.Env.Stderr, "%s; on a machine that uses that one: gh mergexo machines forget %s\n", moved.Says(), name)
	} else if shared && err != nil {
		fmt.Fprintf(r.Env.Stderr, "the database that it shares with other machines cannot be reached (%s); on one of them: gh mergexo machines forget %s\n", terminal.OneLine(err.Error()), name)
	}
}

// printLeftovers prints what is left, and the last command to type.
func (r *room) printLeftovers(stays leftovers, cfg *config.Config, opt uninstallOptions, unknown bool) {
	out := r.Output()
	if unknown {
		fmt.Fprintln(out.W, "What stays on GitHub is not known: the database could not be read.")
	}
	if len(stays.pulls) > 0 {
		fmt.Fprintln(out.W, "These pull requests stay open on GitHub, with their branches (as of the last pass):")
		for _, p := range stays.pulls {
			fmt.Fprintf(out.W, "  %s  %s  %s\n", p.url, p.branch, terminal.OneLine(p.title))
		}
	}
	if len(stays.branches) > 0 {
		fmt.Fprintf(out.W, "These branches may stay without a pull request: %s\n", strings.Join(stays.branches, ", "))
	}
	if !opt.labels {
		fmt.Fprintln(out.W, "Labels, comments and merged pull requests stay on GitHub; --labels deletes the labels.")
	} else {
		fmt.Fprintln(out.W, "Comments and merged pull requests stay on GitHub.")
	}
	if key := cfg.Runtime.DatabaseKey(); key != "" {
		fmt.Fprintf(out.W, "The database that %s names stays.\n", key)
	}
	if name := cli.ThisMachine(cfg); !opt.purge && len(stays.machines) > 0 {
		fmt.Fprintf(out.W, "To take this machine out for good, on %s: gh mergexo machines forget %s\n", stays.machines[0], name)
	}
	if !opt.purge && files.Exists(cfg.Runtime.StateDir) {
		fmt.Fprintf(out.W, "The state folder %s stays; --purge deletes it. Everything is paused. To continue: gh mergexo resume --all, then gh mergexo schedule install.\n", cfg.Runtime.StateDir)
	}
	own, _ := filepath.Abs(r.Environ().ConfigPath) // in the form in which passes record it
	for _, other := range stays.others {
		if other != own {
			fmt.Fprintf(out.W, "%s has used the same state folder; to remove its schedule: gh mergexo schedule remove --config %s\n", other, other)
		}
	}
	if _, err := os.Stat(r.Environ().ConfigPath); err == nil {
		fmt.Fprintf(out.W, "The config stays: %s\n", r.Environ().ConfigPath)
	}
}

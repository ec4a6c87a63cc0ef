package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// uninstall ends all that runs on this machine.
func (r *room) uninstall(ctx context.Context, yes bool) error {
	cfg, _, err := r.ConfigForAll()
	if err != nil {
		return err
	}
	if err := machine.GuardState(cfg.Runtime.StateDir); err != nil {
		return err
	}
	if !yes {
		if yes, err = r.agreed(ctx); err != nil || !yes {
			return err
		}
	}
	if err := r.stop(ctx, cfg); err != nil {
		return err
	}
	r.printLeftovers(cfg)
	return nil
}

// agreed reports whether a person confirms.
func (r *room) agreed(ctx context.Context) (bool, error) {
	does := "the schedule of " + r.Environ().ConfigPath + " is removed; running agents are stopped; everything on this machine is paused"
	out := r.Output()
	prompts, _ := r.Environ().Lookup("GH_PROMPT_DISABLED")
	if !out.CanAsk(r.Env.Stdin) || prompts != "" {
		return false, &cli.UsageError{Err: fmt.Errorf("there is no terminal to ask, and this would be done: %s; to do it, add --yes", does)}
	}
	yes, err := out.Confirm(ctx, r.Env.Stdin, "this will be done: "+does+".\nContinue?")
	if err == nil && !yes {
		fmt.Fprintln(out.W, "Nothing was done.")
	}
	return yes, err
}

// stillWithin is how long passes may take to end: they stop their agents within seconds.
const stillWithin = 2 * time.Minute

// stop removes the schedule, pauses all work on this machine, waits until no pass runs, and ends the
// programs that a killed pass left running.
func (r *room) stop(ctx context.Context, cfg *config.Config) error {
	none, err := r.removeJobs(ctx, cfg, r.Output().W)
	if err != nil {
		return err
	}
	if none != "" {
		fmt.Fprintf(r.Output().W, "%s.\n", work.Upper(none))
	}
	dirs := folder.At(cfg.Runtime.StateDir)
	if !files.Exists(dirs.State) {
		return nil
	}
	if _, _, err := dirs.HaltAll("gh mergexo schedule remove --all", r.Now()); err != nil {
		return err
	}
	late := time.After(stillWithin)
	for told := false; ; told = true {
		held, err := dirs.HeldLocks()
		if err != nil {
			return err
		}
		if len(held) == 0 {
			break
		}
		passes, err := dirs.Passes(cfg.PassLimits(), r.Now())
		if err != nil {
			return err
		}
		if v := work.JudgePasses(passes); v.Code == work.PassesHang { // it would not end
			return fmt.Errorf("%s; everything is paused, and nothing else was done; then run again: gh mergexo schedule remove --all", v.Line())
		}
		if !told {
			fmt.Fprintln(r.Env.Stderr, "a pass is running; waiting for its end")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("a pass is still running after %s (%s); everything is paused, and nothing else was done; run again: gh mergexo schedule remove --all", stillWithin, strings.Join(held, ", "))
		case <-time.After(200 * time.Millisecond):
		}
	}
	n, err := r.endMarked(ctx, cfg, dirs)
	if err != nil {
		fmt.Fprintln(r.Env.Stderr, "could not look for processes of a killed pass:", err)
	}
	if n > 0 {
		fmt.Fprintf(r.Output().W, "Stopped: %s of a killed pass.\n", work.Count(n, "program"))
	}
	fmt.Fprintln(r.Output().W, "Everything on this machine is paused, and no agent is running.")
	return nil
}

// endMarked ends processes that killed passes left behind, turn by turn.
func (r *room) endMarked(ctx context.Context, cfg *config.Config, dirs folder.Dirs) (n int, err error) {
	var turns []work.Turn
	_, err = machine.View(ctx, cfg, func(tx *store.Tx) (err error) {
		turns, err = tx.ListUnfinishedTurns(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	m, err := machine.Open(machine.Options{Config: cfg, Env: r.Environ(), Now: r.Now})
	if err != nil {
		return 0, err
	}
	marks := env.Env{Dirs: dirs}
	for _, t := range turns {
		ended, markErr := m.EndMarked(ctx, marks.Mark(t))
		n, err = n+ended, errors.Join(err, markErr)
	}
	return n, err
}

// printLeftovers prints what is left, and the last command to type.
func (r *room) printLeftovers(cfg *config.Config) {
	w := r.Telling(r.Output().W)
	fmt.Fprintln(w, "Pull requests with their branches, labels and comments stay on GitHub. Those that are open:")
	for i := range cfg.Repos {
		fmt.Fprintf(w, "  gh pr list --repo %s --author %s\n", cfg.Repos[i].Name, cmp.Or(cfg.Repos[i].Account, "@me"))
	}
	if key := cfg.Runtime.DatabaseKey(); key != "" {
		fmt.Fprintf(w, "The database that %s names stays.\n", key)
		fmt.Fprintf(w, "To take this machine out for good, on another one: gh mergexo machines forget %s\n", cli.ThisMachine(cfg))
	}
	if dir := cfg.Runtime.StateDir; files.Exists(dir) {
		fmt.Fprintf(w, "The state folder stays, and everything is paused. To continue: gh mergexo resume --all, then gh mergexo schedule install. To delete it: rm -rf %q\n", dir)
	}
	if config := r.Environ().ConfigPath; files.Exists(config) {
		fmt.Fprintf(w, "The config stays: %s\n", config)
	}
	fmt.Fprintln(w, "The last step: gh extension remove mergexo")
}

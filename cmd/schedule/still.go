package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// leftovers is what uninstall leaves in place.
type leftovers struct {
	pulls    []pull
	branches []string // of items without a pull request
	others   []string // configs that use the same state folder
	machines []string // other machines that share the database
}

type pull struct{ url, branch, title string }

// look reads from the database what uninstall leaves in place, as of the last pass.
func look(ctx context.Context, cfg *config.Config) (s leftovers, err error) {
	_, err = machine.View(ctx, cfg, func(tx *store.Tx) error {
		here := cli.ThisMachine(cfg)
		machines, err := tx.ListMachines(ctx)
		if err != nil {
			return err
		}
		for _, m := range machines {
			if cfg.Runtime.DatabaseKey() != "" && m.Name != here {
				s.machines = append(s.machines, m.Name)
			}
		}
		known, err := tx.ListRepos(ctx)
		for _, r := range known {
			by, ours := r.NamedBy, true
			if cfg.Runtime.DatabaseKey() != "" {
				by, ours = strings.CutPrefix(by, store.ConfigOf(here, ""))
			}
			if by != "" && ours && !slices.Contains(s.others, by) {
				s.others = append(s.others, by)
			}
			if err = errors.Join(err, s.repo(ctx, tx, r)); err != nil {
				return err
			}
		}
		return err
	})
	return s, err
}

// labelUsers says who may need the labels once this machine is gone; empty: nobody.
func (s *leftovers) labelUsers(cfg *config.Config, unread error) string {
	switch {
	case len(s.machines) > 0:
		return "these machines share the database and use them: " + work.JoinNames(s.machines)
	case unread != nil && cfg.Runtime.DatabaseKey() != "":
		return "the database cannot be reached, and other machines may use them"
	}
	return ""
}

func (s *leftovers) repo(ctx context.Context, tx *store.Tx, r work.Repo) error {
	items, err := tx.ListOpenItems(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.Flow == work.FlowReview {
			continue // not ours
		}
		p, found, err := tx.FindPullOfItem(ctx, i.ID)
		switch {
		case err != nil:
			return err
		case found && p.State == work.PullOpen:
			s.pulls = append(s.pulls, pull{p.URL, p.Branch, p.Title})
		case !found && i.Branch != "":
			s.branches = append(s.branches, r.Name.FullName()+" "+i.Branch)
		}
	}
	return nil
}

// How long passes may take to end: they stop their agents within seconds.
const (
	stillWithin = 2 * time.Minute
	stillPoll   = 200 * time.Millisecond
)

// stopPasses pauses all work on this machine, waits until no pass runs, and ends the programs that
// a killed pass left running.
func (r *room) stopPasses(ctx context.Context, cfg *config.Config, dirs folder.Dirs) error {
	w := r.Output().W
	if _, _, err := dirs.HaltAll("gh mergexo schedule remove --all", r.Now()); err != nil {
		return err
	}
	if err := r.await(ctx, dirs, cfg.PassLimits()); err != nil {
		return err
	}
	n, err := r.endMarked(ctx, cfg, dirs)
	if err != nil {
		fmt.Fprintln(r.Env.Stderr, "could not look for processes of a killed pass:", err)
	}
	if n > 0 {
		fmt.Fprintf(w, "Stopped: %s of a killed pass.\n", work.Count(n, "program"))
	}
	fmt.Fprintln(w, "Everything on this machine is paused, and no agent is running.")
	return nil
}

// await waits until no pass of this machine holds a lock. It does not wait for one that hangs.
func (r *room) await(ctx context.Context, dirs folder.Dirs, limits work.PassLimits) error {
	bound := time.NewTimer(stillWithin)
	defer bound.Stop()
	told := false
	for {
		held, err := dirs.HeldLocks()
		if err != nil || len(held) == 0 {
			return err
		}
		passes, err := dirs.Passes(limits, r.Now())
		if err != nil {
			return err
		}
		if v := work.JudgePasses(passes); v.Code == work.PassesHang {
			return fmt.Errorf("%s; everything is paused, and nothing else was done; then run again: gh mergexo schedule remove --all", v.Line())
		}
		if !told {
			fmt.Fprintln(r.Env.Stderr, "a pass is running; waiting for its end")
			told = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-bound.C:
			return fmt.Errorf("a pass is still running after %s (%s); everything is paused, and nothing else was done; run again: gh mergexo schedule remove --all", stillWithin, holders(passes, held))
		case <-time.After(stillPoll):
		}
	}
}

// holders names the processes of running passes, or else the held locks.
func holders(passes work.PassFacts, held []string) string {
	if len(passes.Begun) == 0 {
		return strings.Join(held, ", ")
	}
	var all []string
	for _, b := range passes.Begun {
		all = append(all, fmt.Sprintf("process %d, since %s", b.PID, work.Stamp(b.At)))
	}
	return strings.Join(all, "; ")
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

package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// failures are what a pass prints of its failures, because cron mails each line: one that lasts, once
// an hour. Nil prints everything, as for a person, or for a program that reads JSON.
type failures struct {
	a      *app
	dirs   folder.Dirs
	before work.Failings
	met    []work.Failure // in this pass
	noted  int            // how many of these are stored
	told   bool           // a cause was printed
	read   []string       // repositories that the pass read; nil: it did not come so far
}

// failuresOf returns the failures of a pass; nobody reads those of a detached one but in its log.
func (a *app) failuresOf(opt *tickOptions, state string) *failures {
	if a.JSON.Asked() || a.Output().TTY || opt.now || opt.dryRun || opt.detached || machine.GuardState(state) != nil {
		return nil
	}
	dirs := folder.Dirs{State: state}
	return &failures{a: a, dirs: dirs, before: dirs.Failing()}
}

// tell returns whether to print a failure, and what to add to its line.
func (x *failures) tell(f work.Failure) (more string, tell bool) {
	if x == nil {
		return "", true
	}
	if !slices.Contains(x.met, f) {
		x.met = append(x.met, f)
	}
	more, tell = x.before.Tell(f, x.a.Now())
	x.told = x.told || tell
	return more, tell
}

// sees notes what the pass read.
func (x *failures) sees(rep *env.Report, cfg *config.Config) {
	if x == nil || rep.Skipped != "" || rep.Halt != nil {
		return
	}
	x.read = []string{}
	for _, r := range cfg.Repos {
		if slices.ContainsFunc(rep.Repos(), func(done env.RepoReport) bool {
			return done.Ingested && !done.Failed && done.Repo == cfg.Called(r.Name)
		}) {
			x.read = append(x.read, env.PlaceOf(r.Name))
		}
	}
}

// note stores what was printed. What cannot be stored is printed again.
func (x *failures) note(ctx context.Context) {
	if x == nil || len(x.met) == x.noted && (x.read == nil || len(x.before) == 0) {
		return
	}
	_ = x.dirs.NoteFailing(context.WithoutCancel(ctx), func(all work.Failings) work.Failings {
		all = all.Met(x.met[x.noted:], x.a.Now())
		if x.read == nil {
			return all
		}
		return all.Over(x.met, x.read)
	})
	x.noted = len(x.met)
}

// end prints why the pass failed, unless that is quiet, and returns its exit code as an error.
func (x *failures) end(ctx context.Context, c *cobra.Command, err error) error {
	if x == nil {
		return err
	}
	defer func() { x.note(ctx) }()
	_, usage := errors.AsType[*cli.UsageError](err)
	if err == nil || usage || errors.Is(err, context.Canceled) || cli.Unwritten(err) != nil {
		return err
	}
	_, said := errors.AsType[*cli.CodeError](err)
	if unread, all := errors.AsType[*unreadError](err); all && !said && x.told {
		x.a.report(c, unread)
	}
	if rest := unsaid(err); rest != nil {
		v, gist := cli.ViewError(rest, x.a.StateDir, ""), rest.Error()
		if v.Code == cli.CodeDatabase {
			gist = v.Do // a server that is away is away in many words, and one thing ends it
		}
		more, tell := x.tell(work.Failure{Kind: string(v.Code), Gist: work.Gist(gist)})
		if v.Code == cli.CodeDatabase && !tell {
			return nil // as of a host that does not answer
		}
		if tell {
			x.a.report(c, rest)
		}
		if more != "" {
			fmt.Fprintln(x.a.Env.Stderr, strings.TrimSpace(more))
		}
	}
	return &cli.CodeError{Code: exitCode(err)}
}

// unsaid returns an error without those that are printed with their causes. One that has none of them
// keeps its own words.
func unsaid(err error) error {
	_, coded := errors.AsType[*cli.CodeError](err)
	if _, all := errors.AsType[*unreadError](err); !coded && !all {
		return err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return errors.Join(terminal.Each(joined.Unwrap(), unsaid)...)
	}
	_, said := errors.AsType[*cli.CodeError](err)
	if _, all := errors.AsType[*unreadError](err); said || all {
		return nil
	}
	return err
}

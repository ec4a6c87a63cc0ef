package schedule

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// share is which share of the repositories the passes are to take: the one that is asked for,
// else the one that this machine was told of last, by whomever, else the one that is installed,
// else all.
func share(cfg *config.Config, asked cli.Share, all []standing) (shard.Shard, error) {
	if asked.Told {
		return asked.Shard, nil
	}
	found, err := folder.Dirs{State: cfg.Runtime.StateDir}.Share()
	if err != nil {
		return shard.Shard{}, err
	}
	return shard.Parse(cmp.Or(found, installed(all), shard.Shard{}.Argument()))
}

// installed is the share that is scheduled; empty: all repositories, or nothing is scheduled.
func installed(all []standing) (found string) {
	for _, st := range all {
		found = cmp.Or(found, st.found.Job.Shard)
	}
	return found
}

// shareDiffers says that a share would be written now that is not scheduled, or that nobody knows
// which.
func shareDiffers(cfg *config.Config, in standing, all []standing) []string {
	now, err := share(cfg, cli.Share{}, all)
	was := in.found.Job.Shard
	switch {
	case err != nil:
		return []string{fmt.Sprintf("nobody knows which share it is to take: %v", err)}
	case was == now.String():
		return nil
	case was == "":
		return []string{fmt.Sprintf("it starts passes without --shard, and this machine was last told --shard %s", now)}
	}
	return []string{fmt.Sprintf("it starts passes with --shard %s, and this machine was last told --shard %s", was, now.Argument())}
}

// tellShare says which share of the repositories the passes take, and which one this machine
// kept before; nothing where there is one machine, as there was.
func tellShare(a *cli.App, now shard.Shard, before, scheduled string) {
	if was, err := shard.Parse(before); scheduled != "" || !now.All() || err == nil && was != now {
		fmt.Fprintf(a.Output().W, "This is %s.\n", NotAnyMore(now, before))
	}
}

// NotAnyMore names a machine by its share and, where it had another one before, by that.
func NotAnyMore(now shard.Shard, before string) string {
	if was, err := shard.Parse(before); err == nil && was != now && !was.All() {
		return now.Machine() + ", and not " + was.Machine() + " any more"
	}
	return now.Machine()
}

// OtherShare says that what is scheduled takes another share than a pass was told of, and what
// to type; empty: it does not.
func OtherShare(ctx context.Context, a *cli.App, cfg *config.Config, now shard.Shard) string {
	p, err := newPlan(cfg, a.Environ(), a.Now())
	if err != nil {
		return ""
	}
	for _, st := range p.survey(ctx).all {
		if theirs := st.found.Job.Shard; theirs != "" && theirs != now.String() {
			return fmt.Sprintf("%s starts passes with --shard %s, and the next one takes that share again; so that it takes what this pass does: gh mergexo schedule install --shard %s", st.s.Kind(), theirs, now.Argument())
		}
	}
	return ""
}

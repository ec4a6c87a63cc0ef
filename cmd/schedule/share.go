package schedule

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/shard"
)

// tellShare says which share of the repositories the passes take, and which one this machine
// kept before; nothing where there is one machine, as there was.
func (p plan) tellShare(a *cli.App, asked cli.Share, before string) {
	text := cmp.Or(p.job.Shard, before)
	if asked.Told {
		text = p.job.Shard
	}
	if now, err := shard.Parse(cmp.Or(text, "all")); err == nil && text+before != "" {
		fmt.Fprintf(a.Output().W, "This is %s.\n", NotAnyMore(now, before))
	}
}

// NotAnyMore names a machine by its share and, where it was told of another one before, by that.
func NotAnyMore(now shard.Shard, before string) string {
	if was, err := shard.Parse(before); err == nil && was != now {
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

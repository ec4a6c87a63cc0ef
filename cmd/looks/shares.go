package looks

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Present is the share of the repositories that this machine was told of last: the next pass
// takes it.
func Present(cfg *config.Config) (shard.Shard, error) {
	kept, err := folder.Dirs{State: cfg.Runtime.StateDir}.Share()
	if err != nil || kept == "" {
		return shard.Shard{}, err
	}
	return shard.Parse(kept)
}

// judged is who works on a repository, by the share of the next pass.
type judged struct {
	work.Share
	late bool // the last pass judged by another one
}

// shareIn finds out who works on each repository. The last pass stored that by the share that it
// had; where this machine was told of another one since, that one counts.
func shareIn(ctx context.Context, tx *store.Tx, cfg *config.Config) (func(work.Repo) judged, error) {
	known, err := tx.ListShares(ctx)
	if err != nil {
		return nil, err
	}
	now, unreadable := Present(cfg)
	return func(r work.Repo) judged {
		s, ok := known[r.ID]
		if r.NodeID == "" || unreadable != nil { // PrintShare and doctor say what is wrong with the share
			return judged{Share: s}
		}
		return judge(s, ok, now, r)
	}, nil
}

// judge has what was stored of a repository be by another share. One that comes to this machine
// comes no more once it was asked for in vain: what failed then is what it waits for.
func judge(s work.Share, known bool, now shard.Shard, r work.Repo) judged {
	takes := now.Takes(r.NodeID)
	if !known {
		if takes {
			return judged{}
		}
		return judged{Share: work.Share{Shard: now.String(), Theirs: true}, late: true}
	}
	late := s.Shard != now.String()
	s.Comes = s.Theirs && takes && !s.Held() && r.Failures == 0
	s.Shard, s.Theirs = now.String(), !takes
	return judged{s, late}
}

// Today is a repository's row without what the last pass was told and is not so any more: of
// another machine's repository nothing is expected here, but that it is handed back.
func (w Repo) Today(r work.Repo, now time.Time) work.Repo {
	switch {
	case w.Share.Theirs && w.Share.Held() && !w.late && r.Failures > 0:
		r.NotBefore = time.Time{} // each pass tries to
	case w.Share.Left():
		r.LastError, r.Failures, r.NotBefore = "", 0, time.Time{}
	case w.late && w.Share.Elsewhere() && r.Failures == 0 && r.LastError != "":
		r.LastError = explain.What(w.Share.Reason("", now), explain.Place{})
	}
	return r
}

// Machine names this machine among those that share the repositories.
func Machine(s work.Share) string {
	this, err := shard.Parse(s.Shard)
	if err != nil {
		return "this machine"
	}
	return "this machine, " + this.Machine()
}

// PrintTheirs names the repositories that other machines work on.
func (l *Lines) PrintTheirs(notes io.Writer) {
	for _, share := range slices.Sorted(maps.Keys(l.theirs)) {
		is := "is"
		if len(l.theirs[share]) > 1 {
			is = "are"
		}
		fmt.Fprintf(notes, "%s %s not in the share of %s\n", cli.Enumerate(l.theirs[share]), is, Machine(work.Share{Shard: share}))
	}
	if len(l.comes) > 0 {
		fmt.Fprintf(notes, "%s: in another machine's share so far; the next pass asks whether that one is done\n", cli.Enumerate(l.comes))
	}
}

// PrintShare says that nobody can read which share of the repositories this machine takes; and
// before its first pass it names the machine, where it takes one.
func PrintShare(notes io.Writer, cfg *config.Config, seen bool) {
	now, err := Present(cfg)
	switch {
	case err != nil:
		fmt.Fprintf(notes, "no pass is made here: %s\n", terminal.OneLine(err.Error()))
	case !seen && !now.All():
		fmt.Fprintf(notes, "this is %s; the first pass finds out which repositories its share has\n", now.Machine())
	}
}

package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/share"
)

// Several machines may share the repositories (--shard): see the room share. A pass gives
// back what belongs to another machine's share, and takes what belongs to its own, before it
// asks GitHub for anything else. Without --shard nothing of this costs anything.

// sharing is what a pass knows of that.
type sharing struct {
	shares *share.Shares // of --shard
	whole  bool          // the pass takes all repositories
}

// anothersShare is why a turn ends that was not begun while this machine had its repository.
const anothersShare = "its repository belongs to another machine's share, or did"

// shareOut prepares a pass of one share.
func shareOut(p *Pass) error {
	if p.whole = p.Shard.All(); p.whole {
		return nil
	}
	return beginShares(p)
}

// beginShares has a pass take and hand back repositories.
func beginShares(p *Pass) error {
	me, err := p.Dirs.Installation(folder.MachineID())
	if err != nil {
		return fmt.Errorf("find out which installation this is: %w", err)
	}
	p.shares = share.New(p.Env, me, p.ingest)
	p.Holds = p.shares
	return nil
}

// loadShares reads who works on which repository; where one machine has them all nothing
// is kept of that.
func loadShares(ctx context.Context, p *Pass, tx *store.Tx) error {
	switch {
	case p.shares != nil:
		return errors.Join(p.shares.Own(ctx, tx), p.shares.Load(ctx, tx))
	case p.whole:
		return endShares(ctx, p, tx)
	}
	return nil // a command, or a dry run
}

// endShares forgets who works on which repository: this machine has them all again, once no
// other one holds any of them and what those did is read.
func endShares(ctx context.Context, p *Pass, tx *store.Tx) error {
	known, err := tx.ListShares(ctx)
	if err != nil || len(known) == 0 {
		return err
	}
	for _, r := range p.All {
		if s, ok := known[r.Row.ID]; ok && !s.Held() {
			return errors.Join(beginShares(p), p.shares.Load(ctx, tx))
		}
	}
	return tx.DropShares(ctx)
}

// mayFinish reports whether a turn may be carried on in a repository: also in one that is
// another machine's by now, for as long as this one holds it and its agent has answered.
func mayFinish(p *Pass, r *env.Repo, t work.Turn) bool {
	if p.shares == nil {
		return p.Selected(r)
	}
	return p.shares.Mine(r) && (p.Shard.Takes(r.Row.NodeID) || t.Step != work.StepClaimed)
}

// notOurs reports whether a turn is let go: another machine may have worked on its repository
// since, or is to.
func notOurs(p *Pass, r *env.Repo, t work.Turn) bool {
	if p.shares == nil || !p.Named(r) {
		return false
	}
	return p.shares.Lost(r) || p.shares.Mine(r) && !mayFinish(p, r, t)
}

// settledAtOnce is how many repositories are taken or handed back at a time: each takes git, a
// connection and a mirror.
const settledAtOnce = 8

// settleShares takes and hands back repositories, some at a time, for as long as a repository
// is read. What there is no time for waits for the next pass. What fails concerns one
// repository.
func settleShares(ctx context.Context, p *Pass, rep *env.Report) {
	if p.shares == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.Config.Runtime.IngestTimeout)
	defer cancel()
	slots := make(chan struct{}, settledAtOnce)
	var wg sync.WaitGroup
	for _, r := range p.Repositories() {
		if !p.Named(r) {
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil && !p.shares.Mine(r) {
			rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) {
				if x.Untaken = !elsewhere(p, r); x.Untaken {
					x.Note = "it is taken by one of the next passes"
				}
			})
			tellShare(p, r, rep)
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			settleShare(ctx, p, r, rep)
		})
	}
	wg.Wait()
}

func settleShare(ctx context.Context, p *Pass, r *env.Repo, rep *env.Report) {
	if until, waits := p.Postponed(r); waits && !p.shares.Mine(r) && !elsewhere(p, r) {
		rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) {
			x.Untaken, x.Note, x.Until, x.Causes = true, r.Row.LastError, &until, p.shares.StillHeld(r)
		})
		tellShare(p, r, rep)
		return
	}
	wanted := !p.shares.Mine(r) && p.Shard.Takes(r.Row.NodeID)
	rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) { x.Asked = wanted || r.Row.NodeID == "" })
	err := p.ingest.Identify(ctx, r, wanted)
	tellShare(p, r, rep)
	if err == nil && p.Shard.Takes(r.Row.NodeID) {
		err = p.shares.Take(ctx, r)
	} else if err == nil {
		err = handBack(ctx, p, r)
	}
	p.ingest.Conclude(ctx, r, err, rep)
	if !p.shares.Mine(r) {
		rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) { x.Untaken = !x.Elsewhere })
	}
}

// handBack gives a repository back. What failed there before is over once that goes well: nothing
// else of it is due here.
func handBack(ctx context.Context, p *Pass, r *env.Repo) error {
	err := p.shares.GiveBack(ctx, r)
	if err != nil || r.Row.Failures == 0 {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error { return tx.DeferRepo(ctx, r.Row.ID, time.Time{}, "", false) })
}

// tellShare says of a repository whose it is.
func tellShare(p *Pass, r *env.Repo, rep *env.Report) {
	if p.Shard.All() || r.Row.NodeID == "" || !p.Named(r) {
		return
	}
	owner := p.Shard.Owner(r.Row.NodeID)
	rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) {
		x.Share = owner.String()
		if elsewhere(p, r) {
			x.Elsewhere, x.Note = true, fmt.Sprintf("belongs to machine %d of %d", owner.Index, owner.Of)
		}
	})
}

// elsewhere reports whether a repository belongs to another machine's share.
func elsewhere(p *Pass, r *env.Repo) bool {
	return r.Row.NodeID != "" && !p.Shard.Takes(r.Row.NodeID)
}

// shareLocally has a command about a repository keep to the share of the passes on this
// machine. Where another machine works on the repository it is refused: this database would
// not know of what that one does. So it is where passes take all repositories again, and still
// wait for that one. or is what else somebody may do.
func shareLocally(ctx context.Context, p *Pass, r *env.Repo, or string) error {
	kept, err := p.Dirs.Share()
	if err != nil {
		return err
	}
	if p.Shard, err = shard.Parse(cmp.Or(kept, shard.Shard{}.Argument())); err != nil {
		return err
	}
	if err := shareOut(p); err != nil {
		return err
	}
	var s work.Share
	var known bool
	err = p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if err := loadShares(ctx, p, tx); err != nil {
			return err
		}
		s, known, err = tx.GetShare(ctx, r.Row.ID)
		return err
	})
	if err != nil || p.shares == nil {
		return err
	}
	return notHere(p, r, s, known, or)
}

// NotHereError is that a command is not for this machine, or not yet.
type NotHereError struct {
	Why string
	Do  string // what to do instead
}

func (e *NotHereError) Error() string { return e.Why }

// notHere judges by the share that this machine has now: the last pass may have had another one.
func notHere(p *Pass, r *env.Repo, s work.Share, known bool, or string) error {
	const pass = "gh mergexo tick"
	name, there := r.Name.FullName(), "give the command on the machine that has it"+or
	switch {
	case elsewhere(p, r):
		return &NotHereError{fmt.Sprintf("%s is not in the share of this machine, %s: %s", name, p.Shard.Machine(), there), there}
	case !known && p.Shard.All(): // no other machine had it
		return nil
	case !known:
		return &NotHereError{fmt.Sprintf("nobody knows here which machine works on %s; make a pass first: %s", name, pass), pass}
	case !s.Held() && s.Theirs:
		return &NotHereError{fmt.Sprintf("%s is in the share of this machine, %s, and the next pass takes it; make one first: %s", name, p.Shard.Machine(), pass), pass}
	case !s.Held():
		s.Shard = p.Shard.String()
		return &NotHereError{explain.What(s.Reason(name, r.GitHub.Now()), explain.Place{}) + ": give the command there" + or, there}
	}
	return nil
}

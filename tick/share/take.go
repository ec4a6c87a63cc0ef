package share

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// adopt has the next ingest look for what another machine did before.
func (s *Shares) adopt(ctx context.Context, tx *store.Tx, row work.Repo) (work.Repo, error) {
	return row, s.ingest.AdoptLater(ctx, tx, row.ID)
}

// beginAgain has a repository begin as with a lost database: another machine may have done
// what is known here as not done.
func (s *Shares) beginAgain(ctx context.Context, tx *store.Tx, row work.Repo) (work.Repo, error) {
	return tx.BeginAgain(ctx, row)
}

// forget drops what the mirror keeps of this machine's turns: what they were to say or to push
// another machine may have said and pushed in its own words. That merging was stopped goes, too,
// where the remote was told: whether it is by now the remote says.
func (s *Shares) forget(ctx context.Context, r *env.Repo) error {
	keys, err := r.Git().Journals(ctx)
	if err != nil {
		return err
	}
	if err := r.Git().DropTurns(ctx, keys...); err != nil {
		return err
	}
	return s.forgetStop(ctx, r)
}

// forgetUnknown has a machine forget that lost its database, and does not hold the repository:
// whether another one had it since nobody knows here any more.
func (s *Shares) forgetUnknown(ctx context.Context, r *env.Repo, held git.Hold) error {
	if held.By == s.me || !r.Row.IssuesSince.IsZero() { // what the database knows of is judged by it
		return nil
	}
	return s.forget(ctx, r)
}

// Take has this machine hold a repository of its share, and adopts what another one did there
// before. A *work.WaitError says that another one works on it still.
func (s *Shares) Take(ctx context.Context, r *env.Repo) error {
	defer s.alone(r)()
	if s.Mine(r) {
		return s.stay(ctx, r)
	}
	if err := s.ready(ctx, r); err != nil {
		return err
	}
	held, at, err := r.Git().ReadHold(ctx)
	if err != nil {
		return err
	}
	now := r.GitHub.Now()
	lost := s.Lost(r)
	if at != "" && held.By != s.me {
		if !lost && s.worked(ctx, r) { // what is left of our own turns is let go first
			return s.leaveTo(ctx, r, held)
		}
		if held.Until.After(now) && held.Until.Before(now.Add(longest)) {
			return s.leaveTo(ctx, r, held) // so that a command here knows
		}
	}
	next := git.Hold{By: s.me, Since: now, Until: now.Add(env.Shortly)}
	if held.By == s.me { // the database was lost, and what it knew is ours
		next.Since = held.Since
		next = lengthen(held, next, now)
	}
	next.Stopped = held.Stopped
	if !lost {
		if err := s.forgetUnknown(ctx, r, held); err != nil {
			return err
		}
		return s.begin(ctx, r, held, next, at, s.adopt)
	}
	if s.underWay(ctx, r) { // by a pass that still runs
		return s.wait(r, work.Reason{Kind: work.WhyRepoHeld, Name: r.Name.FullName(), Local: "a turn that this machine began before another one had it is not over"})
	}
	if err := s.forget(ctx, r); err != nil {
		return err
	}
	return s.begin(ctx, r, held, next, at, s.beginAgain)
}

// stay keeps a repository that was to be given back, and belongs to this machine's share again.
func (s *Shares) stay(ctx context.Context, r *env.Repo) error {
	mine := s.share(r)
	if !mine.Until.IsZero() {
		return nil
	}
	if err := s.ready(ctx, r); err != nil {
		return err
	}
	now := r.GitHub.Now()
	return s.move(ctx, r, git.Hold{By: s.me, Since: now, Until: now.Add(env.Shortly)}, mine.OID, nil)
}

// worked reports whether turns of ours in a repository are not over.
func (s *Shares) worked(ctx context.Context, r *env.Repo) bool {
	n, err := s.unfinished(ctx, r, func(work.Turn) bool { return true })
	return n > 0 || err != nil
}

// underWay reports whether another pass of this machine works on a turn of a repository.
func (s *Shares) underWay(ctx context.Context, r *env.Repo) bool {
	n, err := s.unfinished(ctx, r, func(t work.Turn) bool { return s.InFlight(t.Key) })
	return n > 0 || err != nil
}

package share

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// That merging is stopped in a repository its own ref says (env.TellStop). Where that ref
// cannot be pushed each hold that is pushed says so instead, to whoever has the repository
// next.

// tellStop tells the remote of a repository that another machine has by now: this one stopped
// merging there, and then could not say so.
func (s *Shares) tellStop(ctx context.Context, r *env.Repo) error {
	if !slices.Contains(s.halts, r.Row.ID) {
		return nil
	}
	if err := s.ready(ctx, r); err != nil {
		return err
	}
	return env.TellStop(ctx, s.Env, r)
}

// passOn gives a repository back by a hold that is over and says that merging is stopped, since
// the ref for that was not taken.
func (s *Shares) passOn(ctx context.Context, r *env.Repo, mine work.Share, untaken error) error {
	why, err := env.UntoldStop(ctx, s.Env, r)
	if err != nil || why == "" {
		return errors.Join(untaken, err)
	}
	now := r.GitHub.Now()
	_, err = r.Git().PutHold(ctx, git.Hold{By: s.me, Since: now, Until: now, Stopped: why}, mine.OID)
	if _, moved := errors.AsType[*git.TakenError](err); moved { // nobody knows what that one was told
		return s.put(ctx, r, work.Share{}, nil)
	}
	if err != nil {
		return errors.Join(untaken, err)
	}
	return s.put(ctx, r, work.Share{}, func(ctx context.Context, tx *store.Tx, row work.Repo) (work.Repo, error) {
		return row, tx.TellHaltAt(ctx, row.ID, time.Time{})
	})
}

// begin takes a repository, and has people know at once that merging is stopped in it, where the
// remote says so: who merges asks for that again.
func (s *Shares) begin(ctx context.Context, r *env.Repo, held, next git.Hold, from string, begin beginning) error {
	err := s.move(ctx, r, next, from, stoppedBy(held, begin))
	if err != nil || !held.HasStop {
		return err
	}
	if err := env.AskStop(ctx, s.Env, r); err != nil {
		s.Log.WarnContext(ctx, "it is not known why merging is stopped", "repo_full_name", r.Name.FullName(), "error", err)
	}
	return nil
}

// stoppedBy has a repository begin as it does otherwise, and with the stop of merging that its
// hold passed on.
func stoppedBy(held git.Hold, begin beginning) beginning {
	if held.Stopped == "" {
		return begin
	}
	return func(ctx context.Context, tx *store.Tx, row work.Repo) (work.Repo, error) {
		row, err := begin(ctx, tx, row)
		if err != nil {
			return row, err
		}
		return row, tx.StopMerging(ctx, row.ID, env.StopReason(held.Stopped))
	}
}

// forgetStop drops what this machine alone keeps of a stop of merging that the repository was
// told of: whether it is still stopped the repository says.
func (s *Shares) forgetStop(ctx context.Context, r *env.Repo) error {
	untold, err := env.UntoldStop(ctx, s.Env, r)
	if err != nil || untold != "" {
		return err
	}
	return s.Dirs.ResumeMerging(r.Row)
}

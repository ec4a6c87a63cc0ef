package share

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// GiveBack lets another machine take a repository that belongs to its share, once no turn of
// ours is under way there, nobody sends anything, and what was sent can be seen: the other one
// looks for it.
func (s *Shares) GiveBack(ctx context.Context, r *env.Repo) error {
	defer s.alone(r)()
	mine, _, err := s.reread(ctx, r)
	if err != nil {
		return err
	}
	if !mine.Held() {
		if mine.Shard != s.Shard.String() || !mine.Theirs { // for people who ask where it is
			return s.put(ctx, r, work.Share{}, nil)
		}
		return s.tellStop(ctx, r)
	}
	under, err := s.unfinished(ctx, r, func(t work.Turn) bool { return !t.Blocked })
	if err != nil || under > 0 {
		return err
	}
	return s.silent(r, func() error { return s.leave(ctx, r, mine) })
}

// leave marks a repository as one that is to be given back: from then on whoever writes asks
// the remote first. Once answers that never came are settled it is given back.
func (s *Shares) leave(ctx context.Context, r *env.Repo, mine work.Share) error {
	now := r.GitHub.Now()
	if !mine.Until.IsZero() {
		mine.Since, mine.Until = now, time.Time{}
		if err := s.put(ctx, r, mine, nil); err != nil {
			return err
		}
	}
	if mine.Since.Add(s.Config.Runtime.SettleAfter).After(now) {
		return nil
	}
	if err := s.ready(ctx, r); err != nil {
		return err
	}
	if err := env.TellStop(ctx, s.Env, r); err != nil { // whoever merges next asks for that
		return s.passOn(ctx, r, mine, err)
	}
	err := r.Git().DropHold(ctx, mine.OID)
	if _, moved := errors.AsType[*git.TakenError](err); err != nil && !moved {
		return err
	}
	return s.put(ctx, r, work.Share{}, nil)
}

// silent does something while no pass of this machine sends notices or merges; one that does
// has it wait for the next pass.
func (s *Shares) silent(r *env.Repo, do func() error) error {
	for _, path := range []string{s.Dirs.NoticesLock(r.Row), s.Dirs.MergeLock(r.Row)} {
		lock, ok, err := folder.TryLock(path)
		if err != nil || !ok {
			return err
		}
		defer lock.Unlock()
	}
	return do()
}

// unfinished counts the turns of a repository that are not over.
func (s *Shares) unfinished(ctx context.Context, r *env.Repo, which func(work.Turn) bool) (n int, err error) {
	err = s.Store.View(ctx, func(tx *store.Tx) error {
		all, err := tx.ListUnfinishedTurns(ctx)
		for _, t := range all {
			if t.RepoID == r.Row.ID && which(t) {
				n++
			}
		}
		return err
	})
	return n, err
}

package share

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Keep makes sure that nobody else may work on a repository for some time. That this machine
// holds it until a moment that is stored needs no question: nobody takes it before.
func (s *Shares) Keep(ctx context.Context, r *env.Repo, lasting time.Duration) error {
	defer s.alone(r)()
	now := r.GitHub.Now()
	mine, known, err := s.reread(ctx, r)
	if err != nil {
		return err
	}
	if r.Left { // it has no mirror any more, and what it shows of us is all that is written
		if known && !mine.Held() {
			return s.taken(r, mine, "")
		}
		return nil
	}
	if !mine.Held() {
		return s.taken(r, mine, "")
	}
	if mine.Until.After(now.Add(lasting)) {
		return nil
	}
	if err := s.ready(ctx, r); err != nil {
		return err
	}
	next := git.Hold{By: s.me, Since: mine.Since, Until: now.Add(min(lasting+spare, most))}
	return s.move(ctx, r, next, mine.OID, nil)
}

// reread reads what is known of a repository by now: another pass of this machine may have
// given it back.
func (s *Shares) reread(ctx context.Context, r *env.Repo) (mine work.Share, known bool, err error) {
	err = s.Store.View(ctx, func(tx *store.Tx) error {
		mine, known, err = tx.GetShare(ctx, r.Row.ID)
		return err
	})
	if err != nil {
		return mine, known, fmt.Errorf("read who works on %s: %w", r.Name.FullName(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.known, r.Row.ID); known {
		s.known[r.Row.ID] = mine
	}
	return mine, known, nil
}

// move moves the ref. Where it is elsewhere, another pass of this machine may have moved it;
// else another machine has the repository now.
func (s *Shares) move(ctx context.Context, r *env.Repo, to git.Hold, from string, begin beginning) error {
	s.moves <- struct{}{}
	defer func() { <-s.moves }()
	to.Since, to.Until = to.Since.UTC().Truncate(time.Second), to.Until.UTC().Truncate(time.Second)
	if to.Stopped == "" {
		untold, err := env.UntoldStop(ctx, s.Env, r)
		if err != nil {
			return err
		}
		to.Stopped = untold
	}
	to, err := s.asLong(ctx, r, to)
	if err != nil {
		return err
	}
	at, err := r.Git().PutHold(ctx, to, from)
	if _, moved := errors.AsType[*git.TakenError](err); moved {
		held, now, readErr := r.Git().ReadHold(ctx)
		switch {
		case readErr != nil:
			return readErr
		case held.By != s.me:
			return s.leaveTo(ctx, r, held)
		case !held.Until.Before(to.Until) && held.Until.Before(r.GitHub.Now().Add(longest)):
			at, to, err = now, held, nil
		default:
			at, err = r.Git().PutHold(ctx, to, now)
		}
	}
	if err != nil {
		return err
	}
	return s.put(ctx, r, work.Share{OID: at, Since: to.Since, Until: to.Until}, begin)
}

// lengthen has what this machine holds a repository by next last as long as what it holds it by
// now: a pass that was told so may still work, also where another one began to give it back.
func lengthen(held, next git.Hold, now time.Time) git.Hold {
	if held.Until.After(next.Until) && held.Until.Before(now.Add(longest)) {
		next.Until = held.Until
	}
	return next
}

// asLong makes the next hold of a repository last as long as its ref says, where another pass of
// this machine has marked it to be released: the row of such a repository has no time any more.
func (s *Shares) asLong(ctx context.Context, r *env.Repo, next git.Hold) (git.Hold, error) {
	if mine := s.share(r); !mine.Held() || !mine.Until.IsZero() {
		return next, nil
	}
	held, _, err := r.Git().ReadHold(ctx)
	if err != nil || held.By != s.me {
		return next, err
	}
	return lengthen(held, next, r.GitHub.Now()), nil
}

// leaveTo leaves a repository to the machine that holds it.
func (s *Shares) leaveTo(ctx context.Context, r *env.Repo, held git.Hold) error {
	theirs := work.Share{Until: held.Until}
	return errors.Join(s.put(ctx, r, theirs, nil), s.taken(r, theirs, held.By))
}

// taken says that another machine works on a repository, and which one, where that is known.
func (s *Shares) taken(r *env.Repo, theirs work.Share, by string) error {
	theirs.Shard = s.Shard.String()
	why := theirs.Reason(r.Name.FullName(), r.GitHub.Now())
	why.Who = by
	return s.wait(r, why)
}

func (s *Shares) wait(r *env.Repo, why work.Reason) error {
	return &work.WaitError{Until: r.GitHub.Now().Add(again), Reason: why}
}

// ready has a mirror to work with.
func (s *Shares) ready(ctx context.Context, r *env.Repo) error {
	if s.Preflight != nil {
		if err := s.Preflight(ctx); err != nil {
			return err
		}
	}
	return r.Git().Ensure(ctx)
}

// alone has one move of a repository's ref at a time in this pass.
func (s *Shares) alone(r *env.Repo) (unlock func()) {
	s.mu.Lock()
	m := s.of[r.Row.ID]
	if m == nil {
		m = &sync.Mutex{}
		s.of[r.Row.ID] = m
	}
	s.mu.Unlock()
	m.Lock()
	return m.Unlock
}

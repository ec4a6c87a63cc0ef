// Package share has one machine work on a repository at a time, where several share the
// repositories by nothing but --shard in their crontabs.
//
// Which machine takes a repository is computed. That the other one is done with it is not:
// its pass may still run when a share moves. So whoever works on a repository holds a ref of
// its remote (internal/git/hold) for as long as what it does may take, and gives it back once
// the repository belongs to another one and nothing of its own is under way. A machine that
// died holds it no longer than that. What nobody writes to needs no hold: an idle pass asks
// for nothing.
package share

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

const (
	// spare is how much longer a repository is held than what is done needs: what follows
	// within it asks the remote for nothing.
	spare = 30 * time.Minute
	// again is when a repository that another machine holds is asked for once more.
	again = time.Minute
	// most is how long a repository is held at once, and longest what is believed of a ref:
	// nobody keeps a repository for ever by it.
	most    = 24 * time.Hour
	longest = most + time.Hour
	// movedAtOnce is how many refs are moved at a time: each takes git and a connection.
	movedAtOnce = 8
)

// Ingest is what reads a repository that was taken.
type Ingest interface {
	// AdoptLater has the next ingest look for pull requests of ours that nobody knows.
	AdoptLater(ctx context.Context, tx *store.Tx, repoID int64) error
	// SetRepo changes the row of a repository.
	SetRepo(r *env.Repo, row work.Repo)
}

// Shares are the repositories as several machines share them.
type Shares struct {
	*env.Env
	me     string // this installation
	ingest Ingest

	mu    sync.Mutex
	known map[int64]work.Share
	halts []int64               // repositories whose remotes are to be told that merging is stopped
	of    map[int64]*sync.Mutex // one move of a repository's ref at a time
	moves chan struct{}
}

// New makes Shares of an installation.
func New(e *env.Env, me string, ingest Ingest) *Shares {
	return &Shares{Env: e, me: me, ingest: ingest, known: map[int64]work.Share{}, of: map[int64]*sync.Mutex{}, moves: make(chan struct{}, movedAtOnce)}
}

// Load reads what is known, as it is with the share that this machine has now.
func (s *Shares) Load(ctx context.Context, tx *store.Tx) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known, err = tx.ListShares(ctx); err != nil {
		return err
	}
	for _, r := range s.All {
		if err := s.judge(ctx, tx, r.Row); err != nil {
			return err
		}
	}
	s.halts, err = tx.ListHaltsToTell(ctx, s.Now())
	return err
}

// judge has what is known of a repository say whose it is with the share of now. Of one that
// becomes this machine's nobody knows yet who has it: Take asks.
func (s *Shares) judge(ctx context.Context, tx *store.Tx, row work.Repo) error {
	known, ok := s.known[row.ID]
	if !ok || known.Shard == s.Shard.String() {
		return nil
	}
	theirs := !s.Shard.Takes(row.NodeID)
	if theirs != known.Theirs && !known.Held() {
		return nil
	}
	known.Shard, known.Theirs = s.Shard.String(), theirs
	s.known[row.ID] = known
	return tx.PutShare(ctx, row.ID, known)
}

// Mine reports whether this machine holds a repository, as far as it knows.
func (s *Shares) Mine(r *env.Repo) bool { return s.share(r).Held() }

// Lost reports whether this machine held a repository once and does not now: another one may
// have worked on it since.
func (s *Shares) Lost(r *env.Repo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[r.Row.ID]
	return ok && !known.Held()
}

// StillHeld is why a repository waits that another machine had when it was asked for last; where
// it waits for something else, nothing.
func (s *Shares) StillHeld(r *env.Repo) []env.Cause {
	if r.Row.Failures > 0 || !s.Lost(r) || s.share(r).Theirs {
		return nil
	}
	return []env.Cause{{Code: string(work.WhyRepoHeld), Text: r.Row.LastError}}
}

func (s *Shares) share(r *env.Repo) work.Share {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[r.Row.ID]
}

// beginning is how a repository begins that was taken, and with which row.
type beginning func(ctx context.Context, tx *store.Tx, row work.Repo) (work.Repo, error)

// put stores what is known of a repository, and how it begins.
func (s *Shares) put(ctx context.Context, r *env.Repo, to work.Share, begin beginning) error {
	to.Shard, to.Theirs = s.Shard.String(), !s.Shard.Takes(r.Row.NodeID)
	before, row := r.Row, r.Row
	ctx = context.WithoutCancel(ctx)
	err := s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if begin != nil {
			if row, err = begin(ctx, tx, before); err != nil {
				return err
			}
		}
		return tx.PutShare(ctx, row.ID, to)
	})
	if err != nil {
		return fmt.Errorf("store who works on %s: %w", r.Name.FullName(), err)
	}
	s.mu.Lock()
	delete(s.known, before.ID)
	s.known[row.ID] = to
	s.mu.Unlock()
	if row.ID != before.ID {
		s.ingest.SetRepo(r, row)
	}
	return nil
}

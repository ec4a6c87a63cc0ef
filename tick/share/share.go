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
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
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

// lengthen has what this machine holds a repository by next last as long as what it holds it by
// now: a pass that was told so may still work, also where another one began to give it back.
func lengthen(held, next git.Hold, now time.Time) git.Hold {
	if held.Until.After(next.Until) && held.Until.Before(now.Add(longest)) {
		next.Until = held.Until
	}
	return next
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
	if mine := s.share(r); mine.Held() && mine.Until.IsZero() { // only the ref says for how long it was held
		held, _, err := r.Git().ReadHold(ctx)
		if err != nil {
			return err
		}
		if held.By == s.me {
			to = lengthen(held, to, r.GitHub.Now())
		}
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

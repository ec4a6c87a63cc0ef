package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Lock names work that one pass of the fleet does at a time. Its key on the server is made from it and
// from a random row, so that nobody takes it who cannot read the database.
type Lock int64

// on returns the key of the lock on the server.
func (l Lock) on(secret string) int64 {
	sum := sha256.Sum256([]byte(secret + "\n" + strconv.FormatInt(int64(l), 10)))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // all 64 bits count
}

// Held are the locks of sessions. The zero value is that of a database that one machine has for itself.
type Held struct {
	secret string
	keys   map[int64]bool
}

// Has reports whether a session holds a lock.
func (h Held) Has(l Lock) bool { return h.keys[l.on(h.secret)] }

// Count returns how many locks are held.
func (h Held) Count() int { return len(h.keys) }

// Shared reports whether sessions of several machines hold the locks.
func (h Held) Shared() bool { return h.keys != nil }

// LockOf returns the lock of a kind of work. Two locks with one number only look taken.
func LockOf(kind string, name ...string) Lock {
	sum := sha256.Sum256([]byte(kind + "\n" + strings.Join(name, "\n")))
	return Lock(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // all 64 bits count
}

// TurnLock returns the lock that a pass holds while it works on a turn. It is that of the turn's work
// item, which has one turn at a time.
func TurnLock(u work.Turn) Lock { return LockOf("turn", strconv.FormatInt(u.ItemID, 10)) }

// Session is a pass's own connection to a shared database. Its locks end with it: when the pass ends,
// when its machine dies, when the server loses it. A nil Session is that of a database that this
// machine has for itself, where files are the locks.
type Session struct {
	conn  *pgx.Conn
	pool  *DB
	using chan struct{} // one user of the connection at a time
	id    string

	mu     sync.Mutex
	held   map[Lock]bool
	lost   error // why it is lost
	cancel context.CancelCauseFunc
}

const (
	askWithin = 15 * time.Second // how long an answer to a question about the session may take
	askEvery  = 2 * time.Second
	heldUp    = 250 * time.Millisecond // an answer that took longer may be about a session that has ended since
)

// dialed is a connection for a session.
type dialed struct {
	conn  *pgx.Conn
	close func()
	err   error
}

// dial begins to connect for the session of a pass: that takes as many round trips as to connect the pool.
func (d *DB) dial(ctx context.Context) {
	config := d.engine.session()
	if config == nil {
		return
	}
	config.RuntimeParams["application_name"] = "gh mergexo pass"
	config.AfterConnect = nil                                     // begin sets it up
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // a pooler would lose prepared statements, before it is recognised
	d.dialed = make(chan dialed, 1)
	go func() {
		conn, err := pgx.ConnectConfig(ctx, config)
		d.dialed <- dialed{conn, func() { _ = conn.Close(context.WithoutCancel(ctx)) }, err}
	}()
}

// hangUp closes a connection for a session that nobody took.
func (d *DB) hangUp() {
	if d.dialed == nil {
		return
	}
	if one := <-d.dialed; one.conn != nil {
		one.close()
	}
	d.dialed = nil
}

// Session opens the session of a pass; nil where the database is not shared.
func (d *DB) Session(ctx context.Context) (*Session, error) {
	if d.dialed == nil {
		d.dial(ctx)
	}
	if d.dialed == nil {
		return nil, nil
	}
	one := <-d.dialed
	d.dialed = nil
	s := &Session{conn: one.conn, pool: d, using: make(chan struct{}, 1), id: NewEpoch(), held: map[Lock]bool{}}
	err := one.err
	if err == nil {
		if err = s.begin(ctx); err != nil {
			s.Close(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open a session on %s: %w", d.Path, d.engine.explain(interrupted(ctx, err)))
	}
	return s, nil
}

// errPooled says that a pooler is between the program and the server.
var errPooled = errors.New("a pooler gives each transaction another connection, so that no lock lasts")

// begin sets the session up, and checks that the server keeps it. A pooler in transaction mode gives
// the connection away when a transaction ends: as long as another transaction has it, what the session
// set is gone.
func (s *Session) begin(ctx context.Context) error {
	settings := keepAlives()
	settings["mergexo.session"] = s.id // letters and digits
	if err := set(ctx, s.conn, settings); err != nil {
		return err
	}
	return s.pool.run(ctx, s.pool.reader(), func(*Tx) error {
		var id string
		err := s.conn.QueryRow(ctx, `SELECT coalesce(current_setting('mergexo.session', true), '')`).Scan(&id)
		if err == nil && id != s.id {
			err = errPooled
		}
		return err
	})
}

// givesUpAfter is how long the server keeps the locks of a connection that asks nothing. Watch asks every
// other second: a process that asked nothing for this long is stopped or cut off, although its machine's
// kernel may still answer for the connection. Tests have less time.
var givesUpAfter = 5 * time.Minute

// keepAlives are the settings of a connection that holds locks: the server closes it soon after its
// machine is gone, or after its process gave no sign of life for givesUpAfter.
func keepAlives() map[string]string {
	all := maps.Clone(ourSettings)
	all["tcp_keepalives_idle"] = seconds(keepAlive)
	all["tcp_keepalives_interval"] = seconds(keepAlive)
	all["tcp_keepalives_count"] = "3"
	all["tcp_user_timeout"] = strconv.FormatInt(unanswered.Milliseconds(), 10)
	all["idle_session_timeout"] = strconv.FormatInt(givesUpAfter.Milliseconds(), 10)
	return all
}

// set changes settings of a connection in one round trip.
func set(ctx context.Context, conn *pgx.Conn, settings map[string]string) error {
	_, err := conn.Exec(ctx, settingBy(settings))
	return err
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// Watch returns a context that ends when the session is lost. It asks the server now and then.
func (s *Session) Watch(ctx context.Context) (_ context.Context, stop func()) {
	if s == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	var asking sync.WaitGroup
	asking.Go(func() {
		next := time.NewTicker(askEvery)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				_ = s.Alive(ctx) // it ends the context
			case <-ctx.Done():
				return
			}
		}
	})
	return ctx, func() {
		cancel(context.Canceled)
		asking.Wait()
	}
}

// Close ends the session, and with it its locks.
func (s *Session) Close(ctx context.Context) {
	if s == nil {
		return
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
	defer cancel()
	_ = s.conn.Close(within) // the server ends it as well when the program has ended
}

// TryLock takes locks with one statement, and waits for none. It returns those that it got.
func (s *Session) TryLock(ctx context.Context, locks ...Lock) (got []Lock, err error) {
	if s == nil {
		return locks, nil
	}
	s.mu.Lock()
	asked := slices.DeleteFunc(slices.Clone(locks), func(l Lock) bool { return s.held[l] }) // the server would give a session its own lock again
	s.mu.Unlock()
	if len(asked) == 0 {
		return nil, nil
	}
	secret, err := s.pool.lockKey(ctx)
	if err != nil {
		return nil, err
	}
	of := map[int64]Lock{}
	for _, l := range asked {
		of[l.on(secret)] = l
	}
	err = s.ask(ctx, func(ctx context.Context) error {
		rows, err := s.conn.Query(ctx, `SELECT k, pg_try_advisory_lock(k) FROM unnest(`+array(secret, asked)+`) AS k`)
		if err != nil {
			return err
		}
		var key int64
		var free bool
		_, err = pgx.ForEachRow(rows, []any{&key, &free}, func() error {
			if free {
				got = append(got, of[key])
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range got {
		s.held[l] = true
	}
	return got, nil
}

// Unlock releases locks. If that fails, they end with the session.
func (s *Session) Unlock(ctx context.Context, locks ...Lock) {
	if s == nil || len(locks) == 0 {
		return
	}
	s.mu.Lock()
	for _, l := range locks {
		delete(s.held, l)
	}
	s.mu.Unlock()
	secret, err := s.pool.lockKey(context.WithoutCancel(ctx)) // known, since the locks were taken
	if err != nil {
		return
	}
	_ = s.ask(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, err := s.conn.Exec(ctx, `SELECT pg_advisory_unlock(k) FROM unnest(`+array(secret, locks)+`) AS k`)
		return err
	})
}

// array is a list of locks' keys as SQL.
func array(secret string, locks []Lock) string {
	all := make([]string, len(locks))
	for i, l := range locks {
		all[i] = strconv.FormatInt(l.on(secret), 10)
	}
	return `'{` + strings.Join(all, ",") + `}'::bigint[]`
}

// locked selects the advisory locks that sessions of this database hold, as the numbers by which they
// were taken.
const locked = `FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// lockNumber is the number by which a lock of them was taken.
const lockNumber = `(classid::bigint << 32) | objid::bigint`

// Others returns the locks that other sessions hold. It stores which of these are of no machine, and
// since when: the server tells that only to who may read its statistics.
func (s *Session) Others(ctx context.Context) (Held, error) {
	if s == nil {
		return Held{}, nil
	}
	h := Held{keys: map[int64]bool{}}
	var err error
	if h.secret, err = s.pool.lockKey(ctx); err != nil {
		return Held{}, err
	}
	now, was := map[int64]string{}, map[int64]string{}
	err = s.ask(ctx, func(ctx context.Context) error {
		rows, err := s.conn.Query(ctx, `SELECT false, `+lockNumber+`, pid::bigint, coalesce((`+stranger+`), '') `+locked+` AND pid <> pg_backend_pid()
			UNION ALL SELECT true, 0, pid, role FROM strangers`)
		if err != nil {
			return err
		}
		var stored bool
		var key, pid int64
		var role string
		_, err = pgx.ForEachRow(rows, []any{&stored, &key, &pid, &role}, func() error {
			switch {
			case stored:
				was[pid] = role
			case role != "":
				now[pid] = role
			}
			if !stored {
				h.keys[key] = true
			}
			return nil
		})
		return err
	})
	if err == nil && !maps.Equal(now, was) {
		err = s.pool.Update(ctx, func(tx *Tx) error { return tx.setStrangers(ctx, now) })
	}
	return h, err
}

// Locks returns the locks that the passes of all machines hold; none on a database that one machine has
// for itself.
func (t *Tx) Locks(ctx context.Context) (h Held, err error) {
	if t.locks == "" {
		return h, nil
	}
	if h.secret, err = t.lockKey(ctx); err != nil {
		return h, err
	}
	scan := func(row scanner) (key int64, err error) { return key, row.Scan(&key) }
	held, err := listRows(ctx, t, "list what passes work on", scan, t.locks)
	h.keys = map[int64]bool{}
	for _, key := range held {
		h.keys[key] = true
	}
	return h, err
}

// Alive asks the server whether it still has the session and its locks. A pass asks right before each
// effect. If the session is lost, so is everything that it held: Alive fails with ErrTaken, and the
// context of Watch ends.
func (s *Session) Alive(ctx context.Context) error {
	if s == nil {
		return nil
	}
	for range 3 { // the pass may have been stopped before it heard the answer; a server may be slow for good
		asked := s.pool.time().Round(0) // a clock that runs on while the machine sleeps
		if err := s.askLocks(ctx); err != nil || s.pool.time().Round(0).Sub(asked) < heldUp {
			return err
		}
	}
	return nil
}

// askLocks asks the server once.
func (s *Session) askLocks(ctx context.Context) error {
	return s.ask(ctx, func(ctx context.Context) error {
		var locks int
		if err := s.conn.QueryRow(ctx, `SELECT count(*) `+locked+` AND pid = pg_backend_pid()`).Scan(&locks); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if locks < len(s.held) {
			return errors.New("the server does not have its locks any more")
		}
		return nil
	})
}

// Lost returns why the session is lost; nil: it is not.
func (s *Session) Lost() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// ask uses the connection. An error means that the session is lost: nobody knows what the server did.
// An end of the caller's context does not interrupt it, because that would close the connection.
func (s *Session) ask(ctx context.Context, question func(context.Context) error) error {
	select {
	case s.using <- struct{}{}:
		defer func() { <-s.using }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.Lost(); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
	defer cancel()
	err := question(within)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := fmt.Errorf("the session on %s is lost (%w), and with it what this pass worked on: %w", s.pool.Path, err, ErrTaken)
	s.lost = &work.MachineError{Err: &ServerError{lost.Error(), lost}, Do: startServer}
	if s.cancel != nil {
		s.cancel(s.lost)
	}
	return s.lost
}

package store

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

func newSession(t *testing.T, d *DB) *Session {
	t.Helper()
	s, err := d.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func tryLock(t *testing.T, s *Session, locks ...Lock) []Lock {
	t.Helper()
	got, err := s.TryLock(t.Context(), locks...)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}

// A lock is one session's until it releases it or ends, also of another connection of its process.
func TestALockIsOneSessions(t *testing.T) {
	d := openAt(t, emptyServer.Copy(t))
	a, b := newSession(t, d), newSession(t, d)
	one, two, three := Lock(-1<<63), Lock(7), LockOf("turn", "k")
	all := []Lock{one, two, three}
	slices.Sort(all)
	if got := tryLock(t, a, one, three); len(got) != 2 {
		t.Errorf("a got %d", got)
	}
	if got := tryLock(t, a, one, two); !slices.Equal(got, []Lock{two}) {
		t.Errorf("a got %d, and has the first already", got)
	}
	if got := tryLock(t, b, all...); len(got) != 0 {
		t.Errorf("b got %d, which a has", got)
	}
	others, err := b.Others(t.Context())
	if err != nil || others.Count() != 3 || !others.Has(one) || !others.Has(two) || !others.Has(three) {
		t.Errorf("the locks of others are %v, %v", others, err)
	}
	if mine, err := a.Others(t.Context()); err != nil || mine.Count() != 0 {
		t.Errorf("those of b are %v, %v", mine, err)
	}
	a.Unlock(t.Context(), one)
	if got := tryLock(t, b, all...); !slices.Equal(got, []Lock{one}) {
		t.Errorf("b got %d, one is free", got)
	}
	a.Close(t.Context())
	got := []Lock{}
	for range 1500 { // the server ends it when it reads the end of the connection
		if got = append(got, tryLock(t, b, two, three)...); len(got) == 2 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if len(got) != 2 {
		t.Errorf("b got %d after the end of a", got)
	}
}

// A session that the server ended, or whose locks it lost, ends the context of its pass, and every
// later question fails with ErrTaken.
func TestALostSessionIsTaken(t *testing.T) {
	d := openAt(t, emptyServer.Copy(t))
	for name, lose := range map[string]string{
		"ended":         `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		"without locks": "",
	} {
		s := newSession(t, d)
		ctx, stop := s.Watch(t.Context())
		tryLock(t, s, 7)
		if err := s.Alive(t.Context()); err != nil || ctx.Err() != nil {
			t.Fatalf("%s: it lives: %v, %v", name, err, ctx.Err())
		}
		if lose == "" {
			_, err := s.conn.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`)
			if err != nil {
				t.Fatal(err)
			}
		} else if _, err := d.SQL.ExecContext(t.Context(), lose); err != nil {
			t.Fatal(err)
		}
		if err := s.Alive(t.Context()); !errors.Is(err, ErrTaken) || !errors.Is(context.Cause(ctx), ErrTaken) {
			t.Errorf("%s: %v; the pass ends with %v", name, err, context.Cause(ctx))
		}
		if _, err := s.TryLock(t.Context(), 8); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: a lock of it: %v", name, err)
		}
		stop()
		s.Close(t.Context())
	}
}

// An answer that was long on its way is about a session that may have ended since.
func TestALateAnswerIsAskedForAgain(t *testing.T) {
	if !testpg.Set() {
		t.Skip("this is about the other engine")
	}
	at := emptyServer.Copy(t)
	proxy, err := testpg.OpenProxy(at)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	d, direct := openAt(t, proxy.Through(at)), openAt(t, at)
	d.GoBy(time.Now)
	s := newSession(t, d)
	defer s.Close(t.Context())
	tryLock(t, s, 7)
	var once sync.Once
	proxy.OnFlight(func(f testpg.Flight) string {
		if f.Done && strings.HasPrefix(f.SQL, "SELECT count(*) FROM pg_locks") {
			once.Do(func() {
				_, err = direct.SQL.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
				time.Sleep(heldUp)
			})
		}
		return ""
	})
	if lost := s.Alive(t.Context()); err != nil || !errors.Is(lost, ErrTaken) {
		t.Error(lost, err)
	}
}

// A question whose asker is interrupted does not cost the session.
func TestAnInterruptedQuestionKeepsTheSession(t *testing.T) {
	s := newSession(t, openAt(t, emptyServer.Copy(t)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Alive(ctx)
	if err := s.Alive(t.Context()); err != nil {
		t.Error(err)
	}
}

// A database of this machine alone has no session, and needs none.
func TestAFileHasNoSession(t *testing.T) {
	if testpg.Set() {
		t.Skip("this is about the other engine")
	}
	s := newSession(t, newDB(t))
	ctx, stop := s.Watch(t.Context())
	defer stop()
	others, err := s.Others(t.Context())
	if s != nil || ctx != t.Context() || len(tryLock(t, s, 1, 2)) != 2 || others.Shared() || err != nil || s.Alive(ctx) != nil || s.Lost() != nil {
		t.Error("a file has a session")
	}
}

// A pooler that gives each transaction another connection is refused, and named.
func TestAPoolerIsRefused(t *testing.T) {
	at, err := url.Parse(emptyServer.Copy(t))
	if err != nil {
		t.Fatal(err)
	}
	behind := *at
	behind.RawQuery = url.Values{"sslmode": {"disable"}}.Encode()
	behind.Host = pooler(t, at.String())
	_, err = openAt(t, behind.String()).Session(t.Context())
	if !errors.Is(err, errPooled) || !strings.Contains(err.Error(), "session mode") {
		t.Error(err)
	}
}

// asksNow reports whether a server answers a message at once.
func asksNow(asked pgproto3.FrontendMessage) bool {
	switch asked.(type) {
	case *pgproto3.Query, *pgproto3.Sync:
		return true
	}
	return false
}

// pooler is a pooler in transaction mode before a server.
func pooler(t *testing.T, at string) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var free []*pgconn.HijackedConn
	var mu sync.Mutex
	take := func() *pgconn.HijackedConn {
		mu.Lock()
		defer mu.Unlock()
		if n := len(free); n > 0 {
			c := free[n-1]
			free = free[:n-1]
			return c
		}
		c, err := pgconn.Connect(context.Background(), at)
		if err != nil {
			t.Error(err)
			return nil
		}
		server, err := c.Hijack()
		if err != nil {
			t.Error(err)
			return nil
		}
		t.Cleanup(func() { _ = server.Conn.Close() })
		return server
	}
	serve := func(c net.Conn) {
		defer c.Close()
		client := pgproto3.NewBackend(c, c)
		if _, err := client.ReceiveStartupMessage(); err != nil {
			return
		}
		client.Send(&pgproto3.AuthenticationOk{})
		for name, value := range map[string]string{"standard_conforming_strings": "on", "client_encoding": "UTF8", "server_version": "15.0"} {
			client.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
		}
		client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		var server *pgconn.HijackedConn
		for client.Flush() == nil {
			asked, err := client.Receive()
			if _, over := asked.(*pgproto3.Terminate); err != nil || over {
				return
			}
			if server == nil {
				server = take()
			}
			server.Frontend.Send(asked)
			if server.Frontend.Flush() != nil {
				return
			}
			for asksNow(asked) {
				said, err := server.Frontend.Receive()
				if err != nil {
					return
				}
				client.Send(said)
				if ready, over := said.(*pgproto3.ReadyForQuery); over {
					if ready.TxStatus == 'I' {
						mu.Lock()
						free, server = append(free, server), nil
						mu.Unlock()
					}
					break
				}
			}
		}
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	})
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	return listener.Addr().String()
}

// A role that may connect, but may read no table, guesses no lock. What it holds anyway is known after
// a while, until it is gone.
func TestAStrangersLocks(t *testing.T) {
	at := emptyServer.Copy(t)
	now := clock()
	d, err := Open(t.Context(), at, Options{Now: func() time.Time { return now }, RunTwice: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	role := "stranger_" + strings.ToLower(NewEpoch())
	run(t, d, `CREATE ROLE `+role+` LOGIN`)
	t.Cleanup(func() { _, _ = d.SQL.ExecContext(context.Background(), `DROP ROLE `+role) })
	s := newSession(t, d)
	conn, err := pgx.Connect(t.Context(), asUser(t, at, role)+"&application_name=gh%20mergexo%20pass")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	one, two := LockOf("notify"), LockOf("planning", "1")
	for _, l := range []Lock{one, two} {
		if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(l)); err != nil {
			t.Fatal(err)
		}
	}
	if got := tryLock(t, s, one, two); len(got) != 2 {
		t.Errorf("with the numbers in the source a stranger took all but %v", got)
	}
	told := func() []Stranger {
		t.Helper()
		held, err := s.Others(t.Context())
		if err != nil || held.Has(one) || held.Count() != 2 {
			t.Fatalf("others hold %+v, %v", held, err)
		}
		all, err := Read(t.Context(), d, func(tx *Tx) ([]Stranger, error) { return tx.ListStrangers(t.Context(), now) })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := told(); len(all) != 0 {
		t.Errorf("told at once: %+v", all)
	}
	now = now.Add(strangerAfter)
	if all := told(); len(all) != 1 || all[0].Role != role || all[0].PID != int64(conn.PgConn().PID()) {
		t.Errorf("after a while: %+v", all)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Others(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := Read(t.Context(), d, func(tx *Tx) ([]Stranger, error) { return tx.ListStrangers(t.Context(), now) }); err != nil || len(all) != 0 {
		t.Errorf("it let go: %+v, %v", all, err)
	}
}

// The server gives up the locks of a process that gives no sign of life, although its connection stays: a
// stopped one, or one that is cut off. When it continues, it holds no lock.
func TestAConnectionIsNoSignOfLife(t *testing.T) {
	if !testpg.Set() {
		t.Skip("this is about the other engine")
	}
	d := openAt(t, emptyServer.Copy(t))
	usual := givesUpAfter
	t.Cleanup(func() { givesUpAfter = usual })
	givesUpAfter = time.Second
	stopped := newSession(t, d)
	tryLock(t, stopped, 7)
	givesUpAfter = usual
	other := newSession(t, d)
	for len(tryLock(t, other, 7)) == 0 { // go test's own limit ends it
		time.Sleep(20 * time.Millisecond)
	}
	if err := stopped.Alive(t.Context()); !errors.Is(err, ErrTaken) {
		t.Errorf("the stopped one continues: %v", err)
	}
	if usual > 5*time.Minute || askEvery > usual/5 {
		t.Errorf("the server waits for %s, asked every %s", usual, askEvery)
	}
}

// A machine that is stopped while it migrates keeps no other one from migrating.
func TestAStoppedMigrationEnds(t *testing.T) {
	if !testpg.Set() {
		t.Skip("this is about the other engine")
	}
	at := emptyServer.Copy(t)
	d := openAt(t, at)
	usual := givesUpAfter
	t.Cleanup(func() { givesUpAfter = usual })
	givesUpAfter = time.Second
	conn, err := pgx.ConnectConfig(t.Context(), d.engine.session())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := set(t.Context(), conn, keepAlives()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		t.Fatal(err)
	}
	givesUpAfter = usual
	for {
		_, err := openAs(t, at, release(t, `CREATE TABLE later (id BIGINT);`+usableBy(t, 1, 0)))
		if err == nil {
			break
		}
		if !errors.Is(err, errMigrating) {
			t.Fatal(err)
		}
	}
}

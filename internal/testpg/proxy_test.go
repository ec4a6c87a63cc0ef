package testpg

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var empty = Template{Make: func(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE TABLE t (id BIGINT)`)
	return errors.Join(err, conn.Close(ctx))
}}

// A proxy counts the flights of a connection and tells of each before the server has it and before
// the program hears the answer, delays them, loses them, fails them and holds them.
func TestTheProxy(t *testing.T) {
	at := empty.Copy(t)
	p, err := OpenProxy(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	direct := connect(t, at)
	rows := func() (n int) {
		if err := direct.QueryRow(t.Context(), `SELECT count(*) FROM t`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	insert := func(c *pgx.Conn, timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, err := c.Exec(ctx, `INSERT INTO t VALUES ($1)`, pgx.QueryExecModeExec, 1)
		return err
	}

	var mu sync.Mutex
	var told []Flight
	p.OnFlight(func(f Flight) string {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, f)
		return ""
	})
	c := connect(t, p.Through(at))
	if err := insert(c, time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`BEGIN`, `SELECT 1`, `COMMIT`} {
		if _, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	want := []Flight{
		{1, 1, "[open]", false, false},
		{1, 1, "[open]", true, false},
		{2, 1, "INSERT INTO t VALUES ($1)", false, false},
		{2, 1, "INSERT INTO t VALUES ($1)", true, false},
		{3, 1, "BEGIN", false, false},
		{3, 1, "BEGIN", true, true},
		{4, 1, "SELECT 1", false, true},
		{4, 1, "SELECT 1", true, true},
		{5, 1, "COMMIT", false, true},
		{5, 1, "COMMIT", true, false},
	}
	mu.Lock()
	if !slices.Equal(told, want) || p.Flights() != 5 || rows() != 1 {
		t.Errorf("it told of %v, and counted %d", told, p.Flights())
	}
	mu.Unlock()

	p.Reset()
	p.Delay(30 * time.Millisecond)
	begin := time.Now()
	if err := insert(c, time.Minute); err != nil || time.Since(begin) < 60*time.Millisecond || p.Flights() != 1 {
		t.Errorf("%v after %v, %d flights", err, time.Since(begin), p.Flights())
	}
	p.Delay(0)

	for _, done := range []bool{false, true} { // lost on its way to the server, and on the way back
		had := rows()
		p.OnFlight(func(f Flight) string {
			if f.Done == done && f.SQL == want[2].SQL {
				p.Cut()
			}
			return ""
		})
		if err := insert(connect(t, p.Through(at)), time.Minute); err == nil || (rows() > had) != done {
			t.Errorf("cut, with the answer on its way %t: %v, rows %d, then %d", done, err, had, rows())
		}
	}

	p.OnFlight(func(f Flight) string {
		if f.SQL == want[2].SQL && !f.Done {
			return "53100"
		}
		return ""
	})
	had := rows()
	c = connect(t, p.Through(at))
	err = insert(c, time.Minute)
	if failed, ok := errors.AsType[*pgconn.PgError](err); !ok || failed.Code != "53100" || rows() != had {
		t.Errorf("the disk is full: %v", err)
	}
	p.OnFlight(nil)
	if err := insert(c, time.Minute); err != nil || rows() != had+1 {
		t.Errorf("and after it: %v", err)
	}

	p.Freeze()
	waits := make(chan error)
	go func() { waits <- insert(c, time.Minute) }()
	select {
	case err := <-waits:
		t.Errorf("a frozen statement ended: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	p.Thaw()
	if err := <-waits; err != nil || rows() != had+2 {
		t.Errorf("after the thaw: %v", err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

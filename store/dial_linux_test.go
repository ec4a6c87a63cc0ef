package store

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// Both sides give a connection up within a minute after the other side is gone: the kernel here, and the
// server there, have the bounds.
func TestADeadConnectionIsGivenUp(t *testing.T) {
	at := emptyServer.Copy(t)
	proxy, err := testpg.OpenProxy(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	d := openAt(t, proxy.Through(at))
	s := newSession(t, d)
	bounded := func(what string, c *pgconn.PgConn) {
		t.Helper()
		raw, err := c.Conn().(*boundConn).Conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		option := func(level, name int) (value time.Duration) {
			err := raw.Control(func(fd uintptr) {
				n, err := syscall.GetsockoptInt(int(fd), level, name)
				if err != nil {
					t.Error(err)
				}
				value = time.Duration(n)
			})
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		if got := option(syscall.IPPROTO_TCP, tcpUserTimeout) * time.Millisecond; got != unanswered {
			t.Errorf("%s: the kernel waits for %s", what, got)
		}
		on, idle := option(syscall.SOL_SOCKET, syscall.SO_KEEPALIVE), option(syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE)*time.Second
		tries, every := option(syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT), option(syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL)*time.Second
		if on == 0 || idle+tries*every > time.Minute {
			t.Errorf("%s: keepalives %v after %s, %d times every %s", what, on != 0, idle, tries, every)
		}
	}
	bounded("the session", s.conn.PgConn())
	conn, err := d.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error { bounded("a transaction", c.(*stdlib.Conn).Conn().PgConn()); return nil }); err != nil {
		t.Fatal(err)
	}
	var set int // a socket file, on which the server for tests listens, shows no values
	err = s.conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_settings WHERE source = 'session'
		AND name IN ('tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout', 'idle_session_timeout', 'statement_timeout')`).Scan(&set)
	if err != nil || set != 6 {
		t.Errorf("the server has %d of 6 settings, %v", set, err)
	}
}

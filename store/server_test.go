package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

const secret = "sesame-0815"

// faultOf checks that an error is a fault of the machine, in one line, without the password.
func faultOf(t *testing.T, err error) string {
	t.Helper()
	fault, ok := work.MachineFault(err)
	if !ok {
		t.Errorf("not a fault of this machine: %v", err)
		return ""
	}
	for _, text := range []string{fault.Error(), err.Error()} {
		if strings.Contains(text, secret) {
			t.Errorf("the password is in %q", text)
		}
	}
	if strings.Contains(fault.Error(), "\n") {
		t.Errorf("%q has more than one line", fault.Error())
	}
	return fault.Error()
}

// with changes the URL of a database.
func with(t *testing.T, at string, change func(u *url.URL, q url.Values)) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	change(u, q)
	u.RawQuery = q.Encode()
	return u.String()
}

// asUser names another user, and a password, which the server asks only of the user locked.
func asUser(t *testing.T, at, name string) string {
	return with(t, at, func(u *url.URL, _ url.Values) { u.User = url.UserPassword(name, secret) })
}

func run(t *testing.T, d *DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := d.SQL.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// A database that cannot be used is refused in one line with the cure, before anything is changed.
func TestBadServers(t *testing.T) {
	at := emptyServer.Copy(t)
	d := openAt(t, at)
	bare := (&testpg.Template{Make: func(context.Context, string) error { return nil }}).Copy(t) // without a schema
	name := "user_" + strings.TrimPrefix(with(t, at, func(u *url.URL, q url.Values) { *u = url.URL{Path: u.Path}; clear(q) }), "/test_")
	run(t, d,
		`DO $$ BEGIN CREATE ROLE locked LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
		`CREATE ROLE `+name+` LOGIN`,
	)
	t.Cleanup(func() {
		if _, err := d.SQL.ExecContext(context.Background(), `DROP ROLE `+name); err != nil {
			t.Error(err)
		}
	})
	ascii := strings.Replace(name, "user_", "ascii_", 1)
	run(t, d, `CREATE DATABASE `+ascii+` TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc`)
	t.Cleanup(func() {
		if _, err := d.SQL.ExecContext(context.Background(), `DROP DATABASE `+ascii+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	read := emptyServer.Copy(t)
	run(t, d, `ALTER DATABASE `+strings.TrimPrefix(mustParse(t, read).Path, "/")+` SET default_transaction_read_only = on`)
	two := emptyServer.Copy(t)
	run(t, openAt(t, two), `CREATE SCHEMA beside; CREATE TABLE beside.merge_words (id int)`)
	for what, c := range map[string]struct{ at, says, cure string }{
		"no URL":              {"postgres://u:" + secret + "@h:port/d", "cannot be parsed", "percent-encoded"},
		"an @ in a password":  {"postgres://u:x@" + secret + "@h/d?sslmode=verify-full", "cannot be parsed", "percent-encoded"},
		"no such option":      {with(t, asUser(t, at, "x"), func(_ *url.URL, q url.Values) { q.Set("sslmode", "perhaps") }), "sslmode", ""},
		"not encrypted":       {"postgres://u:" + secret + "@db.example.com/d", "db.example.com might not be encrypted", "sslmode=verify-full"},
		"surely plain":        {"postgres://u:" + secret + "@10.1.2.3/d?sslmode=disable", "10.1.2.3 might not be encrypted", "sslmode=verify-full"},
		"one of two is plain": {"postgres://u:" + secret + "@127.0.0.1,db.example.com/d?sslmode=disable", "db.example.com might not be", "sslmode"},
		"no TLS":              {"postgres://u:" + secret + "@" + withoutTLS(t) + "/d?sslmode=verify-full", "the server has no TLS; ", "ssl = on"},
		"no server":           {"postgres://u:" + secret + "@/d?host=" + url.QueryEscape(t.TempDir()), "no such file", "check that the server runs"},
		"nobody listens":      {"postgres://u:" + secret + "@127.0.0.1:1/d", "refused", "check that the server runs"},
		"wrong password":      {asUser(t, at, "locked"), "password authentication failed", "the password there or in ~/.pgpass"},
		"no such user":        {asUser(t, at, "nobody_there"), `role "nobody_there" does not exist`, "correct the user"},
		"no such database":    {with(t, at, func(u *url.URL, _ url.Values) { u.Path = "/nowhere" }), `"nowhere" does not exist`, "createdb"},
		"may not create":      {asUser(t, bare, name), "may not create tables in the schema public", "GRANT CREATE ON SCHEMA"},
		"tables of another":   {asUser(t, at, name), "permission denied", "ALTER SCHEMA public OWNER"},
		"no schema":           {with(t, at, func(_ *url.URL, q url.Values) { q.Set("search_path", "missing") }), "names no schema", "correct search_path"},
		"two schemas":         {two, "beside", "a database of its own"},
		"read-only":           {read, "cannot be written", "the primary server"},
		"its encoding":        {with(t, at, func(u *url.URL, _ url.Values) { u.Path = "/" + ascii }), "SQL_ASCII", "createdb -E UTF8"},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := Open(t.Context(), c.at, Options{Now: clock})
			if err == nil {
				t.Fatal("it was opened")
			}
			says := err.Error()
			if c.cure != "" && c.says != "cannot be parsed" {
				says = faultOf(t, err)
			}
			if strings.Contains(says, secret) || strings.Contains(says, "\n") || !strings.Contains(says, c.says) || !strings.Contains(says, c.cure) {
				t.Errorf("says %q, not %q and %q", says, c.says, c.cure)
			}
		})
	}
	if v := inTx(t, d, func(tx *Tx) (int, error) {
		return getRow(t.Context(), tx, "", scanCount, `SELECT count(*) FROM repositories`)
	}); v != 0 {
		t.Error("something was changed")
	}
	if other, ok, err := OpenReadOnly(t.Context(), bare); ok || err != nil || other != nil {
		t.Errorf("without a schema it was opened: %v, %v", ok, err)
	}
}

// withoutTLS is the address of a server that refuses TLS.
func withoutTLS(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 8)) // the question whether it has TLS
			_, _ = conn.Write([]byte("N"))
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

func mustParse(t *testing.T, at string) *url.URL {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A schema that the server does not enforce, or whose rows a crash deletes, is a fault with the cure. And
// an inspection of a database changes nothing.
func TestAServersSchemaIsChecked(t *testing.T) {
	at := emptyServer.Copy(t)
	d := openAt(t, at)
	s, err := Inspect(t.Context(), at)
	if err != nil || s.Version == "" || s.Schema == 0 || s.Schema != s.Newest || s.Free < 1 || s.TLS != "" || s.Lossy == "" || s.Behind.Abs() > clockSlack {
		t.Errorf("%+v, %v", s, err)
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
	run(t, d, `ALTER TABLE counters SET UNLOGGED`)
	if says := faultOf(t, d.Check(t.Context())); !strings.Contains(says, "table counters is unlogged; ") || !strings.Contains(says, "SET LOGGED") {
		t.Error(says)
	}
	bare := (&testpg.Template{Make: func(context.Context, string) error { return nil }}).Copy(t)
	if s, err := Inspect(t.Context(), bare); err != nil || s.Schema != 0 {
		t.Errorf("without a schema: %+v, %v", s, err)
	}
	if _, ok, err := OpenReadOnly(t.Context(), bare); ok || err != nil {
		t.Errorf("it has a schema now: %v", err)
	}
	if _, ok, err := OpenReadOnly(t.Context(), "postgres://u@/d?host="+url.QueryEscape(t.TempDir())); ok || err == nil {
		t.Error("a missing socket is no missing database")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // it never answers
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = Open(t.Context(), "postgres://u:"+secret+"@"+listener.Addr().String()+"/d?sslmode=disable&connect_timeout=1", Options{Now: clock})
	if says := faultOf(t, err); !strings.Contains(says, "it does not answer; check that the server runs") {
		t.Error(says)
	}
}

// What no server for tests is like.
func TestRefusedServers(t *testing.T) {
	e := &postgresEngine{address: "postgres://u@h/d"}
	good := serverFacts{version: oldestServer, schema: "public", mayCreate: true, encoding: "UTF8"}
	for _, c := range []struct {
		change func(*serverFacts)
		says   string
		read   bool // it may be read all the same
	}{
		{func(*serverFacts) {}, "", true},
		{func(f *serverFacts) { f.version, f.versionText = 130012, "13.12" }, "PostgreSQL 13.12 is too old; upgrade", false},
		{func(f *serverFacts) { f.replica = true }, "cannot be written; name the primary", true},
		{func(f *serverFacts) { f.behind = 2 * time.Minute }, "differ by 2m0s; set both by NTP", true},
		{func(f *serverFacts) { f.behind = -2 * time.Minute }, "differ by 2m0s; set both by NTP", true},
		{func(f *serverFacts) { f.behind = time.Minute }, "", true},
		{func(f *serverFacts) { f.has, f.mayCreate = true, false }, "", true},
	} {
		f := good
		c.change(&f)
		for _, readOnly := range []bool{false, true} {
			err := e.refuse(f, readOnly)
			if want := c.says != "" && (!readOnly || !c.read); (err != nil) != want || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, read-only %v: %v, not %q", f, readOnly, err, c.says)
			}
		}
	}
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	equal(t, between(at(10), at(12), at(20)), time.Duration(0))
	equal(t, between(at(10), at(7), at(20)), 3*time.Second)
	equal(t, between(at(10), at(25), at(20)), -5*time.Second)
	for host, remote := range map[string]bool{"/run/postgresql": false, "@abstract": false, "localhost": false, "127.0.0.1": false, "::1": false, "db": true, "10.0.0.1": true, "fe80::1": true} {
		equal(t, isRemote(host), remote)
	}
}

// Faults in the middle of the work are faults of this machine that say what to do.
func TestServerFaults(t *testing.T) {
	at := emptyServer.Copy(t)
	d := openAt(t, at)
	r := addRepo(t, d)
	for code, cure := range map[string]string{
		"53100": "make room on the disk", "53200": "more memory", "57P01": "start the server", "57P03": "start the server", "08006": "check that the server runs",
		"25006": "the primary server", "42501": "own the schema", "58030": "log of the database server", "XX001": "files are damaged", "40001": "other machines",
	} {
		runs := 0
		err := d.Update(t.Context(), func(tx *Tx) error {
			if runs++; runs > 1 && code == "40001" {
				return nil
			}
			_, err := tx.exec(t.Context(), "fail", `DO $$ BEGIN RAISE EXCEPTION 'because' USING ERRCODE = '`+code+`'; END $$`)
			return err
		})
		if code == "40001" {
			if err != nil || runs < 2 {
				t.Errorf("%d runs, %v", runs, err)
			}
			continue
		}
		if says := faultOf(t, err); runs != 1 || !strings.Contains(says, cure) || !strings.Contains(says, "because") {
			t.Errorf("%s, %d runs: %q", code, runs, says)
		}
	}
	if err := d.Update(t.Context(), func(tx *Tx) error { return second(tx.exec(t.Context(), "fail", `SELECT 1/0`)) }); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("%v", err)
	} else if _, ok := work.MachineFault(err); ok {
		t.Error("a bug of ours is no fault of the machine")
	}

	name := strings.Replace(strings.TrimPrefix(mustParse(t, at).Path, "/"), "test_", "few_", 1)
	run(t, d, `CREATE ROLE `+name+` LOGIN SUPERUSER CONNECTION LIMIT 0`, `ALTER ROLE `+name+` NOSUPERUSER`)
	t.Cleanup(func() {
		if _, err := d.SQL.ExecContext(context.Background(), `DROP ROLE `+name); err != nil {
			t.Error(err)
		}
	})
	_, err := Open(t.Context(), asUser(t, at, name), Options{Now: clock})
	if says := faultOf(t, err); !strings.Contains(says, "too many connections") || !strings.Contains(says, "max_connections") {
		t.Errorf("%q", says)
	}

	other := openAt(t, at)
	err = other.Update(t.Context(), func(tx *Tx) error {
		pid, err := getRow(t.Context(), tx, "pid", scanID, `SELECT pg_backend_pid()`)
		if err != nil {
			return err
		}
		run(t, d, fmt.Sprintf(`SELECT pg_terminate_backend(%d, 60000)`, pid))
		return tx.Heartbeat(t.Context(), r.ID, t0)
	})
	if says := faultOf(t, err); !strings.Contains(says, "the server") {
		t.Errorf("%q", says)
	}
	update(t, other, func(tx *Tx) error { return tx.Heartbeat(t.Context(), r.ID, t0) }) // by a new connection
}

// The way to the server is cut in the middle of a transaction.
func TestLostConnection(t *testing.T) {
	at := emptyServer.Copy(t)
	dir, err := os.MkdirTemp("", "pg") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	real := filepath.Join(mustParse(t, at).Query().Get("host"), ".s.PGSQL.5432")
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cut := make(chan struct{})
	go func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("unix", real)
			if err != nil {
				t.Error(err)
				return
			}
			go func() { _, _ = io.Copy(there, here); there.Close() }()
			go func() { _, _ = io.Copy(here, there); here.Close() }()
			go func() { <-cut; here.Close(); there.Close() }()
		}
	}()
	d, err := Open(t.Context(), with(t, at, func(_ *url.URL, q url.Values) { q.Set("host", dir) }), Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.EnsureRepo(t.Context(), name)
		close(cut)
		return errors.Join(err, second(tx.EnsureRepo(t.Context(), name)))
	})
	if says := faultOf(t, err); !strings.Contains(says, "check that the server runs") {
		t.Errorf("%q", says)
	}
	if got := inTx(t, openAt(t, at), func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }); len(got) != 0 {
		t.Errorf("half a transaction is stored: %v", got)
	}
}

// Where the server allows few connections, a pool makes do with those that it has, and where it allows
// none it says so. A transaction that does nothing is ended by the server after a while.
func TestFewConnections(t *testing.T) {
	at := emptyServer.Copy(t)
	owner := openAt(t, at)
	name := "few_" + strings.ToLower(NewEpoch())
	for _, statement := range []string{`CREATE ROLE ` + name + ` LOGIN CONNECTION LIMIT 1`, `GRANT pg_read_all_data TO ` + name} {
		if _, err := owner.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = owner.SQL.ExecContext(context.Background(), `DROP ROLE `+name) })
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(name)
	d, ok, err := OpenReadOnly(t.Context(), u.String())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer d.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			err := d.View(t.Context(), func(tx *Tx) error {
				idle, err := getRow(t.Context(), tx, "read a setting", scanString, `SELECT current_setting('idle_in_transaction_session_timeout')`)
				if err == nil && idle != "1min" {
					err = fmt.Errorf("a transaction may be idle for %s", idle)
				}
				return errors.Join(err, queryNothing(t.Context(), tx))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, _, err := OpenReadOnly(t.Context(), u.String()); err == nil || !strings.Contains(err.Error(), "too many connections") {
		t.Errorf("one more program: %v", err)
	}
}

// queryNothing takes a moment.
func queryNothing(ctx context.Context, tx *Tx) error {
	_, err := listRows(ctx, tx, "wait", scanString, `SELECT pg_sleep(0.01)::text`)
	return err
}

// What the server, the database or the role has set for others changes nothing for us.
func TestSettingsAreOurs(t *testing.T) {
	at := emptyServer.Copy(t)
	name := strings.TrimPrefix(mustParse(t, at).Path, "/")
	for setting, value := range map[string]string{
		"statement_timeout": "'1h'", "lock_timeout": "'1h'", "idle_in_transaction_session_timeout": "'1h'", "standard_conforming_strings": "off",
		"client_encoding": "LATIN1", "default_transaction_isolation": "'read uncommitted'",
	} {
		run(t, openAt(t, at), `ALTER DATABASE `+name+` SET `+setting+` = `+value)
	}
	d := openAt(t, at)
	session := newSession(t, d)
	for setting, want := range map[string]string{
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "1min", "standard_conforming_strings": "on", "client_encoding": "UTF8",
	} {
		conns := make([]*sql.Conn, serverConns) // beside each other
		for i := range conns {
			var err error
			if conns[i], err = d.SQL.Conn(t.Context()); err != nil {
				t.Fatal(err)
			}
			var got string
			if err := conns[i].QueryRowContext(t.Context(), `SHOW `+setting).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, %v", setting, got, err)
			}
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
		var got string
		if err := session.conn.QueryRow(t.Context(), `SHOW `+setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s of the session is %q, %v", setting, got, err)
		}
	}
	err := d.Update(t.Context(), func(tx *Tx) error {
		is, err := getRow(t.Context(), tx, "", scanString, `SHOW transaction_isolation`)
		equal(t, is, "serializable")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Server is what people are told about the server of a PostgreSQL database.
type Server struct {
	Address string        // the URL without a password
	Version string        // of PostgreSQL
	TLS     string        // the version of TLS; empty: the connection is not encrypted, and stays on this machine
	Schema  int64         // the schema's number; 0: there is none yet
	Newest  int64         // the number that this program migrates it to
	Behind  time.Duration // how much later it is here than there; less than 0: it is earlier
	Free    int           // how many more connections our user may open
	Public  string        // the database's name as SQL, if every role of the server may connect to it
	Lossy   string        // the setting by which the server may lose what it has committed; empty: none
}

// Inspect tries whether passes can use a PostgreSQL database: it connects as they do, opens a session,
// and writes without changing anything.
func Inspect(ctx context.Context, at string) (_ *Server, err error) {
	d, migrations, err := opened(ctx, at, nil, openFile, openServer)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.SQL.Close()) }()
	s := &Server{Address: d.Path}
	err = d.inspect(ctx, s)
	v, versionErr := d.versions(ctx, migrations)
	s.Schema, s.Newest = v.have, v.last
	if err = errors.Join(err, versionErr, d.checkUsable(v)); errors.Is(err, context.DeadlineExceeded) {
		return nil, d.engine.(*postgresEngine).fault("it does not answer", startServer, err)
	} else if err != nil {
		return nil, d.engine.explain(interrupted(ctx, err))
	}
	session, err := d.Session(ctx)
	if err != nil {
		return nil, err
	}
	session.Close(ctx)
	if s.Schema == 0 {
		return s, nil
	}
	if _, err = d.SQL.ExecContext(ctx, `UPDATE goose_db_version SET is_applied = is_applied WHERE version_id < 0`); err != nil {
		return nil, fmt.Errorf("write to %s: %w", d.Path, d.engine.explain(interrupted(ctx, err)))
	}
	return s, nil
}

func (d *DB) inspect(ctx context.Context, s *Server) (err error) {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if s.TLS, err = encryption(conn); err != nil {
		return err
	}
	var there int64
	before := time.Now() //nolint:forbidigo // the clock of this machine, also where tests have another one
	err = conn.QueryRowContext(ctx, `SELECT current_setting('server_version'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
		least(current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
				- coalesce(current_setting('reserved_connections', true), '0')::bigint - (SELECT sum(numbackends) FROM pg_stat_database)::bigint,
			(SELECT CASE WHEN rolconnlimit >= 0 THEN rolconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) END FROM pg_roles WHERE rolname = current_user),
			(SELECT CASE WHEN datconnlimit >= 0 THEN datconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) END FROM pg_database WHERE datname = current_database()))::bigint,
		(SELECT coalesce(min(name || ' = ' || setting), '') FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'),
		CASE WHEN has_database_privilege('public', current_database(), 'CONNECT') THEN quote_ident(current_database()) ELSE '' END`,
		pgx.QueryExecModeExec).Scan(&s.Version, &there, &s.Free, &s.Lossy, &s.Public)
	s.Behind = between(before, time.UnixMilli(there), time.Now()) //nolint:forbidigo // as before
	s.Free++                                                      // this connection ends
	return err
}

// encryption returns the version of TLS of a connection; empty: it is not encrypted.
func encryption(conn *sql.Conn) (version string, err error) {
	err = conn.Raw(func(driver any) error {
		if c, ok := driver.(*stdlib.Conn).Conn().PgConn().Conn().(*tls.Conn); ok {
			version = tls.VersionName(c.ConnectionState().Version)
		}
		return nil
	})
	return version, err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Limits of what is accepted of a server.
const (
	oldestServer = 140000 // as server_version_num
	clockSlack   = time.Minute
)

// serverFacts are what Open asks a server before it uses a database. Nothing was changed yet.
type serverFacts struct {
	version     int
	versionText string
	replica     bool
	readOnly    bool
	schema      string // the first existing one of the search path; empty: none
	has         bool   // the schema has our tables
	others      string // other schemas that have them
	mayCreate   bool
	encoding    string
	behind      time.Duration // how much later it is here than there; less than 0: it is earlier
}

// version implements engine. It refuses a server that is not to be used: both are asked in one round trip,
// which also sets the connection up.
func (e *postgresEngine) version(ctx context.Context, pool *sql.DB) (have int64, columns string, err error) {
	idle, facts, version := &question{text: setOurs}, &question{text: serverFactsQuery}, &question{text: schemaVersion}
	before := time.Now() //nolint:forbidigo // the clock of this machine, also where tests have another one
	_, err = e.answer(ctx, pool, []*question{idle, facts, version})
	after := time.Now() //nolint:forbidigo // as before
	if len(facts.rows) > 0 {
		var f serverFacts
		var there int64
		row := &answer{of: facts, next: 1}
		if err := row.Scan(&f.version, &f.versionText, &f.replica, &f.readOnly, &f.schema, &f.has, &f.others, &f.mayCreate, &f.encoding, &there, &columns); err != nil {
			return 0, "", err
		}
		f.behind = between(before, time.UnixMilli(there), after)
		if err := e.refuse(f, e.readOnly); err != nil {
			return 0, "", err
		}
	}
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Code == "42P01" { // undefined table
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	return have, columns, (&answer{of: version, next: 1}).Scan(&have)
}

const (
	ourTables = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'merge_words' AND c.relkind = 'r' AND c.relpersistence = 'p' AND n.nspname `

	// serverFactsQuery asks for serverFacts, the server's time, and the columns of all tables.
	serverFactsQuery = `SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
		pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on', coalesce(current_schema(), ''),
		EXISTS (SELECT 1 ` + ourTables + ` = current_schema()), (SELECT coalesce(string_agg(n.nspname, ', ' ORDER BY n.nspname), '') ` + ourTables + ` <> coalesce(current_schema(), '')),
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE), current_setting('server_encoding'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
		coalesce((SELECT string_agg(c.relname || '.' || a.attname, ' ') FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped), '')`
)

// between returns how far a clock is behind ours that was read at some time between two of ours.
func between(before, there, after time.Time) time.Duration {
	switch {
	case there.Before(before):
		return before.Sub(there)
	case there.After(after):
		return after.Sub(there)
	}
	return 0
}

// refuse returns why a server's database is not used, with what to do about it.
func (e *postgresEngine) refuse(f serverFacts, readOnly bool) error {
	switch {
	case f.version < oldestServer:
		return e.fault("PostgreSQL "+f.versionText+" is too old", "upgrade the server to PostgreSQL 14 or newer", nil)
	case f.encoding != "UTF8":
		return e.fault("its encoding is "+f.encoding, "create another database: createdb -E UTF8 -T template0 -O {user} NAME", nil)
	case f.schema == "":
		return e.fault("search_path names no schema that exists", remedies["3F000"], nil)
	case f.others != "":
		return e.fault(fmt.Sprintf("other schemas than %s have the tables of gh mergexo, too: %s", f.schema, f.others),
			"give each installation a database of its own, or correct search_path in the URL of the database", nil)
	case readOnly:
		return nil
	case f.replica || f.readOnly:
		return e.fault("it cannot be written", remedies["25006"], nil)
	case !f.has && !f.mayCreate:
		return e.fault("its user may not create tables in the schema "+f.schema, fmt.Sprintf("GRANT CREATE ON SCHEMA %s TO {user}, as the owner of the database", pgx.Identifier{f.schema}.Sanitize()), nil)
	case f.behind > clockSlack || f.behind < -clockSlack:
		return e.fault(fmt.Sprintf("the clock of the server and that of this machine differ by %s", max(f.behind, -f.behind).Round(time.Second)),
			"set both by NTP: timedatectl set-ntp true", nil)
	}
	return nil
}

// mustBeEncrypted refuses a connection that would send the password and the rows over a network as they
// are, or might: sslmode=prefer, the default, does where the server has no TLS.
func (e *postgresEngine) mustBeEncrypted(config *pgx.ConnConfig) error {
	plain := ""
	if config.TLSConfig == nil && isRemote(config.Host) {
		plain = config.Host
	}
	for _, f := range config.Fallbacks {
		if f.TLSConfig == nil && isRemote(f.Host) {
			plain = f.Host
		}
	}
	if plain == "" {
		return nil
	}
	return e.fault("the connection to "+plain+" might not be encrypted", "add sslmode=verify-full to the URL of the database, or sslmode=require if the server's certificate cannot be verified", nil)
}

// isRemote reports whether a host is another machine.
func isRemote(host string) bool {
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return !filepath.IsAbs(host) && !strings.HasPrefix(host, "@") && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

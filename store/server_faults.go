package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ServerError is an error of a PostgreSQL server or of the way to it, in one line without a password.
type ServerError struct {
	words string
	err   error
}

func (e *ServerError) Error() string { return e.words }
func (e *ServerError) Unwrap() error { return e.err }

// startServer ends most faults of a server.
const startServer = "check that the server runs and can be reached from this machine"

// lockNotAvailable is the SQLSTATE of a lock for which a session did not wait, or no longer.
const lockNotAvailable = "55P03"

// remedies say what to do about errors of a server, by their SQLSTATE or its class. fault names our user
// and database in them.
var remedies = map[string]string{
	"08":             startServer,
	"28":             "correct the user in the URL of the database and the password there or in ~/.pgpass, and allow the user in pg_hba.conf",
	"3D000":          "create the database: createdb -E UTF8 -T template0 -O {user} {database}",
	"3F000":          "create the schema, or correct search_path in the URL of the database",
	"40":             "try again: other machines changed the same rows each time",
	"42501":          "let the user own the schema and the tables: ALTER SCHEMA public OWNER TO {user}",
	"42704":          "remove from the URL of the database what the server does not know",
	"53100":          "make room on the disk of the database server",
	"53200":          "give the database server more memory",
	"53300":          "raise max_connections of the server, or let fewer machines and programs use it",
	lockNotAvailable: "a transaction has used the tables for too long; look for it in pg_stat_activity",
	"57P":            "start the server, or wait until it has started",
	"58":             "see the log of the database server, its disk may be broken or full",
	"XX001":          "see the log of the database server: its files are damaged",
	"XX002":          "see the log of the database server: REINDEX DATABASE may repair it",
	"25006":          "name the primary server in the URL of the database: this one is a replica, or default_transaction_read_only is on",
}

// explain makes faults of the server, or of the way to it, faults of this machine: each turn waits for
// them, and no attempt counts.
func (e *postgresEngine) explain(err error) error {
	_, known := errors.AsType[*work.MachineError](err)
	_, unreached := errors.AsType[*pgconn.ConnectError](err)
	if err == nil || known || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !unreached {
		return err
	}
	if errors.Is(err, errPooled) {
		return e.fault(errPooled.Error(), "name the server itself in the URL of the database, or a pooler in session mode", err)
	}
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		for _, code := range []string{failed.Code, failed.Code[:3], failed.Code[:2]} {
			if do := remedies[code]; do != "" {
				return e.fault(failed.Message, do, err)
			}
		}
		return err
	}
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e.fault(untrusted.Error(), "name the server in the URL of the database as its certificate does, and in sslrootcert the file with the certificate that signed it", err)
	}
	if strings.Contains(err.Error(), "server refused TLS connection") { // pgconn has no error of its own for it
		return e.fault("the server has no TLS", "turn it on there (ssl = on and a certificate in postgresql.conf), and restart the server", err)
	}
	if isLost(err) {
		return e.fault(reached(err), startServer, err)
	}
	return err
}

// fault is a fault of this server, with what ends it.
func (e *postgresEngine) fault(says, do string, err error) error {
	words := fmt.Sprintf("database %s: %s", e.address, strings.Join(strings.Fields(says), " "))
	return &work.MachineError{Err: &ServerError{words, err}, Do: e.named(do)}
}

// named puts our user and database into what ends a fault.
func (e *postgresEngine) named(do string) string {
	if e.config == nil {
		return do
	}
	return strings.NewReplacer("{user}", e.config.User, "{database}", e.config.Database).Replace(do)
}

// isLost reports whether there is no connection, or no more.
func isLost(err error) bool {
	_, refused := errors.AsType[*pgconn.ConnectError](err)
	_, ofNet := errors.AsType[net.Error](err)
	return refused || ofNet || errors.Is(err, errSilent) || pgconn.Timeout(err) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// reached returns why a server was not reached, without what pgx says before it.
func reached(err error) string {
	refused, ok := errors.AsType[*pgconn.ConnectError](err)
	switch {
	case errors.Is(err, errSilent), ok && errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	case ok:
		return refused.Unwrap().Error()
	}
	return "the connection was lost: " + err.Error()
}

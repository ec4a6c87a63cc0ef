package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// serverConns is how many connections one process has to a server at most.
const serverConns = 4

// isServer reports whether a database is on a PostgreSQL server, and no SQLite file.
func isServer(at string) bool {
	return strings.HasPrefix(at, "postgres://") || strings.HasPrefix(at, "postgresql://")
}

// postgresEngine is a PostgreSQL database that several machines share.
type postgresEngine struct {
	address string // the URL without a password
	config  *pgx.ConnConfig
	texts   sync.Map // statementKey to rewritten
}

func (*postgresEngine) shared() bool               { return true }
func (e *postgresEngine) session() *pgx.ConnConfig { return e.config.Copy() }
func (*postgresEngine) folder() string             { return "postgres" }
func (*postgresEngine) hasSchema() string {
	return `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version'`
}
func (*postgresEngine) replaceBy() string { return "drop its tables" }
func (*postgresEngine) inPlace() error    { return nil }

// migrationLock is the key of the advisory lock under which one machine migrates.
const migrationLock = 0x6d65726765786f // mergexo

func (*postgresEngine) up(ctx context.Context, pool *sql.DB, migrations fs.FS) (err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return err
	}
	defer func() {
		_, unlock := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(migrationLock))
		err = errors.Join(err, unlock)
	}()
	return upBy(ctx, goose.DialectPostgres, pool, migrations) // runs nothing that another machine ran meanwhile
}

// options makes a writer SERIALIZABLE, so that what it read is still so when it commits, and gives a
// reader one state of the database.
func (*postgresEngine) options(readOnly bool) *sql.TxOptions {
	if readOnly {
		return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	return &sql.TxOptions{Isolation: sql.LevelSerializable}
}

func (*postgresEngine) again(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "40001" || failed.Code == "40P01") // serialization failure, deadlock
}

func (e *postgresEngine) explain(err error) error { return err }

func (e *postgresEngine) unopened(err error) error {
	if errors.Is(err, errNewer) || errors.Is(err, errTooOld) {
		return err
	}
	return fmt.Errorf("open %s: %w", e.address, e.explain(err))
}

// check does nothing: the server enforces references, and checks its pages itself.
func (*postgresEngine) check(context.Context, *Tx) error { return nil }

// openServer connects to a server's database for reading and writing.
func openServer(ctx context.Context, at string) (*DB, error) { return connectServer(ctx, at, false) }

// openServerReadOnly connects to a server's database for reading.
func openServerReadOnly(ctx context.Context, at string) (*DB, error) {
	return connectServer(ctx, at, true)
}

func connectServer(ctx context.Context, at string, readOnly bool) (*DB, error) {
	config, address, err := serverConfig(at)
	if err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	if readOnly {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	e := &postgresEngine{address: address, config: config}
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(serverConns)
	pool.SetMaxIdleConns(serverConns)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(e.unopened(interrupted(ctx, err)), pool.Close())
	}
	return &DB{SQL: pool, Path: address, engine: e}, nil
}

// serverConfig reads a URL. The address is the URL without a password, for people.
func serverConfig(at string) (config *pgx.ConnConfig, address string, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, "", errors.New("the URL of the database cannot be parsed; write postgres://user@host:5432/database?sslmode=verify-full, with special characters of the password percent-encoded") // url.Error quotes the password
	}
	if config, err = pgx.ParseConfig(at); err != nil {
		return nil, "", err // it quotes no password
	}
	config.RuntimeParams["application_name"] = "gh mergexo"
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	q.Del("password")
	q.Del("sslpassword")
	u.RawQuery = q.Encode()
	return config, u.String(), nil
}

// tryServer is TryWrite for a server.
func tryServer(ctx context.Context, at string) error {
	d, err := openServer(ctx, at)
	if err != nil {
		return err
	}
	_, err = d.SQL.ExecContext(ctx, `UPDATE goose_db_version SET is_applied = is_applied WHERE version_id < 0`)
	if err != nil {
		err = fmt.Errorf("write to %s: %w", d.Path, d.engine.explain(interrupted(ctx, err)))
	}
	return errors.Join(err, d.Close())
}

// statementKey identifies a rewritten statement.
type statementKey struct{ query, types string }

// rewritten is a statement as PostgreSQL takes it.
type rewritten struct {
	text string
	args []int // the argument of each parameter
}

// statement numbers a statement's placeholders, and gives each the type of its argument: from the
// text alone, PostgreSQL would take a time in milliseconds for an int4 next to a 0, and a parameter
// in VALUES for a text.
func (e *postgresEngine) statement(query string, args []any) (string, []any) {
	values := make([]any, len(args))
	types := make([]byte, len(args))
	for i, a := range args {
		if named, ok := a.(sql.NamedArg); ok {
			a = named.Value
		}
		values[i], types[i] = serverValue(a)
	}
	key := statementKey{query, string(types)}
	known, ok := e.texts.Load(key)
	if !ok {
		known, _ = e.texts.LoadOrStore(key, numbered(query, args, types))
	}
	s := known.(rewritten)
	used := make([]any, len(s.args))
	for i, arg := range s.args {
		used[i] = values[arg]
	}
	return s.text, used
}

// Types of arguments, one letter each.
const (
	typeBigint = 'i'
	typeText   = 't'
	typeDouble = 'd'
	typeBytes  = 'b'
	typeNone   = '-' // NULL of any type
)

// castOf returns the cast to a type.
func castOf(typ byte) string {
	switch typ {
	case typeBigint:
		return "::bigint"
	case typeText:
		return "::text"
	case typeDouble:
		return "::double precision"
	case typeBytes:
		return "::bytea"
	}
	return ""
}

// serverValue returns an argument as pgx takes it, and its type. Booleans are numbers in the schema.
func serverValue(a any) (value any, typ byte) {
	switch v := a.(type) {
	case nil:
		return nil, typeNone
	case refField:
		if *v.id == 0 {
			return nil, typeBigint
		}
		return *v.id, typeBigint
	case driver.Valuer:
		plain, err := v.Value()
		if err != nil {
			return v, typeNone // pgx asks again, and reports the error
		}
		return serverValue(plain)
	case []byte:
		return v, typeBytes
	}
	r := reflect.ValueOf(a)
	if r.Kind() == reflect.Pointer {
		if r.IsNil() {
			return nil, typeNone
		}
		r = r.Elem()
	}
	switch {
	case r.Kind() == reflect.Bool && r.Bool():
		return int64(1), typeBigint
	case r.Kind() == reflect.Bool:
		return int64(0), typeBigint
	case r.CanInt():
		return r.Int(), typeBigint
	case r.CanFloat():
		return r.Float(), typeDouble
	case r.Kind() == reflect.String:
		return r.String(), typeText
	case r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8:
		return r.Bytes(), typeBytes
	}
	return a, typeNone
}

// numbered rewrites ?, ?2 and @name to $n with a cast. Quoted texts stay.
func numbered(query string, args []any, types []byte) rewritten {
	var out strings.Builder
	var s rewritten
	put := func(arg int, found string) {
		if arg < 0 || arg >= len(args) {
			out.WriteString(found) // the server reports it
			return
		}
		n := slices.Index(s.args, arg) + 1
		if n == 0 {
			s.args = append(s.args, arg)
			n = len(s.args)
		}
		out.WriteString("$" + strconv.Itoa(n) + castOf(types[arg]))
	}
	next := 0 // the argument of the next bare ?
	for at := 0; at < len(query); {
		m := placeholder.FindStringIndex(query[at:])
		if m == nil {
			out.WriteString(query[at:])
			break
		}
		out.WriteString(query[at : at+m[0]])
		found := query[at+m[0] : at+m[1]]
		at += m[1]
		switch found[0] {
		case '?':
			arg := next
			if n, err := strconv.Atoi(found[1:]); err == nil {
				arg = n - 1
			}
			put(arg, found)
			next = arg + 1
		case '@':
			put(slices.IndexFunc(args, func(a any) bool {
				named, ok := a.(sql.NamedArg)
				return ok && named.Name == found[1:]
			}), found)
		default: // a quoted text or name
			out.WriteString(found)
		}
	}
	s.text = out.String()
	return s
}

// placeholder matches a placeholder, or a quoted text that may hold what looks like one.
var placeholder = regexp.MustCompile(`\?[0-9]*|@[a-z_]+|'[^']*'|"[^"]*"`)

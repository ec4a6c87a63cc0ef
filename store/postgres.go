package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// serverConns is how many connections one process has to a server at most, besides a pass's session.
const serverConns = 4

// serverConnector opens the connections of a pool. Where the server allows no more of them, those that are
// open have to do: database/sql then waits for one.
type serverConnector struct {
	driver.Connector
	pool *sql.DB
}

// Connect is part of driver.Connector.
func (c *serverConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	failed, ok := errors.AsType[*pgconn.PgError](err)
	if open := c.pool.Stats().OpenConnections - 1; ok && failed.Code == "53300" && open > 0 { // without this one
		c.pool.SetMaxOpenConns(open)
		return nil, driver.ErrBadConn
	}
	return conn, err
}

// openPool makes a pool of connections.
func openPool(config *pgx.ConnConfig, options ...stdlib.OptionOpenDB) *sql.DB {
	c := &serverConnector{Connector: stdlib.GetConnector(*config, options...)}
	c.pool = sql.OpenDB(c)
	c.pool.SetMaxOpenConns(serverConns)
	c.pool.SetMaxIdleConns(serverConns)
	return c.pool
}

// idleInTransaction is how long the server waits for the next statement of a transaction. A machine that
// was stopped in one, or is gone, keeps rows from the others for no longer. No transaction of ours waits
// for anything.
const idleInTransaction = time.Minute

// ourSettings are those of every connection, whatever the defaults of the server, the database or the role are: no
// statement ends early, and texts are read as they are written. A transaction names its own isolation.
var ourSettings = map[string]string{
	"idle_in_transaction_session_timeout": strconv.FormatInt(idleInTransaction.Milliseconds(), 10),
	"statement_timeout":                   "0",
	"lock_timeout":                        "0",
	"standard_conforming_strings":         "on",
	"client_encoding":                     "UTF8",
}

// setOurs is a statement that sets them. As parameters of the connection a pooler would refuse them.
var setOurs = settingBy(ourSettings)

// settingBy returns a statement that changes settings of a connection in one round trip.
func settingBy(settings map[string]string) string {
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		calls = append(calls, fmt.Sprintf(`set_config('%s', '%s', false)`, name, strings.ReplaceAll(settings[name], `'`, `''`)))
	}
	return `SELECT ` + strings.Join(calls, ", ")
}

// boundTransactions sets up a connection for transactions, in one round trip. That of the first connection for
// writing is saved: version sets it up, with the first questions of all.
func boundTransactions(readOnly bool) pgconn.AfterConnectFunc {
	set := setOurs
	if readOnly {
		set += `, set_config('default_transaction_read_only', 'on', false)`
	}
	var connected atomic.Bool
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if !connected.Swap(true) && !readOnly {
			return nil
		}
		_, err := conn.Exec(ctx, set).ReadAll()
		return err
	}
}

// isServer reports whether a database is on a PostgreSQL server, and no SQLite file.
func isServer(at string) bool {
	return strings.HasPrefix(at, "postgres://") || strings.HasPrefix(at, "postgresql://")
}

// postgresEngine is a PostgreSQL database that several machines share.
type postgresEngine struct {
	address  string // the URL without a password
	config   *pgx.ConnConfig
	readOnly bool
	texts    sync.Map // statementKey to *rewritten
}

func (*postgresEngine) shared() bool               { return true }
func (e *postgresEngine) session() *pgx.ConnConfig { return e.config.Copy() }
func (*postgresEngine) locks() string              { return `SELECT ` + lockNumber + ` ` + locked }
func (*postgresEngine) inPlace() error             { return nil }

func (e *postgresEngine) replaceBy() string {
	return e.named("name a new database in the config, or drop its tables if nothing else is in it: dropdb --force {database}, then createdb -E UTF8 -T template0 -O {user} {database}")
}

const (
	// migrationLock is the key of the advisory lock under which one machine migrates.
	migrationLock Lock = 0x6d65726765786f // mergexo
	// migrationWait is how long a machine waits for another one that migrates, and a migration for
	// transactions that use its tables: others wait behind it.
	migrationWait = 5 * time.Second
	// migratesOn is before the name of the machine, in the name of the connection that has the lock.
	migratesOn = "gh mergexo migrates on "
)

// errMigrating says that another machine migrates the database.
var errMigrating = errors.New("a migration runs")

// up has connections of its own, so that nobody inherits their settings. The lock ends with them. One statement
// may take any time there, as long as the server answers other questions.
func (e *postgresEngine) up(ctx context.Context, others *sql.DB, migrations fs.FS, machine string) (err error) {
	ctx, stop := whileItAnswers(ctx, others)
	defer func() { err = stop(err) }()
	settings := keepAlives()
	settings["application_name"], settings["lock_timeout"] = migratesOn+machine, strconv.FormatInt(migrationWait.Milliseconds(), 10)
	config := e.config.Copy()
	config.DialFunc = dialer().DialContext
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error { return set(ctx, conn, settings) }))
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return e.migrating(ctx, conn, err)
	}
	ctx, signed := whileItAnswers(ctx, conn)                                      // else the server gives the lock up
	return signed(upBy(ctx, goose.DialectPostgres, pool, translated{migrations})) // runs no migration that another machine ran before it got the lock
}

// asked is a connection, or a pool.
type asked interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// whileItAnswers asks the server on another connection every writerWaits. It returns a context that ends when
// the server does not answer, and a function that returns this error in place of its own.
func whileItAnswers(ctx context.Context, other asked) (context.Context, func(error) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var asking sync.WaitGroup
	asking.Go(func() {
		next := time.NewTicker(writerWaits)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				_, err := other.ExecContext(ctx, `SELECT 1`)
				if _, answered := errors.AsType[*pgconn.PgError](err); err != nil && !answered {
					cancel(err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return ctx, func(err error) error {
		silent := context.Cause(ctx) //nolint:contextcheck // its own
		cancel(nil)
		asking.Wait()
		if err != nil && silent != nil {
			return silent
		}
		return err
	}
}

// migrating returns why a pass did not get the lock for a migration.
func (e *postgresEngine) migrating(ctx context.Context, conn *sql.Conn, err error) error {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || failed.Code != lockNotAvailable {
		return err
	}
	on := "another machine"
	var name string
	asked := conn.QueryRowContext(ctx, `SELECT application_name FROM pg_stat_activity WHERE pid IN (SELECT pid `+locked+` AND `+lockNumber+` = $1)`, int64(migrationLock))
	if asked.Scan(&name) == nil && len(name) > len(migratesOn) {
		on = "machine " + strings.TrimPrefix(name, migratesOn)
	}
	return e.fault("a migration runs on "+on, "wait until it has ended", errMigrating)
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

func (e *postgresEngine) unopened(err error) error {
	_, explained := errors.AsType[*work.MachineError](err)
	if errors.Is(err, errNewer) || errors.Is(err, errTooOld) || explained {
		return err
	}
	if fault := e.explain(err); fault != err { //nolint:errorlint // it is another one where there is something to say
		return fault
	}
	return fmt.Errorf("open %s: %w", e.address, err)
}

// check looks for what keeps the server from enforcing the schema: an index that was never finished, a
// constraint that was not checked, a table whose rows a crash of the server deletes. Pages with
// checksums the server checks itself whenever it reads them.
func (e *postgresEngine) check(ctx context.Context, tx *Tx) error {
	found, err := listRows(ctx, tx, "check the schema", scanString, `
		SELECT 'index ' || c.relname || ' is not valid' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE c.relnamespace = to_regnamespace(current_schema()) AND NOT (i.indisvalid AND i.indisready)
		UNION ALL SELECT 'constraint ' || conname || ' is not valid' FROM pg_constraint WHERE connamespace = to_regnamespace(current_schema()) AND NOT convalidated
		UNION ALL SELECT 'table ' || relname || ' is unlogged' FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) AND relkind = 'r' AND relpersistence = 'u'
		ORDER BY 1`)
	if err == nil && len(found) > 0 {
		err = e.fault(strings.Join(found, ", "), "as the owner of the database: REINDEX DATABASE {database}, ALTER TABLE … VALIDATE CONSTRAINT …, ALTER TABLE … SET LOGGED", nil)
	}
	return err
}

// tables reads the schema.
func (*postgresEngine) tables(ctx context.Context, tx *Tx) ([]schemaTable, error) {
	tables, err := listRows(ctx, tx, "list tables", func(row scanner) (t schemaTable, err error) { return t, row.Scan(&t.name) },
		`SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('goose_db_version', 'schemas', 'lock_key')`)
	for i := range tables {
		if err == nil {
			err = readTable(ctx, tx, &tables[i],
				`SELECT a.attname, format_type(a.atttypid, NULL), coalesce(array_position(i.indkey::int2[], a.attnum), -1) + 1, (a.attidentity <> '')::int
				 FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
				 WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped`,
				`SELECT a.attname, p.relname FROM pg_constraint c JOIN pg_class p ON p.oid = c.confrelid
				 JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] WHERE c.contype = 'f' AND c.conrelid = to_regclass(?)`)
		}
	}
	return tables, err
}

// freeze takes a lock that no writer shares, and fails while a pass holds locks: it would write later.
func (*postgresEngine) freeze(ctx context.Context, tx *Tx, tables []schemaTable) error {
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	_, err := tx.sql.ExecContext(ctx, `LOCK TABLE `+strings.Join(names, ", ")+` IN SHARE ROW EXCLUSIVE MODE NOWAIT`)
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Code == lockNotAvailable {
		return fmt.Errorf("the database is %w: a machine writes to it", ErrInUse)
	}
	if err != nil {
		return err
	}
	held, err := getRow(ctx, tx, "look for passes", scanCount, `SELECT count(*) `+locked+` AND pid <> pg_backend_pid()`)
	if err == nil && held > 0 {
		err = fmt.Errorf("the database is %w: a pass runs", ErrInUse)
	}
	return err
}

// countOn sets the sequence of an identity column, within the transaction.
func (*postgresEngine) countOn(ctx context.Context, tx *Tx, t schemaTable) error {
	for _, c := range t.columns {
		if !c.counted {
			continue
		}
		next, err := getRow(ctx, tx, "read the last id", scanID, `SELECT coalesce(max(`+c.name+`), 0) + 1 FROM `+t.name)
		if err != nil {
			return err
		}
		if _, err := tx.sql.ExecContext(ctx, fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN %s RESTART WITH %d`, t.name, c.name, next)); err != nil {
			return err
		}
	}
	return nil
}

// openServer connects to a server's database for reading and writing.
func openServer(_ context.Context, at string) (*DB, error) { return connectServer(at, false) }

// openServerReadOnly connects to a server's database for reading.
func openServerReadOnly(_ context.Context, at string) (*DB, error) {
	return connectServer(at, true)
}

// connectServer makes a pool. The first question to the server is version.
func connectServer(at string, readOnly bool) (*DB, error) {
	config, address, err := serverConfig(at)
	if err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	if readOnly {
		config.AfterConnect, config.DialFunc = boundTransactions(true), dialWithin(readerWaits)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // in one round trip
	e := &postgresEngine{address: address, config: config, readOnly: readOnly}
	if err := e.mustBeEncrypted(config); err != nil {
		return nil, err
	}
	pool := openPool(config, stdlib.OptionShouldPing(func(_ context.Context, p stdlib.ShouldPingParams) bool {
		return p.IdleDuration > keepAlive && p.IdleDuration < math.MaxInt64 // that of a new connection
	}))
	return &DB{SQL: pool, Path: address, engine: e}, nil
}

// openServerScratch copies every table to a temporary one of the same name, which hides it from this
// connection, the only one. It returns false if there is no table yet. A transaction that is rolled
// back in the end would keep rows locked from passes for as long as the dry run asks GitHub.
func openServerScratch(ctx context.Context, at string, opt Options) (*DB, bool, error) {
	known, ok, err := OpenReadOnly(ctx, at)
	if err != nil || !ok {
		return nil, false, err
	}
	if err := known.Close(); err != nil {
		return nil, false, err
	}
	d, err := connectServer(at, true) // temporary tables can be written all the same
	if err != nil {
		return nil, false, err
	}
	d.SQL.SetMaxOpenConns(1)
	d.SQL.SetConnMaxLifetime(0)
	d.writeBy(opt)
	if err := d.hideTables(ctx); err != nil {
		return nil, false, errors.Join(fmt.Errorf("copy %s: %w", d.Path, err), d.Close())
	}
	return d, true, nil
}

// hideTables copies them by one statement. Rows that are added get ids after all that were copied.
func (d *DB) hideTables(ctx context.Context) error {
	return d.runUntilAlone(ctx, func(tx *Tx) error {
		if err := tx.write(ctx, "copy", `SET TRANSACTION READ WRITE`); err != nil {
			return err
		}
		return tx.write(ctx, "copy", `DO $$
			DECLARE t record;
			BEGIN
				FOR t IN SELECT format('%I.%I', current_schema(), c.relname) AS known, format('pg_temp.%I', c.relname) AS copy,
					EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '') AS counted
					FROM pg_class c WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r'
				LOOP
					EXECUTE 'CREATE TABLE ' || t.copy || ' (LIKE ' || t.known || ' INCLUDING ALL)';
					EXECUTE 'INSERT INTO ' || t.copy || ' OVERRIDING SYSTEM VALUE SELECT * FROM ' || t.known;
					IF t.counted THEN EXECUTE 'ALTER TABLE ' || t.copy || ' ALTER COLUMN id RESTART WITH 1000000000'; END IF;
				END LOOP;
			END $$`)
	})
}

// serverConfig reads a URL. The address is the URL without a password, for people.
func serverConfig(at string) (config *pgx.ConnConfig, address string, err error) {
	u, err := url.Parse(at)
	authority, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(at, "postgres://"), "postgresql://"), "/")
	if err != nil || strings.Count(authority, "@") > 1 { // pgx would take what follows the first @ for a host
		return nil, "", errors.New("the URL of the database cannot be parsed; write postgres://user@host:5432/database?sslmode=verify-full, with special characters of the password percent-encoded") // url.Error quotes the password
	}
	address = withoutPassword(*u)
	if config, err = pgx.ParseConfig(at); err != nil {
		_, why, _ := strings.Cut(err.Error(), "`: ") // before it stands the URL, perhaps with a password
		return nil, "", (&postgresEngine{address: address}).fault(why, "correct the URL of the database", nil)
	}
	config.RuntimeParams["application_name"] = "gh mergexo"
	config.AfterConnect = boundTransactions(false)
	config.DialFunc = dialWithin(writerWaits)
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTime
	}
	return config, address, nil
}

// connectTime bounds how long a pass waits for a server that does not answer, for each of its
// addresses.
const connectTime = 10 * time.Second

// withoutPassword returns a URL for people.
func withoutPassword(u url.URL) string {
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	if q := u.Query(); q.Has("password") || q.Has("sslpassword") {
		q.Del("password")
		q.Del("sslpassword")
		u.RawQuery = q.Encode()
	}
	return u.String()
}

// statementKey identifies a rewritten statement.
type statementKey struct{ query, types string }

// rewritten is a statement as PostgreSQL takes it.
type rewritten struct {
	text string
	args []int // the argument of each parameter
	uses atomic.Int64
}

// To prepare a statement takes a round trip of its own, so that it is prepared when it is used for the
// third time: most statements of a pass are not.
const usesUnprepared = 2

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
	s := known.(*rewritten)
	used := make([]any, 0, len(s.args)+1)
	if s.uses.Add(1) > usesUnprepared {
		used = append(used, pgx.QueryExecModeCacheStatement)
	}
	for _, arg := range s.args {
		used = append(used, values[arg])
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
	case typedNull:
		return nil, v.typ
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
func numbered(query string, args []any, types []byte) *rewritten {
	var out strings.Builder
	s := &rewritten{}
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
		m := placeholder().FindStringIndex(query[at:])
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
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\?[0-9]*|@[a-z_]+|'[^']*'|"[^"]*"`) })

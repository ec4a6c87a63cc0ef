package store

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// mostPrepared limits the prepared statements that a connection keeps. The program sends a few
// hundred different texts; keeping more would not help one that creates new texts without end.
const mostPrepared = 500

// connector opens connections that keep compiled statements. Compiling a statement takes SQLite
// longer than finding a row with it.
type connector struct{ dsn string }

func (p connector) Driver() driver.Driver { return &sqlite.Driver{} }

// Connect opens a connection for database/sql.
func (p connector) Connect(context.Context) (driver.Conn, error) {
	c, err := p.Driver().Open(p.dsn)
	if err != nil {
		return nil, err
	}
	return &connection{sqliteConn: c.(sqliteConn), kept: map[string]*prepared{}}, nil
}

// sqliteConn is the interface of the driver's connections.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type connection struct {
	sqliteConn
	kept map[string]*prepared // by text
}

// prepared is a statement that a connection keeps.
type prepared struct {
	stmt statement
	busy bool // its rows are being read
}

// statement is the interface of the driver's statements.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// find returns the statement that is kept for a text, and compiles a new text; nil: the statement is
// busy, or the connection keeps no more.
func (c *connection) find(ctx context.Context, query string) (*prepared, error) {
	if p := c.kept[query]; p != nil {
		if p.busy {
			return nil, nil
		}
		return p, nil
	}
	if len(c.kept) == mostPrepared {
		return nil, nil
	}
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p := &prepared{stmt: s.(statement)}
	c.kept[query] = p
	return p, nil
}

// ExecContext implements driver.ExecerContext.
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	p, err := c.find(ctx, query)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return p.stmt.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	p, err := c.find(ctx, query)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := p.stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	p.busy = true
	return &keptRows{Rows: rows, of: p}, nil
}

// CheckNamedValue passes the types of our rows to SQLite without reflection, and leaves other types
// to database/sql.
func (c *connection) CheckNamedValue(v *driver.NamedValue) error {
	switch p := v.Value.(type) {
	case *string:
		v.Value = *p
	case *int64:
		v.Value = *p
	case *int:
		v.Value = int64(*p)
	case *bool:
		v.Value = *p
	default:
		return driver.ErrSkip
	}
	return nil
}

// Close implements driver.Conn.
func (c *connection) Close() error {
	var first error
	for _, p := range c.kept {
		if err := p.stmt.Close(); err != nil && first == nil {
			first = err
		}
	}
	if err := c.sqliteConn.Close(); err != nil {
		return err
	}
	return first
}

// keptRows is the rows of a kept statement.
type keptRows struct {
	driver.Rows
	of *prepared
}

// Close implements driver.Rows.
func (r *keptRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}

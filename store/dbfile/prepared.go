package dbfile

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// mostPrepared bounds the statements that a connection keeps. A program sends a few
// hundred texts; one that made up new ones without end would not be served by keeping
// them.
const mostPrepared = 500

// preparing opens connections that compile a statement once: what is sent a second time
// is kept. To compile one takes SQLite longer than to find a row by it.
type preparing struct{ dsn string }

func (p preparing) Driver() driver.Driver { return &sqlite.Driver{} }

// Connect opens one: it is what database/sql asks for.
func (p preparing) Connect(context.Context) (driver.Conn, error) {
	c, err := p.Driver().Open(p.dsn)
	if err != nil {
		return nil, err
	}
	return &connection{sqliteConn: c.(sqliteConn), kept: map[string]*prepared{}}, nil
}

// sqliteConn is what the driver's connections can do.
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
	kept map[string]*prepared // by text; without a statement: it was sent once
}

// prepared is a statement that a connection keeps.
type prepared struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	busy bool // somebody reads its rows
}

// find gives the statement that is kept for a text, and is free; nil where none is.
func (c *connection) find(ctx context.Context, query string) (*prepared, error) {
	p, known := c.kept[query]
	switch {
	case !known && len(c.kept) < mostPrepared:
		c.kept[query] = &prepared{}
		return nil, nil
	case !known, p.busy:
		return nil, nil
	case p.stmt == nil:
		s, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		p.stmt = s.(interface {
			driver.Stmt
			driver.StmtExecContext
			driver.StmtQueryContext
		})
	}
	return p, nil
}

// ExecContext is driver.ExecerContext's.
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

// QueryContext is driver.QueryerContext's.
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
	return &reading{Rows: rows, of: p}, nil
}

// CheckNamedValue is asked for each argument: what rows are made of goes to SQLite
// without a look at its type. All else is database/sql's.
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

// Close is driver.Conn's.
func (c *connection) Close() error {
	var first error
	for _, p := range c.kept {
		if p.stmt == nil {
			continue
		}
		if err := p.stmt.Close(); err != nil && first == nil {
			first = err
		}
	}
	if err := c.sqliteConn.Close(); err != nil {
		return err
	}
	return first
}

// reading are the rows of a statement that is kept.
type reading struct {
	driver.Rows
	of *prepared
}

// Close is driver.Rows's.
func (r *reading) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}

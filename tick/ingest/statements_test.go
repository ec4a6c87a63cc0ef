package ingest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// statements counts the reads that are sent to a database, by the table that they read from.
type statements struct {
	of   driver.Driver
	path string
	mu   sync.Mutex
	sent map[string]int
}

func (s *statements) Driver() driver.Driver { return s.of }

func (s *statements) Connect(context.Context) (driver.Conn, error) {
	c, err := s.of.Open("file:" + s.path + "?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	return counting{c.(sqlConn), s}, nil
}

type sqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type counting struct {
	sqlConn
	to *statements
}

func (c counting) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if _, from, ok := strings.Cut(query, " FROM "); ok {
		table, _, _ := strings.Cut(from, " ")
		c.to.mu.Lock()
		c.to.sent[strings.TrimSpace(table)]++
		c.to.mu.Unlock()
	}
	return c.sqlConn.QueryContext(ctx, query, args)
}

// Of many comments, as they come on one pull request and on another, only the first on each asks
// the database what it is on.
func TestTheDatabaseIsAskedOnceAnItem(t *testing.T) {
	if testpg.Set() {
		t.Skip("it counts the statements that SQLite's driver gets")
	}
	const pulls = 10
	count := func(comments int) map[string]int {
		m := newMachine(t, news{seed: 1, pulls: pulls, seconds: 1}, 100)
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Hour)
		for i := range comments {
			at := m.hub.now.Add(time.Duration(i-comments) * time.Second)
			m.hub.add("comments", at, github.Comment{ID: int64(7000 + i), Number: 2000 + i%pulls, Author: ann, CreatedAt: at, UpdatedAt: at, Body: "Rename it."})
		}
		m.hub.sort()
		m.pass(fate{}) // reads what is the first of its kind
		for i := range comments {
			at := m.hub.now.Add(time.Duration(i+1) * time.Second)
			m.hub.add("comments", at, github.Comment{ID: int64(17_000 + i), Number: 2000 + i%pulls, Author: ann, CreatedAt: at, UpdatedAt: at, Body: fmt.Sprint("Rename it again. ", i)})
		}
		m.hub.sort()
		m.hub.now = m.hub.now.Add(time.Hour)
		s := &statements{of: m.db.SQL.Driver(), path: m.dir + "/state.db", sent: map[string]int{}}
		m.db.SQL = sql.OpenDB(s)
		m.pass(fate{})
		if known := len(m.outcomesOf(2000)); known < 2*comments/pulls {
			t.Errorf("%d comments of %d on a pull request are known", known, 2*comments/pulls)
		}
		return s.sent
	}
	few, many := count(200), count(1000)
	for _, table := range []string{"work_items", "pull_requests", "pauses"} {
		if few[table] == 0 || many[table] > few[table] {
			t.Errorf("%s are read %d times for 200 comments, and %d times for 1000", table, few[table], many[table])
		}
	}
}

// outcomesOf returns the outcomes of what was said on a pull request.
func (m *machine) outcomesOf(number int) (all []string) {
	for line := range strings.Lines(m.stored()) {
		if strings.HasPrefix(line, fmt.Sprintf("event %d:%s", number, work.EventIssue)) {
			all = append(all, line)
		}
	}
	return all
}

package ingest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// unreadable is a database of which one read fails.
type unreadable struct {
	statements
	left int // reads until then
}

func (u *unreadable) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := u.statements.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return refusing{c.(counting), u}, nil
}

type refusing struct {
	counting
	of *unreadable
}

func (r refusing) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	for _, table := range []string{"work_items", "pull_requests", "events", "pauses", "actions", "reviews"} {
		if strings.Contains(query, " FROM "+table+" ") {
			if r.of.left--; r.of.left == 0 {
				return nil, errors.New("the disk is gone")
			}
		}
	}
	return r.counting.QueryContext(ctx, query, args)
}

// If any one read of the database fails, nothing is stored as if the rows were not there: later passes store what this
// one would have.
func TestARowThatCannotBeReadIsNotAbsent(t *testing.T) {
	testhome.NotShort(t)
	if testpg.Set() {
		t.Skip("it refuses what SQLite's driver is asked")
	}
	told := func() *machine {
		m := newMachine(t, news{seed: 2, issues: 1, pulls: 1, seconds: 60}, 100)
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Hour)
		for i, number := range []int{1000, 2000} {
			at := m.hub.now.Add(-time.Minute)
			c := github.Comment{ID: int64(7000 + i), Number: number, Author: ann, CreatedAt: at, UpdatedAt: at, Body: "Rename it."}
			m.hub.comments = append(m.hub.comments, c)
			m.hub.add("comments", at, c)
		}
		m.hub.sort()
		return m
	}
	whole := told()
	whole.pass(fate{})
	want := whole.stored()
	for at := 1; ; at++ {
		m := told()
		u := &unreadable{statements{of: m.db.SQL.Driver(), path: m.dir + "/state.db", sent: map[string]int{}}, at}
		m.db.SQL = sql.OpenDB(u)
		m.pass(fate{refused: 1_000_000}) // which is none; it says that an error is expected
		if u.left > 0 {
			if at < 10 {
				t.Errorf("a pass reads %d rows", at)
			}
			return // all failed once
		}
		for !m.pass(fate{}) {
		}
		if d := differences(m.stored(), want); d != "" {
			t.Errorf("where read %d failed, stored is something else:\n%s", at, d)
		}
	}
}

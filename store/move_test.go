package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// full is a database on SQLite with at least one row in each table.
func full(t *testing.T) *DB {
	t.Helper()
	all := versionsOf(t, ours(t))
	return openAt(t, oldDatabase(t, all[len(all)-1]))
}

// emptyOn is an empty database on an engine.
func emptyOn(t *testing.T, postgres bool) *DB {
	t.Helper()
	if postgres {
		return openAt(t, emptyServer.Copy(t))
	}
	return newFile(t)
}

func noProgress(string, bool) {}

// dump returns how many rows each table has, by the catalogue, and all of them as text.
func dump(t *testing.T, d *DB) (rows map[string]int, text string) {
	t.Helper()
	rows = map[string]int{}
	var b strings.Builder
	err := d.run(t.Context(), &Tx{}, func(tx *Tx) error {
		tables, err := d.engine.tables(t.Context(), tx)
		if err != nil {
			return err
		}
		slices.SortFunc(tables, func(a, b schemaTable) int { return strings.Compare(a.name, b.name) })
		for _, s := range tables {
			err := tx.eachRow(t.Context(), s.read(), func(row []any) error {
				rows[s.name]++
				fmt.Fprintf(&b, "%s %#v\n", s.name, row)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, b.String()
}

// namesOf returns the tables that a database has, without the store's own list of them.
func namesOf(t *testing.T, d *DB) (names []string) {
	t.Helper()
	update(t, d, func(tx *Tx) (err error) {
		names, err = listRows(t.Context(), tx, "tables", scanString,
			`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%' AND name NOT IN ('schemas', 'lock_key')`)
		return err
	})
	return names
}

// TestADatabaseIsMoved: every row of every table comes, between both engines and back. The next row gets
// a free id.
func TestADatabaseIsMoved(t *testing.T) {
	from := full(t)
	rows, want := dump(t, from)
	for _, name := range namesOf(t, from) {
		if rows[name] == 0 {
			t.Errorf("%s is not in the list of tables, or has no rows", name)
		}
	}
	ways := [][]bool{{false}}
	if testpg.Set() {
		ways = append(ways, []bool{true, true, false})
	}
	for _, way := range ways {
		at := full(t)
		for _, postgres := range way {
			to := emptyOn(t, postgres)
			var told []string
			if err := Move(t.Context(), at, to, Fleet{}, func(table string, done bool) { told = append(told, fmt.Sprint(table, done)) }); err != nil {
				t.Fatal(err)
			}
			if len(told) != 2*len(rows) {
				t.Errorf("progress %q", told)
			}
			if _, got := dump(t, to); got != want {
				t.Errorf("%s has\n%s\nwant\n%s", to.Path, got, want)
			}
			at = to
		}
		if err := at.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if !testpg.Set() {
		t.Skip(testpg.Variable + " is not set: only SQLite was tried")
	}
	to := emptyOn(t, true)
	if err := Move(t.Context(), full(t), to, Fleet{}, noProgress); err != nil {
		t.Fatal(err)
	}
	r := addRepo(t, to)
	i := addItem(t, to, work.Item{RepoID: r.ID, Number: 99})
	addTurn(t, to, work.Turn{RepoID: r.ID, ItemID: i.ID, Number: 99, Key: "new", Step: work.StepClaimed})
}

// TestNothingIsMovedByHalves: a move that is refused, or interrupted at any table, leaves nothing in the
// other database, and the first one as it is.
func TestNothingIsMovedByHalves(t *testing.T) {
	others := func(text string) string { // without the row that says where the database is
		return regexp.MustCompile(`(?m)^fleet .*\n`).ReplaceAllString(text, "")
	}
	engines := []bool{false}
	if testpg.Set() {
		engines = append(engines, true)
	}
	for _, postgres := range engines {
		from, to := full(t), emptyOn(t, postgres)
		_, before := dump(t, from)
		for at := 0; ; at += 5 {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			err := Move(ctx, from, to, Fleet{}, func(string, bool) {
				if n++; n > at {
					cancel()
				}
			})
			cancel()
			if err == nil {
				break // it was over before
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if rows, _ := dump(t, to); len(rows) > 0 {
				t.Fatalf("interrupted at %d: %v", at, rows)
			}
		}
		if _, after := dump(t, from); others(after) != others(before) {
			t.Errorf("the first one has\n%s\nwant\n%s", after, before)
		}

		// Nobody resumes the work on the first one, and nothing is moved from it again.
		err := Move(t.Context(), from, to, Fleet{}, noProgress)
		resumed := from.Update(t.Context(), func(tx *Tx) error { return second(tx.ResumeFleet(t.Context())) })
		for _, err := range []error{err, resumed} {
			if moved, is := errors.AsType[*MovedError](err); !is || moved.To != to.Path {
				t.Errorf("a second time: %v", err)
			}
		}
		forget := func(tx *Tx) error { // as if the process had died before it stored that
			f, err := to.fleet(t)
			if err != nil {
				return err
			}
			return second(tx.exec(t.Context(), "forget the move", `UPDATE fleet SET moved_to = '', paused_at = ?, paused_by = ?, why = ?`, millis(f.PausedAt), f.PausedBy, f.Why))
		}
		update(t, from, forget)
		if err := Move(t.Context(), from, to, Fleet{}, noProgress); err != nil {
			t.Errorf("what is there already: %v", err)
		}
		update(t, from, forget)
		update(t, to, func(tx *Tx) error { return tx.NameRepo(t.Context(), 1, "other.toml") })
		if err := Move(t.Context(), from, to, Fleet{}, noProgress); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("to one with other rows: %v", err)
		}
	}
}

func (d *DB) fleet(t *testing.T) (f Fleet, err error) {
	t.Helper()
	err = d.View(t.Context(), func(tx *Tx) error { f, err = tx.GetFleet(t.Context()); return err })
	return f, err
}

// impatient opens a database again. On SQLite it does not wait for other writers.
func impatient(t *testing.T, d *DB) *DB {
	t.Helper()
	if d.Shared() {
		return d
	}
	again, err := connect(t.Context(), d.Path, url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(0)"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.SQL.Close() })
	again.now, again.writer = clock, make(chan struct{}, 1)
	return again
}

// TestNobodyWritesToADatabaseThatIsMoved: a row written during the copy would be lost.
func TestNobodyWritesToADatabaseThatIsMoved(t *testing.T) {
	from := newDB(t)
	addRepo(t, from)
	other := impatient(t, from)
	tx, err := from.SQL.BeginTx(t.Context(), from.engine.options(false))
	if err == nil {
		_, err = tx.ExecContext(t.Context(), `UPDATE repositories SET failures = 1`)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Move(t.Context(), other, newFile(t), Fleet{}, noProgress); err == nil || from.Shared() && !errors.Is(err, ErrInUse) {
		t.Errorf("moved beside a writer: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	tried := false
	err = Move(t.Context(), from, newFile(t), Fleet{}, func(table string, done bool) {
		if table != "turns" || done {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // PostgreSQL has the writer wait
		defer cancel()
		tried = true
		if err := other.Update(ctx, func(tx *Tx) error { return tx.NameRepo(ctx, 1, "other.toml") }); err == nil {
			t.Error("written beside a move")
		}
	})
	if err != nil || !tried {
		t.Errorf("%v, tried %v", err, tried)
	}
}

// TestADifferenceIsSeen: if the other database has a row with any other value, the move fails.
func TestADifferenceIsSeen(t *testing.T) {
	for name, change := range map[string]string{
		"another value": `UPDATE turns SET branch = 'other' WHERE id = 2`,
		"another blob":  `UPDATE turns SET answer = X'00' WHERE id = 2`,
		"no value":      `UPDATE turns SET request = NULL WHERE id = 4`,
		"a row less":    `DELETE FROM counters`,
		"a row more":    `INSERT INTO totals SELECT what, day + 1, repo_id, item_id, kind, agent, reviewer, machine, outcome, most, n, attempts, unknown_tokens, unknown_cost, input_tokens, output_tokens, cost_usd, findings, ms FROM totals`,
	} {
		from, to := full(t), newFile(t)
		err := from.run(t.Context(), &Tx{}, func(source *Tx) error {
			return to.run(t.Context(), &Tx{}, func(target *Tx) error {
				changed := false
				return move(t.Context(), mover{from, source}, mover{to, target}, Fleet{}, func(_ string, done bool) {
					if done && !changed {
						changed = true
						if err := target.raw(t.Context(), change); err != nil {
							t.Error(err)
						}
					}
				})
			})
		})
		if err == nil || !strings.Contains(err.Error(), "compare ") {
			t.Errorf("%s: %v", name, err)
		}
		if rows, _ := dump(t, to); len(rows) > 0 {
			t.Errorf("%s: %v", name, rows)
		}
	}
}

// TestSchemasMustAgree: a database of another version is not moved.
func TestSchemasMustAgree(t *testing.T) {
	from, to := full(t), newFile(t)
	for _, change := range []string{`ALTER TABLE turns ADD COLUMN colour TEXT`, `CREATE TABLE colours (name TEXT PRIMARY KEY)`, `UPDATE goose_db_version SET version_id = version_id + 1`} {
		if _, err := to.SQL.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if err := Move(t.Context(), from, to, Fleet{}, noProgress); err == nil || errors.Is(err, ErrNotEmpty) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// Package passes has the rows about passes themselves: what became of them, what they
// asked of GitHub, and what was left of its limits.
package passes

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are those of one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows of a transaction.
func In(tx *rows.Tx) Rows { return Rows{tx} }

// LastPass gives what is known of the last passes; false: nothing is. Where no metrics are
// written it tells of failures, and of what ended them, alone.
func (t Rows) LastPass(ctx context.Context) (work.LastPass, bool, error) {
	scan := func(row rows.Row) (l work.LastPass, err error) {
		var ms int64
		err = row.Scan(rows.TimeOf(&l.At), rows.TimeOf(&l.GoodAt), &ms, &l.Failures, &l.Why)
		l.Took = time.Duration(ms) * time.Millisecond
		return l, err
	}
	return rows.Find(ctx, t.tx, "find the last pass", scan, `SELECT at, good_at, ms, failures, why FROM last_pass`)
}

// PutLastPass stores what is known of the last passes.
func (t Rows) PutLastPass(ctx context.Context, l work.LastPass) error {
	_, err := t.tx.Exec(ctx, "store the last pass",
		`INSERT INTO last_pass (id, at, good_at, ms, failures, why) VALUES (1, ?, ?, ?, ?, ?)
		 ON CONFLICT (id) DO UPDATE SET at = excluded.at, good_at = excluded.good_at, ms = excluded.ms, failures = excluded.failures, why = excluded.why`,
		rows.Millis(l.At), rows.Millis(l.GoodAt), l.Took.Milliseconds(), l.Failures, t.tx.Clean(l.Why))
	return err
}

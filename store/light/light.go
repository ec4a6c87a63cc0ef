// Package light has what a pass reads of each row of a kind, where there are many and nothing is
// to be done about most.
package light

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are the light rows, in one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows as a transaction sees them.
func In(tx *rows.Tx) Rows { return Rows{tx} }

// Pull is what a pass reads of each open pull request: enough to see whether anything is
// to be read of it. In most passes nothing is, and a whole row takes four times as long.
// Its fields are those of work.PullRequest.
type Pull struct {
	ID, ItemID  int64
	Number      int
	NodeID      string
	Fingerprint string
	UpdatedAt   time.Time
	DetailsAt   time.Time
	NotBefore   time.Time
	Failures    int
	Pending     bool // its checks run, or GitHub has yet to find out whether it can be merged
}

// PullOf gives that of a whole row.
func PullOf(p work.PullRequest) Pull {
	return Pull{
		ID: p.ID, ItemID: p.ItemID, Number: p.Number, NodeID: p.NodeID, Fingerprint: p.Fingerprint,
		UpdatedAt: p.UpdatedAt, DetailsAt: p.DetailsAt, NotBefore: p.NotBefore, Failures: p.Failures,
		Pending: p.Rollup == "PENDING" || p.Rollup == "EXPECTED" || p.Mergeable == "UNKNOWN",
	}
}

// ListOpenPulls gives the open tracked pull requests of a repository, by number, as far as a
// pass needs to know of each.
func (t Rows) ListOpenPulls(ctx context.Context, repoID int64) ([]Pull, error) {
	var p Pull
	into := []any{
		&p.ID, rows.RefOf(&p.ItemID), &p.Number, &p.NodeID, &p.Fingerprint,
		rows.TimeOf(&p.UpdatedAt), rows.TimeOf(&p.DetailsAt), rows.TimeOf(&p.NotBefore), &p.Failures, &p.Pending,
	}
	scan := func(row rows.Row) (Pull, error) {
		err := row.Scan(into...)
		return p, err
	}
	return rows.List(ctx, t.tx, "list open pull requests", scan,
		`SELECT id, item_id, number, node_id, fingerprint, updated_at, details_at, not_before, failures,
		 rollup IN ('PENDING', 'EXPECTED') OR mergeable = 'UNKNOWN'
		 FROM pull_requests WHERE repo_id = ? AND state = 'open' ORDER BY number`, repoID)
}

package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// OpenPull is what a pass reads of each open pull request: enough to see whether anything is
// to be read of it. In most passes nothing is, and a whole row takes four times as long.
// Its fields are those of work.PullRequest.
type OpenPull struct {
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

// OpenPullOf gives that of a whole row.
func OpenPullOf(p work.PullRequest) OpenPull {
	return OpenPull{
		ID: p.ID, ItemID: p.ItemID, Number: p.Number, NodeID: p.NodeID, Fingerprint: p.Fingerprint,
		UpdatedAt: p.UpdatedAt, DetailsAt: p.DetailsAt, NotBefore: p.NotBefore, Failures: p.Failures,
		Pending: p.Rollup == "PENDING" || p.Rollup == "EXPECTED" || p.Mergeable == "UNKNOWN",
	}
}

// ListOpenPulls gives the open tracked pull requests of a repository, by number, as far as a
// pass needs to know of each.
func (t pullRows) ListOpenPulls(ctx context.Context, repoID int64) ([]OpenPull, error) {
	var p OpenPull
	into := []any{
		&p.ID, rows.RefOf(&p.ItemID), &p.Number, &p.NodeID, &p.Fingerprint,
		rows.TimeOf(&p.UpdatedAt), rows.TimeOf(&p.DetailsAt), rows.TimeOf(&p.NotBefore), &p.Failures, &p.Pending,
	}
	scan := func(row rows.Row) (OpenPull, error) {
		err := row.Scan(into...)
		return p, err
	}
	return rows.List(ctx, t.tx, "list open pull requests", scan,
		`SELECT id, item_id, number, node_id, fingerprint, updated_at, details_at, not_before, failures,
		 rollup IN ('PENDING', 'EXPECTED') OR mergeable = 'UNKNOWN'
		 FROM pull_requests WHERE repo_id = ? AND state = 'open' ORDER BY number`, repoID)
}

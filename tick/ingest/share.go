package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work/firstlook"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Where several machines share the repositories, a pass finds out which ones it takes before
// it reads any.

// Identify asks which repository a name stands for that no pass has seen yet, or that is to
// be taken: also what time it is there, and whether it may be written to.
func (p *Ingest) Identify(ctx context.Context, r *env.Repo, taken bool) error {
	if r.Row.NodeID != "" && !taken {
		return nil
	}
	return p.follow(ctx, r)
}

// Conclude records that a repository could not be read at all.
func (p *Ingest) Conclude(ctx context.Context, r *env.Repo, err error, rep *env.Report) {
	p.concludeIngest(ctx, r, err, rep)
}

// AdoptLater has the next ingest look for pull requests of ours that nobody knows.
func (p *Ingest) AdoptLater(ctx context.Context, tx *store.Tx, repoID int64) error {
	return tx.SetWalk(ctx, repoID, firstlook.Walk, "")
}

package pulls

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
	"github.com/mergexo/gh-mergexo/internal/work/outcome"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// readEnd reads how a pull request ended, if that is what its details show for the first time.
func (h *Pulls) readEnd(ctx context.Context, old, pull work.PullRequest, d github.PullDetail) error {
	if pull.State == work.PullOpen || old.State == pull.State {
		return nil
	}
	return h.ReadEnd(ctx, pull, d.ClosedAt)
}

// ReadEnd reads how many commits a pull request had when it ended, and how many of them are
// people's: one request, once. What GitHub cannot tell of it stays unknown.
func (h *Pulls) ReadEnd(ctx context.Context, pull work.PullRequest, at time.Time) error {
	end := outcome.End{At: at, Human: -1, ReadAt: h.Now()}
	commits, err := h.R.GitHub.PullCommits(ctx, h.Repo.Current, pull.Number)
	if err != nil {
		if !batch.IsItemError(err) && !github.IsStatus(err, 403) { // no number is worth that a merge is not acted on
			return err
		}
		h.P.Log.WarnContext(ctx, "could not read the commits of a pull request that ended", "repo_full_name", h.R.Name.FullName(), "pr_number", pull.Number, "error", err)
	} else if end.Commits, end.Human, err = h.countHuman(ctx, commits); err != nil {
		return err
	}
	h.Ends[pull.Number] = end
	return nil
}

func (h *Pulls) countHuman(ctx context.Context, commits []origin.Commit) (all, human int, err error) {
	known := map[string]bool{}
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, c := range commits {
			if known[c.OID], err = tx.HasTurnCommit(ctx, h.Repo.ID, c.OID); err != nil {
				return err
			}
		}
		return nil
	})
	us := h.P.Accounts.Operators(h.R.Name.Host)
	made := origin.Made{Ours: func(id int64) bool { return slices.Contains(us, id) }, Known: func(oid string) bool { return known[oid] }}
	for _, c := range commits {
		if !made.ByUs(c) {
			human++
		}
	}
	return len(commits), human, err
}

package ingest

import (
	"cmp"
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Somebody may rewrite a branch's history, on purpose or by mistake. No pass overwrites such a
// branch or adds commits to it: the pull request waits until a person accepts its head or restores
// the old history. A plain comment does not accept the head: its author may not know of the
// rewrite, or wrote it before. The comment is answered once the wait is over.
//
// Ingest detects a rewrite when GitHub shows a head that we did not push. If ingest misses it, the
// next turn asks the remote before its agent starts.

// detectRewrite checks whether the head of an open pull request still has in its history the
// commits of the item's turns. They can be lost although no pass saw the head change: somebody may
// force-push the old head right after a turn's push.
func (h *reading) detectRewrite(ctx context.Context, old, pull work.PullRequest) error {
	if old.ID == 0 {
		return nil // adopted: its turns are unknown
	}
	turns := stored(ctx, h, func(ctx context.Context, tx *store.Tx) ([]work.Turn, error) { return tx.ListTurns(ctx, pull.ItemID) })
	base, of := work.RequiredAncestor(turns, pull.Branch, 0)
	base = cmp.Or(base, old.LostOID) // the turns may be lost with a database
	weighed := old.HeadOID == pull.HeadOID && old.State == pull.State && old.DetailsAt.After(of.UpdatedAt)
	if base == "" || weighed {
		return nil
	}
	var err error
	kept, known := pull.HeadOID == base || pull.HeadOID == of.Commit, true
	if !kept {
		kept, known, err = h.descends(ctx, pull, base)
	}
	switch {
	case err != nil || !known:
		return err
	case kept && old.LostOID != "":
		h.putLost(pull.Number, "") // somebody restored it
		return nil
	case kept:
		return nil
	}
	if accepted := work.AcceptedHead(old, base); accepted != "" {
		if kept, known, err := h.descends(ctx, pull, accepted); err != nil || !known || kept {
			return err
		}
	}
	// Right after a push GitHub's API may show an older head, which is no rewrite: so the remote is asked. If it cannot be
	// asked, the next turn checks.
	if old.LostOID == base && old.AcceptedOID == "" || h.preflight == nil || h.preflight(ctx) != nil {
		return nil //nolint:nilerr // without git this pass claims no turn either, and reports why
	}
	heads, err := h.repo.Git().RemoteHeads(ctx, pull.Branch)
	if err == nil && heads[pull.Branch] == pull.HeadOID {
		h.putLost(pull.Number, base)
	}
	return ctx.Err()
}

// descends asks GitHub whether the commit from is in the history of the pull request's head. known
// is false if GitHub cannot tell; the next turn then asks the remote.
func (h *reading) descends(ctx context.Context, pull work.PullRequest, from string) (yes, known bool, err error) {
	yes, known, err = h.repo.GitHub.Descends(ctx, h.row.Current, pull.HeadOID, from)
	if refused, ok := errors.AsType[*transport.Error](err); ok {
		h.log.WarnContext(ctx, "could not compare a head with the former one", "repo_full_name", h.repo.Name.FullName(), "work_item_id", pull.ItemID, "pr_number", pull.Number, "error", refused)
		return false, false, nil
	}
	return yes, known, err
}

// putLost has the commit stored that a branch lost; empty: none.
func (h *reading) putLost(pull int, commit string) {
	h.putOfPull(pull, func(ctx context.Context, tx *store.Tx, id int64) error { return tx.SetLost(ctx, id, commit) })
}

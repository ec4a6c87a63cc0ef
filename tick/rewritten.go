package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A branch whose history somebody replaced is never overwritten, and nothing is
// built on it unasked: what it held may be gone on purpose or by mistake. The
// pull request waits until a person accepts its head, or has brought the old
// history back. A plain comment accepts nothing: who writes it need not know of
// the rewriting, or may have written before it. It is kept, and answered then.
//
// Ingest notices it when GitHub shows a head that we did not push, and at the
// latest a turn does before its agent is asked: there the remote itself tells.

// ground is the newest turn that worked on a branch, and the commit that it
// left or found there: what the branch must have in its history. A turn that
// never ran found out nothing about the branch.
func ground(turns []work.Turn, branch string, but int64) (oid string, of work.Turn) {
	for _, t := range turns {
		if t.ID > of.ID && t.ID != but && t.Branch == branch && t.Runs > 0 {
			of = t
		}
	}
	switch of.Step {
	case work.StepPushed, work.StepApplied, work.StepDone:
		return cmp.Or(of.Commit, of.Head), of
	case work.StepClaimed, work.StepAnswered, work.StepSuperseded, work.StepFailed, work.StepCancelled:
	}
	return of.Head, of
}

// instead is the head that a person accepted for a branch without the commit;
// empty when nobody did.
func instead(pull work.PullRequest, lost string) string {
	if pull.LostOID == lost {
		return pull.AcceptedOID
	}
	return ""
}

// weigh finds out whether the head of an open pull request still has in its
// history what the item's turns built there. It may have lost that without a
// move that anybody saw: a turn's push may have been taken back at once.
func (h *Pulls) weigh(ctx context.Context, old, pull work.PullRequest) error {
	if old.ID == 0 {
		return nil // found again: no turn is known
	}
	var turns []work.Turn
	err := h.view(ctx, func(tx *store.Tx) (err error) {
		turns, err = tx.ListTurns(ctx, pull.ItemID)
		return err
	})
	if err != nil {
		return err
	}
	base, of := ground(turns, pull.Branch, 0)
	base = cmp.Or(base, old.LostOID) // the turns may be gone with a database
	weighed := old.HeadOID == pull.HeadOID && old.State == pull.State && old.DetailsAt.After(of.UpdatedAt)
	if base == "" || weighed {
		return nil
	}
	kept, known := pull.HeadOID == base || pull.HeadOID == of.Commit, true
	if !kept {
		kept, known, err = h.descends(ctx, pull, base)
	}
	switch {
	case err != nil || !known:
		return err
	case kept && old.LostOID != "":
		h.lost[pull.Number] = "" // somebody brought it back
		return nil
	case kept:
		return nil
	}
	if accepted := instead(old, base); accepted != "" {
		if kept, known, err := h.descends(ctx, pull, accepted); err != nil || !known || kept {
			return err
		}
	}
	return h.confirm(ctx, old, pull, base)
}

// descends asks GitHub whether a head has a commit in its history. What GitHub
// cannot tell is left to the next turn.
func (h *Pulls) descends(ctx context.Context, pull work.PullRequest, from string) (yes, known bool, err error) {
	yes, known, err = h.r.GitHub.Descends(ctx, h.repo.Current, pull.HeadOID, from)
	if refused, ok := errors.AsType[*github.Error](err); ok {
		h.p.Log.WarnContext(ctx, "could not compare a head with what was there before", "repo_full_name", h.r.Name.FullName(), "work_item_id", pull.ItemID, "pr_number", pull.Number, "error", refused)
		return false, false, nil
	}
	return yes, known, err
}

// confirm asks the remote: GitHub's API may show an older head right after a
// push, which is no rewriting. What git cannot tell now is left to the next
// turn.
func (h *Pulls) confirm(ctx context.Context, old, pull work.PullRequest, lost string) error {
	if old.LostOID == lost && old.AcceptedOID == "" || h.p.Preflight == nil || h.p.Preflight(ctx) != nil {
		return nil //nolint:nilerr // without git nothing is claimed either, and that says so
	}
	heads, err := h.r.mirror().RemoteHeads(ctx, pull.Branch)
	if err == nil && heads[pull.Branch] == pull.HeadOID {
		h.lost[pull.Number] = lost
	}
	return ctx.Err()
}

// notRewritten refuses to work on a branch that was rewritten, unless a person
// accepted what it is now.
func (p *Looks) notRewritten(ctx context.Context, l *lease) error {
	if l.turn.Kind.Start() {
		return nil
	}
	var turns []work.Turn
	var pull work.PullRequest
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		if turns, err = tx.ListTurns(ctx, l.item.ID); err != nil {
			return err
		}
		pull, _, err = tx.FindPullOfItem(ctx, l.item.ID)
		return err
	})
	if err != nil {
		return err
	}
	base, _ := ground(turns, l.turn.Branch, l.turn.ID)
	if base == "" {
		if base, err = p.journalled(ctx, l); err != nil {
			return err
		}
	}
	for _, oid := range []string{base, instead(pull, base)} {
		if kept, err := p.hasIn(ctx, l, oid); err != nil || kept {
			return err
		}
	}
	if base == "" {
		return nil
	}
	l.lost = base
	return &work.BlockedError{Reason: work.LostReason(l.turn.Branch, base), Hint: work.LostHint(l.turn.Head)}
}

// hasIn reports whether the turn's head has a commit in its history.
func (p *Looks) hasIn(ctx context.Context, l *lease, oid string) (bool, error) {
	m := l.remote.mirror()
	if oid == "" || !m.Has(ctx, oid) { // the head was fetched with its history
		return false, nil
	}
	return m.IsAncestor(ctx, oid, l.turn.Head)
}

// journalled is what the branch must have in its history as far as the mirror's
// journal tells, where the database knows no turn of it: it is gone. Whether
// the journal's commit ever got there is not known; only where somebody pushed
// by force since, it counts.
func (p *Looks) journalled(ctx context.Context, l *lease) (string, error) {
	m := l.remote.mirror()
	keys, err := m.Journals(ctx)
	if err != nil {
		return "", err
	}
	var newest journal
	for _, key := range keys {
		b, ok, err := m.Journal(ctx, key)
		if err != nil {
			return "", err
		}
		if !ok || key == l.turn.Key {
			continue
		}
		if j, err := decodeJournal(b); err == nil && j.Branch == l.turn.Branch && j.Claimed > newest.Claimed {
			newest = j
		}
	}
	if newest.Turn == "" {
		return "", nil
	}
	timeline, err := l.remote.GitHub.TimelineOf(ctx, l.remote.repo.Current, l.turn.Number)
	if err != nil {
		return "", fmt.Errorf("read what became of the branch: %w", err)
	}
	since := time.UnixMilli(newest.Claimed).Truncate(time.Second) // GitHub's stamps have whole seconds
	forced := func(t github.TimelineEvent) bool {
		return t.Event == "head_ref_force_pushed" && !t.CreatedAt.Before(since)
	}
	if !slices.ContainsFunc(timeline, forced) {
		return "", nil
	}
	return cmp.Or(newest.Commit, newest.Head), nil
}

// recordLost stores what a turn found out about its branch.
func recordLost(ctx context.Context, tx *store.Tx, l *lease) error {
	if l.lost == "" {
		return nil
	}
	pull, ok, err := tx.FindPullOfItem(ctx, l.item.ID)
	if err != nil || !ok {
		return err
	}
	return tx.SetLost(ctx, pull.ID, l.lost)
}

package turn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// requireNotRewritten blocks a turn whose branch was rewritten, unless a person accepted the new
// head.
func (p *lastLook) requireNotRewritten(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind.Start() || l.Item.Flow == work.FlowReview { // authors may rewrite their own branches
		return nil
	}
	var turns []work.Turn
	var pull work.PullRequest
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		if turns, err = tx.ListTurns(ctx, l.Item.ID); err != nil {
			return err
		}
		pull, _, err = tx.FindPullOfItem(ctx, l.Item.ID)
		return err
	})
	if err != nil {
		return err
	}
	base, _ := work.RequiredAncestor(turns, l.Turn.Branch, l.Turn.ID)
	if base == "" {
		if base, err = p.journalled(ctx, l); err != nil {
			return err
		}
	}
	for _, oid := range []string{base, work.AcceptedHead(pull, base)} {
		if kept, err := p.hasIn(ctx, l, oid); err != nil || kept {
			return err
		}
	}
	if base == "" {
		return nil
	}
	l.LostOID = base
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRewritten, Branch: l.Turn.Branch, Commit: base, Head: l.Turn.Head}}
}

// hasIn reports whether a commit is in the history of the turn's head.
func (p *lastLook) hasIn(ctx context.Context, l *env.Lease, oid string) (bool, error) {
	m := l.Repo.Git()
	if oid == "" || !m.Has(ctx, oid) { // the head was fetched with its history
		return false, nil
	}
	return m.IsAncestor(ctx, oid, l.Turn.Head)
}

// journalled returns the commit that the branch must contain according to the mirror's journals. It
// is used if the database has no turn of the branch because it was lost. Whether the journal's
// commit was pushed is unknown, so it counts only if somebody has force-pushed since.
func (p *lastLook) journalled(ctx context.Context, l *env.Lease) (string, error) {
	m := l.Repo.Git()
	keys, err := m.Journals(ctx)
	if err != nil {
		return "", err
	}
	var newest env.Journal
	for _, key := range keys {
		b, ok, err := m.Journal(ctx, key)
		if err != nil {
			return "", err
		}
		if !ok || key == l.Turn.Key {
			continue
		}
		if j, err := env.DecodeJournal(b); err == nil && j.Branch == l.Turn.Branch && j.Claimed > newest.Claimed {
			newest = j
		}
	}
	if newest.Turn == "" {
		return "", nil
	}
	timeline, err := l.Repo.GitHub.TimelineOf(ctx, l.Repo.Row.Current, l.Turn.Number)
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

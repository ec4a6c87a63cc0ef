package env

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Bundle returns a commit of the turn as other machines can have it, to be stored by PutBundle in the
// transaction that stores the commit's id; nil: there is no commit, or no other machine. If the commit
// is too large or cannot be read, the bundle has no content: what an agent was paid for is stored
// nevertheless, and this machine pushes it.
func (p *Env) Bundle(ctx context.Context, l *Lease, commit string) *store.Bundle {
	if commit == "" || !p.Store.Shared() {
		return nil
	}
	b := &store.Bundle{Turn: l.Turn.ID, Commit: commit}
	content, whole, err := l.Repo.Git().Bundle(ctx, l.Turn.Key, store.MaxBundle)
	switch {
	case err != nil:
		p.Log.WarnContext(ctx, "could not store a turn's commit for other machines", p.TurnAttrs(l, "error", err)...)
	case whole:
		b.Content = content
	}
	return b
}

// PutBundle stores a bundle. If only this machine can push the commit, the turn says so.
func (p *Env) PutBundle(ctx context.Context, tx *store.Tx, l *Lease, b *store.Bundle) error {
	if b == nil {
		return nil
	}
	only, err := tx.PutBundle(ctx, *b)
	if err != nil || only == "" {
		return err
	}
	why := work.Reason{
		Kind: work.WhyCommitLost, Commit: b.Commit, Local: "That is " + only,
		Text: fmt.Sprintf("the commit %s is too large to be pushed from another machine than the one where its agent worked", work.Short(b.Commit)),
	}
	return tx.DeferTurn(ctx, l.Turn.ID, time.Time{}, why, false, l.Turn.LastError)
}

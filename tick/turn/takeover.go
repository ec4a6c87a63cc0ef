package turn

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// takeOver gives this machine's mirror the commit of a turn whose agent answered on
// another machine. From then on the turn is finished as after a crash of this machine. A commit that
// cannot be had is lost, see commitLost.
func (p *Turns) takeOver(ctx context.Context, l *env.Lease) error {
	if !l.Resumed || !p.Store.Shared() {
		return nil
	}
	m := l.Repo.Git()
	if err := m.Ensure(ctx); err != nil {
		return fmt.Errorf("prepare the mirror: %w", err)
	}
	if l.Turn.Commit == "" || m.Has(ctx, l.Turn.Commit) {
		return nil
	}
	if taken, err := p.takeCommit(ctx, l); err != nil || !taken {
		return err
	}
	p.Changed(l, "commit read from the database", work.Short(l.Turn.Commit))
	return nil
}

// takeCommit adds the turn's commit to the mirror from the database; false: it is not there, or not
// to be used.
func (p *Turns) takeCommit(ctx context.Context, l *env.Lease) (taken bool, err error) {
	var b store.Bundle
	err = p.Store.View(ctx, func(tx *store.Tx) (err error) {
		b, _, err = tx.FindBundle(ctx, l.Turn.ID)
		return err
	})
	if err != nil || b.Commit != l.Turn.Commit || b.Content == nil {
		return false, err
	}
	err = l.Repo.Git().Unbundle(ctx, l.Turn.Key, b.Commit, b.Content)
	_, gone := errors.AsType[*git.MissingError](err)
	_, bad := errors.AsType[*git.BundleError](err)
	if gone || bad {
		p.Log.WarnContext(ctx, "a turn's commit in the database cannot be used", p.TurnAttrs(l, "error", err)...)
		return false, nil
	}
	return err == nil, err
}

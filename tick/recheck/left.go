package recheck

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// LeftOut is why such a turn ends.
const LeftOut = "its repository was taken out of the config"

// NotLeft ends a turn before it pushes when its repository was taken out of the config
// meanwhile.
func (p *Looks) NotLeft(ctx context.Context, l *env.Lease) error {
	var row work.Repo
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.GetRepo(ctx, l.Repo.Row.ID)
		return err
	})
	if err == nil && !row.LeftAt.IsZero() {
		err = &work.SupersededError{Reason: LeftOut}
	}
	return err
}

package recheck

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// Looks looks once more, right before an effect, whether it is still wanted.
type Looks struct {
	*env.Env
	reader  *ingest.Reader
	notices *notice.Notices
}

// New makes Looks.
func New(e *env.Env, r *ingest.Reader, n *notice.Notices) *Looks { return &Looks{e, r, n} }

// Reload reads the turn's item and events again: the world may have moved on
// since the turn was claimed, above all when it is resumed.
func (p *Looks) Reload(ctx context.Context, l *env.Lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) error {
		item, err := tx.GetItem(ctx, l.Item.ID)
		if err != nil {
			return err
		}
		l.Item = item
		if !item.State.Open() {
			return &work.CancelledError{Reason: "the work item is " + string(item.State)}
		}
		l.Events, err = env.TurnEvents(ctx, tx, l.Turn)
		l.Events = append(l.Events, env.Unread(l.Turn, l.Events)...)
		return err
	})
}

package notice

import (
	"context"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// due reports whether what a command's answer tells of has come about, or was
// given up: then the answer may be sent.
func (p *Notices) due(ctx context.Context, a work.Action) (bool, error) {
	if a.Kind != work.ActionComment || a.Base == "" {
		return true, nil
	}
	settled := true
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		for token := range strings.FieldsSeq(a.Base) {
			first, known, err := tx.GetAction(ctx, token)
			if err != nil {
				return err
			}
			settled = settled && (!known || first.State.Settled())
		}
		return nil
	})
	return settled, err
}

package snapshot

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Loader reads what a plan may depend on.
type Loader struct{ *env.Env }

// New makes a Loader.
func New(e *env.Env) *Loader { return &Loader{e} }

// FillFollowups reads what items without a pull request wait for.
func FillFollowups(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	v.Followups = map[int64]work.Followup{}
	for _, i := range v.Items {
		if _, opened := v.Pulls[i.ID]; opened {
			continue
		}
		f, ok, err := tx.FindFollowup(ctx, i.ID)
		if err != nil {
			return err
		}
		if ok {
			v.Followups[i.ID] = f
		}
	}
	return nil
}

package share

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// heldBy is the name under which the database keeps of which installation its shares are.
const heldBy = "installation"

// Own lets go of what another installation holds: the state folder is a copy of that one's, and
// both would take themselves for whoever holds the repositories. What the copy had begun is
// the other one's work, and ends before its first effect.
func (s *Shares) Own(ctx context.Context, tx *store.Tx) error {
	v, known, err := tx.GetValidator(ctx, 0, heldBy)
	if err != nil || known && v.ETag == s.me {
		return err
	}
	if known {
		s.Log.WarnContext(ctx, "the state folder is a copy of another machine's: what that one holds is let go of here")
		if err := tx.LoseShares(ctx); err != nil {
			return err
		}
	}
	return tx.PutValidator(ctx, work.Validator{URL: heldBy, ETag: s.me, SeenAt: s.Now()})
}

package turn

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// Turns runs turns from their claim to their end.
type Turns struct {
	*env.Env
	reader   *ingest.Reader
	notices  *tell.Notices
	Restorer *restorer
	LastLook *lastLook
	Briefs   *briefs
	Runner   *runner
}

// New returns Turns.
func New(e *env.Env, r *ingest.Reader, n *tell.Notices) *Turns {
	look := &lastLook{e, r}
	told := &briefs{e, look, r.MayCommand}
	restores := &restorer{e, r, look, told}
	return &Turns{
		Env: e, reader: r, notices: n, Restorer: restores, LastLook: look, Briefs: told,
		Runner: &runner{Env: e, restorer: restores, looks: look, briefs: told},
	}
}

// apply stores changes of a turn and logs new facts about reviews. The lease then has the step with
// which the turn ended.
func (p *Turns) apply(ctx context.Context, l *env.Lease, changes ...change.Change) error {
	news, err := change.Applier{Store: p.Store, Show: p.notices, Now: p.Now}.Apply(ctx, l.Repo.Row, changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if end, ok := c.(change.EndTurn); ok {
			l.Turn.Step = end.To
		}
	}
	for _, n := range news {
		tell.LogReview(ctx, p.Log, n, p.TurnAttrs(l)...)
	}
	return nil
}

// hasPendingCommand reports whether a command on the turn's item is pending without a planned
// reply.
func hasPendingCommand(ctx context.Context, tx *store.Tx, l *env.Lease) (bool, error) {
	pending, err := tx.ListPendingCommands(ctx, l.Item.RepoID)
	for _, e := range pending {
		if e.ItemID != l.Item.ID || e.State == work.SaidLocally {
			continue
		}
		_, planned, err := tx.GetAction(ctx, work.NoticeToken(l.Repo.Row.Key(), e.Number, e.Key))
		if err != nil || !planned {
			return !planned, err
		}
	}
	return false, err
}

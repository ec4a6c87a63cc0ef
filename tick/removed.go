package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/tell"
	"github.com/mergexo/gh-mergexo/tick/turn"
)

// A repository that the config no longer names is not touched, except that labels which say that we
// work on it are removed. Its turns end before their first effect; their events wait until the
// config names it again.

// endRemovedTurns ends the turns of repositories that the config no longer names. It skips a turn that a pass works on: that pass checks
// before it pushes.
func (p *Pass) endRemovedTurns(ctx context.Context) error {
	if len(p.Removed) == 0 {
		return nil
	}
	unfinished, err := store.Read(ctx, p.Store, func(tx *store.Tx) ([]work.Turn, error) { return tx.ListUnfinishedTurns(ctx) })
	if err != nil {
		return err
	}
	for _, t := range unfinished {
		at := slices.IndexFunc(p.Removed, func(r *env.Repo) bool { return r.Row.ID == t.RepoID })
		if at < 0 || p.InFlight(t) || !p.Mine(t.RepoID) {
			continue
		}
		if err := p.endRemovedTurn(ctx, p.Removed[at], t); err != nil {
			return fmt.Errorf("end turn %s: %w", t.Key, err)
		}
	}
	return nil
}

func (p *Pass) endRemovedTurn(ctx context.Context, r *env.Repo, t work.Turn) error {
	l := &env.Lease{Turn: t, Repo: r}
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if l.Turn, err = tx.TakeTurn(ctx, t); err != nil {
			return err
		}
		if l.Item, err = tx.GetItem(ctx, t.ItemID); err != nil {
			return err
		}
		r.Settings.Labels, err = labelsShown(ctx, tx, r.Row, l.Item)
		return err
	})
	if errors.Is(err, store.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx = store.Under(ctx, store.HoldTurn(l.Turn))
	if t.Step == work.StepClaimed && t.Runs > 0 { // its pass may have died while the agent ran
		if _, err := p.Orphans.EndMarked(ctx, p.Mark(t)); err != nil {
			p.Log.WarnContext(ctx, "could not look for processes of a killed pass", p.TurnAttrs(l, "error", err)...)
		}
	}
	begun, err := p.FirstEffect(ctx, l)
	if err != nil {
		return err
	}
	if begun { // its remaining actions wait with the repository
		return p.Store.Update(ctx, func(tx *store.Tx) error {
			return p.notices.Show(ctx, tx, work.Move{Item: l.Item.ID, Cause: work.CausePutBack, To: work.StateAwaitingFeedback}, p.Now())
		})
	}
	p.Changed(l, string(env.VerdictSuperseded), turn.ReasonRepoRemoved)
	return p.turns.Supersede(ctx, l, turn.ReasonRepoRemoved)
}

// labelsShown returns the names of the state labels from the item's action row, because the config
// no longer has them.
func labelsShown(ctx context.Context, tx *store.Tx, repo work.Repo, item work.Item) (work.Labels, error) {
	a, known, err := tx.GetAction(ctx, work.LabelsToken(repo.Key(), item.Number, tell.PurposeStatus))
	shown := work.LabellingOf(a)
	if err != nil || !known || len(shown.With) != 1 || len(shown.Without) != 2 {
		return work.Labels{Working: "agent:working", Blocked: "agent:blocked", Done: "agent:done"}, err
	}
	return work.Labels{Working: shown.With[0].Name, Blocked: shown.Without[0], Done: shown.Without[1]}, nil
}

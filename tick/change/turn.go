package change

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ResumeTurn resumes a blocked turn at its step.
type ResumeTurn struct {
	Turn int64
	Words
}

// Apply is part of Change.
func (c ResumeTurn) Apply(ctx context.Context, tx *Tx) error { return tx.ResumeTurn(ctx, c.Turn) }

// CancelTurn ends a turn that no pass works on. After its first effect the remaining actions become
// void.
type CancelTurn struct {
	Turn int64
	Words
}

// Apply is part of Change.
func (c CancelTurn) Apply(ctx context.Context, tx *Tx) error {
	const why = "the work was cancelled"
	t, err := tx.GetTurn(ctx, c.Turn)
	if err != nil || t.Step.Ended() {
		return err
	}
	planned, err := tx.ListTurnActions(ctx, t.ID)
	if err != nil {
		return err
	}
	end := work.StepCancelled
	if t.Begun(planned) {
		end = work.StepDone
	}
	if err := tx.VoidTurnActions(ctx, t.ID, why, tx.Now); err != nil {
		return err
	}
	if err := tx.FinishTurnEvents(ctx, t.ID, work.OutcomeVoid+why, tx.Now); err != nil {
		return err
	}
	return tx.EndTurn(ctx, t.ID, t.Step, end, why, tx.Now)
}

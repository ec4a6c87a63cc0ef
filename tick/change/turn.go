package change

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// ResumeTurn resumes a blocked turn at its step.
type ResumeTurn struct {
	Turn int64
	Words
}

// Apply is part of Change.
func (c ResumeTurn) Apply(ctx context.Context, tx *Tx) error { return tx.ResumeTurn(ctx, c.Turn) }

// DeferTurn does not try a turn before a time.
type DeferTurn struct {
	Turn      work.Turn // stored as the pass has it; the same holds for the kinds below
	Until     time.Time
	Why       work.Reason
	LastError string
	Failed    bool    // an attempt failed before it was counted
	GiveBack  bool    // the pass's attempt does not count, as nothing was paid for it
	Unused    []int64 // runs that used nothing, so that budgets do not count them
	Words
}

// Apply is part of Change.
func (c DeferTurn) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.SaveTurn(ctx, c.Turn); err != nil {
		return err
	}
	for _, run := range c.Unused {
		if err := tx.RefundTurn(ctx, run); err != nil {
			return err
		}
	}
	if c.GiveBack {
		if err := tx.RefundAttempt(ctx, c.Turn.ID); err != nil {
			return err
		}
	}
	return tx.DeferTurn(ctx, c.Turn.ID, c.Until, c.Why, c.Failed, c.LastError)
}

// BlockTurn parks a turn until a person acts. It resumes at its step.
type BlockTurn struct {
	Turn work.Turn
	Why  work.Reason
	Words
}

// Apply is part of Change.
func (c BlockTurn) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.SaveTurn(ctx, c.Turn); err != nil {
		return err
	}
	return tx.BlockTurn(ctx, c.Turn.ID, c.Why)
}

// EndTurn ends a turn. Its remaining actions become void.
type EndTurn struct {
	Turn    work.Turn
	To      work.Step
	Why     string
	Outcome string // of its events; empty: they wait for another turn
	Words
}

// Apply is part of Change.
func (c EndTurn) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.SaveTurn(ctx, c.Turn); err != nil {
		return err
	}
	if err := tx.VoidTurnActions(ctx, c.Turn.ID, c.Why, tx.Now); err != nil {
		return err
	}
	if c.Outcome != "" {
		if err := tx.FinishTurnEvents(ctx, c.Turn.ID, c.Outcome, tx.Now); err != nil {
			return err
		}
	} else if err := tx.ReleaseEvents(ctx, c.Turn.ID); err != nil {
		return err
	}
	return tx.EndTurn(ctx, c.Turn.ID, c.Turn.Step, c.To, c.Why, tx.Now)
}

// CancelTurn ends a turn that no pass works on. After its first effect it counts as done, and its
// commit stays under its ref.
type CancelTurn struct {
	Turn int64
	Words
}

// Apply is part of Change.
func (c CancelTurn) Apply(ctx context.Context, tx *Tx) error {
	t, err := tx.GetTurn(ctx, c.Turn)
	if err != nil || t.Step.Ended() {
		return err
	}
	planned, err := tx.ListTurnActions(ctx, t.ID)
	if err != nil {
		return err
	}
	return Cancelled(t, t.Begun(planned), "the work was cancelled").Apply(ctx, tx)
}

// Cancelled ends a turn that is no longer wanted. After its first effect it counts as done, and its
// commit stays under its ref.
func Cancelled(t work.Turn, begun bool, why string) EndTurn {
	end := EndTurn{Turn: t, To: work.StepCancelled, Why: why, Outcome: work.OutcomeVoid + why}
	if begun {
		end.To = work.StepDone
	}
	return end
}

// RedoTurn returns a turn whose commit is lost to the step before its agent answered.
type RedoTurn struct {
	Turn work.Turn // without commit and answer
	Push int64     // the action that was to push the commit, and did not
	Why  string
	Words
}

// Apply is part of Change.
func (c RedoTurn) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.SaveTurn(ctx, c.Turn); err != nil {
		return err
	}
	if err := tx.MarkUnsent(ctx, c.Push); err != nil {
		return err
	}
	if err := tx.VoidTurnActions(ctx, c.Turn.ID, c.Why, tx.Now); err != nil {
		return err
	}
	return tx.AdvanceTurn(ctx, c.Turn.ID, c.Turn.Step, work.StepClaimed, tx.Now)
}

// Failure counts a failure of a turn, for the report.
type Failure struct {
	Turn int64
	Kind work.ReasonKind
	Words
}

// Apply is part of Change.
func (c Failure) Apply(ctx context.Context, tx *Tx) error {
	return tx.CountFailure(ctx, c.Turn, c.Kind)
}

// KeepSession stores the session of a turn's agent, if it has one, for the item's next turn. Sessions of
// other agents in the same role end, because they lack this turn.
type KeepSession struct {
	Turn work.Turn
	Words
}

// Apply is part of Change.
func (c KeepSession) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.DropOtherSessions(ctx, store.SessionOf(c.Turn)); err != nil || c.Turn.Session == "" {
		return err
	}
	return tx.PutSession(ctx, store.SessionOf(c.Turn), c.Turn.Session, c.Turn.Slot, tx.Now)
}

package agentrun

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Each run of an agent is stored before it starts, and the first of a pass as an
// attempt of its turn: an attempt that ends with its pass was one. It is given
// back in two places: where its answer is stored, and in GiveBack.

// beginRun stores that the agent is about to run, if it may, and tells what was
// counted of its session.
func (p *Runner) beginRun(ctx context.Context, l *env.Lease, session string) (run work.Run, counted work.Usage, err error) {
	if err := p.looks.NotHalted(ctx, l); err != nil {
		return run, counted, err
	}
	run = work.Run{Turn: l.Turn.ID, Attempt: !l.Attempted, Agent: l.Turn.Agent, Session: session, Began: p.Now()}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.looks.Affords(ctx, tx, l); err != nil {
			return err
		}
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if run.ID, err = tx.BeginRun(ctx, run); err != nil {
			return err
		}
		counted, err = tx.GetSessionUsage(ctx, l.Item.ID, l.Turn.Agent, session)
		return err
	})
	if err != nil {
		return run, counted, err
	}
	l.Turn.Runs++
	l.BegunRuns = append(l.BegunRuns, run.ID)
	if run.Attempt {
		l.Turn.Attempts++
		l.Attempted = true
	}
	return run, counted, nil
}

// endRun stores what a run used, with what its session counts from now on: both
// or neither, so that nothing is counted twice or never. False where what was told
// cannot be: its session is not used again.
func (p *Runner) endRun(ctx context.Context, l *env.Lease, run work.Run, res agent.Result, ended error) (believed bool, err error) {
	ctx = context.WithoutCancel(ctx)
	run.Ended = p.Now()
	run.Usage, believed = p.plausible(ctx, p.TurnAttrs(l), run, res.Usage)
	run.Unknown = res.Usage == work.Usage{} && cutShort(ended)
	if res.Session != "" {
		run.Session = res.Session
	}
	l.Turn.Usage = l.Turn.Usage.Add(run.Usage)
	l.Used = l.Used || run.Unknown || run.Usage != work.Usage{}
	return believed, p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if err := tx.EndRun(ctx, run); err != nil {
			return err
		}
		return p.countSession(ctx, tx, l.Turn, run, res.Counted, believed)
	})
}

// countSession stores what a run's session counts from now on. A total that is not
// believed is not stored: later runs would count as nothing. Its session is dropped
// instead, for there each of them would count that total again.
func (p *Runner) countSession(ctx context.Context, tx *store.Tx, u work.Turn, run work.Run, counted work.Usage, believed bool) error {
	switch {
	case run.Session == "" || counted == (work.Usage{}):
		return nil
	case !believed:
		return tx.DropSession(ctx, store.SessionKey{ItemID: u.ItemID, Agent: run.Agent, Role: u.Role()})
	}
	return tx.PutSessionUsage(ctx, u.ItemID, run.Agent, run.Session, counted, p.Now())
}

// cutShort reports whether a run was ended before it could say what it used: by a
// limit, a signal, or people. One that ended by itself said all there was to say.
func cutShort(ended error) bool {
	var (
		failed  *agent.FailedError
		answer  *agent.AnswerError
		session *agent.SessionError
		wait    *work.WaitError
		blocked *work.BlockedError
	)
	byItself := errors.As(ended, &failed) || errors.As(ended, &answer) || errors.As(ended, &session) || errors.As(ended, &wait) || errors.As(ended, &blocked)
	return ended != nil && !byItself
}

// GiveBack takes this pass's attempt off the turn's count: it waits for something
// that is nobody's fault. If nothing was used, the budgets do not count it either.
func (p *Runner) GiveBack(ctx context.Context, tx *store.Tx, l *env.Lease) error {
	if !l.Attempted {
		return nil
	}
	if !l.Used {
		for _, id := range l.BegunRuns {
			if err := tx.GiveBackTurn(ctx, id); err != nil {
				return err
			}
		}
	}
	return tx.GiveBackAttempt(ctx, l.Turn.ID)
}

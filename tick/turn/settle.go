package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// Settlement is the effect of an error on its turn.
type Settlement struct {
	Kind   env.VerdictKind
	until  time.Time
	Reason string      // text for this machine
	why    work.Reason // why it is blocked or waits
	parks  bool        // a stored answer waits for this: nothing is wrong with the turn
	halted bool        // `pause --all` is in force; the turn keeps its last error and gets no wait reason
}

// blockedBy returns the settlement if a person must act.
func blockedBy(why work.Reason) Settlement {
	v := Settlement{Kind: env.VerdictBlocked, why: why}
	switch why.Kind { //nolint:exhaustive // the rest is as it is
	case work.WhyNewComments:
		v.Kind = env.VerdictSuperseded
	case work.WhyReviewerAccount: // the stored review is posted once the reviewer's account works again
		v.parks = true
	}
	return v
}

// parkedBy returns the settlement if a person must act and a stored answer is kept until then.
func parkedBy(why work.Reason) Settlement {
	v := blockedBy(why)
	v.parks = true
	return v
}

func waitsFor(why work.Reason, until time.Time) Settlement {
	return Settlement{Kind: env.VerdictWait, until: until, why: why}
}

// classify is the only place that decides what an error means, by types and fields, never by text.
func classify(err error, t work.Turn, now time.Time, retryBase time.Duration) Settlement {
	var (
		wait       *work.WaitError
		blocked    *work.BlockedError
		superseded *work.SupersededError
		cancelled  *work.CancelledError
		rejected   *git.RejectedError
		access     *git.AccessError
		signing    *git.SigningError
		network    *git.NetworkError
		offline    *transport.UnreachableError
		halted     *folder.HaltedError
	)
	soon := now.Add(retryBase)
	switch {
	case err == nil:
		return Settlement{Kind: env.VerdictDone}
	case errors.Is(err, context.Canceled):
		return Settlement{Kind: env.VerdictInterrupted, Reason: "interrupted"}
	case errors.As(err, &wait):
		return waitsFor(wait.Reason, later(wait.Until, now))
	case errors.As(err, &blocked):
		return blockedBy(blocked.Reason)
	case errors.As(err, &halted):
		return Settlement{Kind: env.VerdictWait, halted: true, until: now, why: halted.Reason()}
	case errors.As(err, &superseded):
		return Settlement{Kind: env.VerdictSuperseded, Reason: superseded.Reason}
	case errors.As(err, &cancelled):
		return Settlement{Kind: env.VerdictCancelled, Reason: cancelled.Reason}
	case errors.As(err, &rejected):
		return parkedBy(work.Reason{Kind: work.WhyPushRefused, Text: rejected.Reason, Advice: rejected.Hint})
	case errors.As(err, &access):
		return parkedBy(work.Reason{Kind: work.WhyNoGitAccess, Text: access.Detail})
	case errors.As(err, &signing):
		return blockedBy(work.Reason{Kind: work.WhyNotSigned, Text: signing.Error()})
	case errors.As(err, &offline), errors.As(err, &network):
		return waitsFor(work.Reason{Kind: work.WhyNoConnection, Local: err.Error()}, soon)
	case github.IsStatus(err, 401) && t.Step != work.StepClaimed: // nothing can be posted on GitHub either; every pass reports it
		return waitsFor(work.Reason{Kind: work.WhyLoginUnknown}, now.Add(15*retryBase))
	case github.IsStatus(err, 401, 403):
		return parkedBy(work.Reason{Kind: work.WhyGitHubRefused, Text: err.Error()})
	case noRoom(err):
		return waitsFor(work.Reason{Kind: work.WhyDiskFull}, soon)
	case t.Attempts+1 >= work.MaxAttempts:
		return blockedBy(givenUp(err, t.Attempts+1))
	}
	return retry(err, now.Add(work.Backoff(retryBase, t.Attempts+1)))
}

// givenUp returns why a turn is blocked after its last attempt. The error's text goes to the log
// and to show only: it, or what an agent printed, may name this machine's folders and worse.
func givenUp(err error, attempts int) work.Reason {
	why := work.Reason{Kind: work.WhyFailed, Count: attempts, Local: err.Error()}
	if failed, ok := errors.AsType[*agent.FailedError](err); ok {
		why.Text, why.Advice = failed.Did(), failed.Drift
	}
	if passed, ok := errors.AsType[*agent.LimitError](err); ok { // it names nothing of this machine
		why.Kind, why.Text, why.Advice = work.WhyLimitPassed, passed.Did, passed.Hint
	}
	return why
}

// retry returns the settlement for one more automatic attempt.
func retry(err error, at time.Time) Settlement {
	return Settlement{Kind: env.VerdictRetry, until: at, why: work.Reason{Kind: work.WhyTriedAgain, Local: err.Error(), At: at.UnixMilli()}}
}

func later(t, now time.Time) time.Time {
	if t.Before(now) {
		return now
	}
	return t
}

// Settle stores the result of a turn and adds it to the report.
func (p *Turns) Settle(ctx context.Context, l *env.Lease, err error, rep *env.Report) env.TurnReport {
	ctx = context.WithoutCancel(ctx) // an interrupt must not lose the verdict
	v := classify(err, l.Earlier(), p.Now(), p.Config.Runtime.RetryBase)
	v.why = v.why.Map(p.Secrets.Redact)
	if v.why.None() {
		v.Reason = p.Secrets.Redact(v.Reason)
	} else {
		v.Reason = explain.Reason(v.why, p.Here(l.Repo, l.Item, !l.Turn.Kind.Start())).Here()
	}
	if stored := p.storeVerdict(ctx, l, v, err); stored != nil {
		p.Log.ErrorContext(ctx, "could not store the result of a turn", p.TurnAttrs(l, "error", stored)...)
	}
	p.Changed(l, string(v.Kind), v.Reason)
	reason := v.Reason
	if v.Kind == env.VerdictDone {
		reason = l.Turn.Reason
	}
	done := env.TurnReport{
		Repo: p.Config.Called(l.Repo.Name), Number: l.Turn.Number, Kind: l.Turn.Kind, TurnKey: l.Turn.Key, Step: l.Turn.Step,
		Outcome: string(v.Kind), Reason: reason, Code: v.why.Kind, URL: p.turnURL(ctx, l), Resumed: l.Resumed,
	}
	rep.AddTurn(done)
	return done
}

func (p *Turns) storeVerdict(ctx context.Context, l *env.Lease, v Settlement, err error) error {
	switch v.Kind {
	case env.VerdictDone, env.VerdictInterrupted:
		return nil // Finish has stored it; an interrupted turn is unchanged, and the next pass resumes it
	case env.VerdictWait:
		return p.deferTurn(ctx, l, v, false, err)
	case env.VerdictRetry:
		return p.deferTurn(ctx, l, v, true, err)
	case env.VerdictBlocked, env.VerdictSuperseded, env.VerdictCancelled:
	}
	begun, begunErr := p.FirstEffect(ctx, l)
	if begunErr != nil {
		return begunErr
	}
	switch {
	case v.why.Kind == work.WhyItemBudget:
		return p.block(ctx, l, v, begun, err)
	case v.parks && l.Turn.Step != work.StepClaimed: // its agent is not paid again
		return p.block(ctx, l, v, true, err)
	case l.Turn.Kind.Start() && !begun && (v.Kind == env.VerdictBlocked || v.why.Kind == work.WhyNewComments):
		return p.awaitWord(ctx, l, v)
	case v.Kind == env.VerdictCancelled:
		return p.cancel(ctx, l, v, begun)
	case v.Kind == env.VerdictSuperseded && !begun:
		return p.Supersede(ctx, l, v)
	}
	return p.block(ctx, l, v, begun, err)
}

func (p *Turns) deferTurn(ctx context.Context, l *env.Lease, v Settlement, counted bool, err error) error {
	why, failed := v.why, p.brief(err)
	if v.halted {
		why, failed = work.Reason{}, l.Turn.LastError
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if !counted {
			if err := p.Runner.GiveBack(ctx, tx, l); err != nil {
				return err
			}
		} else if err := tx.CountFailure(ctx, l.Turn.ID, why.Kind); err != nil {
			return err
		}
		return tx.DeferTurn(ctx, l.Turn.ID, v.until, why, counted && !l.Attempted, failed)
	})
}

// maxBrief limits a stored error's text, in bytes.
const maxBrief = 4 << 10

// brief returns an error's text, redacted and shortened. It is stored and shown to the next
// attempt.
func (p *Turns) brief(err error) string {
	text := p.Secrets.Redact(err.Error())
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + " …"
	}
	return text
}

// Supersede ends a turn before its first effect and releases its events for a new turn.
func (p *Turns) Supersede(ctx context.Context, l *env.Lease, v Settlement) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.endUnsent(ctx, tx, l, work.StepSuperseded, v.Reason); err != nil {
			return err
		}
		if err := tx.ReleaseEvents(ctx, l.Turn.ID); err != nil {
			return err
		}
		return p.backToWaiting(ctx, tx, l)
	})
}

// cancel ends a turn that is no longer wanted. After its first effect the remaining actions become
// void, and its commit stays under its ref.
func (p *Turns) cancel(ctx context.Context, l *env.Lease, v Settlement, begun bool) error {
	end := work.StepCancelled
	if begun {
		end = work.StepDone
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.endUnsent(ctx, tx, l, end, v.Reason); err != nil {
			return err
		}
		if err := tx.FinishTurnEvents(ctx, l.Turn.ID, work.OutcomeVoid+v.Reason, p.Now()); err != nil {
			return err
		}
		return p.backToWaiting(ctx, tx, l)
	})
}

func (p *Turns) endUnsent(ctx context.Context, tx *store.Tx, l *env.Lease, to work.Step, why string) error {
	now := p.Now()
	if err := tx.SaveTurn(ctx, l.Turn); err != nil {
		return err
	}
	if err := tx.VoidTurnActions(ctx, l.Turn.ID, why, now); err != nil {
		return err
	}
	from := l.Turn.Step
	l.Turn.Step = to
	return tx.EndTurn(ctx, l.Turn.ID, from, to, why, now)
}

// backToWaiting returns the item to its state before the turn, unless it was merged or closed
// meanwhile.
func (p *Turns) backToWaiting(ctx context.Context, tx *store.Tx, l *env.Lease) error {
	m := work.Move{Item: l.Item.ID, Cause: work.CausePutBack, To: work.StateAwaitingFeedback}
	switch {
	case l.Turn.Kind == work.KindImplementationStart:
		m.To = work.StateReady
	case l.Turn.Kind.Start():
		m.To = work.StatePending
	}
	if l.Turn.Step == work.StepCancelled {
		m.Cause = work.CauseCancelled
		if l.Turn.Kind.Start() {
			m.To = work.StateClosed // labelling it again starts over
		}
	}
	m, err := putBack(ctx, tx, l, m)
	if err != nil {
		return err
	}
	return notice.MovedOrGone(p.notices.Move(ctx, tx, m, p.Now()))
}

// block parks a turn until a person acts and reports why on GitHub. Before its first effect the
// turn ends, and its events wait for the next one, which starts at once if people commented while
// it ran. After its first effect the same row resumes later.
func (p *Turns) block(ctx context.Context, l *env.Lease, v Settlement, begun bool, failed error) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		talked, err := p.talkedMeanwhile(ctx, tx, l)
		if err != nil {
			return err
		}
		if err := tx.CountFailure(ctx, l.Turn.ID, v.why.Kind); err != nil {
			return err
		}
		if begun {
			if err := tx.SaveTurn(ctx, l.Turn); err != nil {
				return err
			}
			if err := tx.BlockTurn(ctx, l.Turn.ID, v.why); err != nil {
				return err
			}
		} else if err := p.endAsking(ctx, tx, l, work.StepFailed, v.Reason); err != nil {
			return err
		}
		if err := recordLost(ctx, tx, l); err != nil {
			return err
		}
		switch {
		case l.Turn.Reviewer != "" && !begun && v.why.Kind != work.WhyItemBudget:
			return p.failReview(ctx, tx, l, v, failed)
		case talked && !begun:
			return p.backToWaiting(ctx, tx, l)
		}
		m := work.Move{Item: l.Item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: v.why}
		return notice.MovedOrGone(p.notices.Move(ctx, tx, m, p.Now()))
	})
}

// endAsking ends a turn before its first effect. Its events wait for the next turn.
func (p *Turns) endAsking(ctx context.Context, tx *store.Tx, l *env.Lease, to work.Step, why string) error {
	if err := p.endUnsent(ctx, tx, l, to, why); err != nil {
		return err
	}
	if l.EventsExhausted {
		return tx.FinishTurnEvents(ctx, l.Turn.ID, "blocked", p.Now())
	}
	return tx.ReleaseEvents(ctx, l.Turn.ID)
}

// turnURL returns the address of the turn's last visible action.
func (p *Turns) turnURL(ctx context.Context, l *env.Lease) string {
	planned, err := p.TurnActions(ctx, l)
	if err != nil {
		return ""
	}
	url := ""
	for _, a := range planned {
		if a.ResultURL != "" && a.Need == work.NeedRequired {
			url = a.ResultURL
		}
	}
	return url
}

// commitLost returns a turn to the step before its agent answered: the mirror was deleted or
// damaged and the commit is gone. A push that was sent may have arrived, so commitLost first looks
// for it until settle_after has passed. If it arrives still later, the lease lets only one of the
// two pushes through, and the trailer shows which.
func (p *Turns) commitLost(ctx context.Context, l *env.Lease, push work.Action) error {
	lost := fmt.Sprintf("the commit %s is gone from the mirror", work.Short(l.Turn.Commit))
	now := p.Now()
	if push.Sends > 0 {
		seen, err := p.Effects().Look(ctx, p.Scope(l.Repo), push)
		if err != nil || seen {
			return err
		}
		if until := push.SentAt.Add(p.Config.Runtime.SettleAfter); until.After(now) {
			return &work.WaitError{Until: until, Reason: work.Reason{Kind: work.WhyCommitLost, Text: lost + ", and it is unclear whether it was pushed"}}
		}
	}
	l.Turn.Commit, l.Turn.Answer = "", nil
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if err := tx.MarkUnsent(ctx, push.ID); err != nil {
			return err
		}
		if err := tx.VoidTurnActions(ctx, l.Turn.ID, lost, now); err != nil {
			return err
		}
		return tx.AdvanceTurn(ctx, l.Turn.ID, work.StepAnswered, work.StepClaimed, now)
	})
	if err != nil {
		return fmt.Errorf("take turn %s back: %w", l.Turn.Key, err)
	}
	l.Turn.Step = work.StepClaimed
	return &work.WaitError{Until: now, Reason: work.Reason{Kind: work.WhyCommitLost, Text: lost + "; the agent works again"}}
}

// noRoom reports whether the disk is full or read-only. That is not the turn's fault: it waits and
// no attempt counts.
func noRoom(err error) bool {
	if _, db := errors.AsType[*store.DiskError](err); db {
		return true
	}
	if command, ok := errors.AsType[*git.CommandError](err); ok && command.NoRoom() {
		return true
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}

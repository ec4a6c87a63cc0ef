package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/agentrun"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
	"github.com/mergexo/gh-mergexo/tick/recheck"
)

// Verdict is what an error means for its turn.
type Verdict struct {
	Kind   env.VerdictKind
	until  time.Time
	Reason string
	public string // what GitHub is told, where the reason is this machine's business
	parks  bool   // an answer that is stored waits for it: nothing is wrong with the turn
	spent  bool   // a budget is: only what gives it more lets it resume
	halted bool   // everything on this machine is paused: whether that lasts is not the turn's to say
	hint   string

	followup work.FollowupKind // what a start waits for; empty: it does not, or for anything else
}

// classify is the one place that says what an error means. It goes by types
// and fields, never by prose.
func classify(err error, t work.Turn, now time.Time, retryBase time.Duration) Verdict {
	var (
		wait       *work.WaitError
		blocked    *work.BlockedError
		followup   *work.FollowupError
		superseded *work.SupersededError
		cancelled  *work.CancelledError
		rejected   *git.RejectedError
		access     *git.AccessError
		signing    *git.SigningError
		network    *git.NetworkError
		offline    *github.UnreachableError
		spent      *recheck.SpentError
		unanswered *recheck.UnansweredError
		halted     *env.HaltedError
	)
	soon := now.Add(retryBase)
	switch {
	case err == nil:
		return Verdict{Kind: env.VerdictDone}
	case errors.Is(err, context.Canceled):
		return Verdict{Kind: env.VerdictInterrupted, Reason: "interrupted"}
	case errors.As(err, &wait):
		return Verdict{Kind: env.VerdictWait, until: later(wait.Until, now), Reason: wait.Reason}
	case errors.As(err, &blocked):
		return blockedBy(blocked)
	case errors.As(err, &halted):
		return Verdict{Kind: env.VerdictWait, halted: true, until: now, Reason: halted.Says()}
	case errors.As(err, &spent):
		return Verdict{Kind: env.VerdictBlocked, spent: true, Reason: spent.Reason, hint: spending.AnotherAllowance}
	case errors.As(err, &unanswered):
		return Verdict{Kind: env.VerdictBlocked, Reason: unanswered.Error(), public: unanswered.Public(), hint: recheck.Enduring}
	case errors.As(err, &followup):
		v := Verdict{Kind: env.VerdictBlocked, Reason: followup.Reason, hint: followup.Hint, followup: followup.Kind}
		if v.followup == work.FollowupComments {
			v.Kind = env.VerdictSuperseded
		}
		return v
	case errors.As(err, &superseded):
		return Verdict{Kind: env.VerdictSuperseded, Reason: superseded.Reason}
	case errors.As(err, &cancelled):
		return Verdict{Kind: env.VerdictCancelled, Reason: cancelled.Reason}
	case errors.As(err, &rejected):
		return Verdict{Kind: env.VerdictBlocked, parks: true, Reason: "the push was refused: " + rejected.Reason, hint: rejected.Hint + retryPush}
	case errors.As(err, &access):
		return Verdict{Kind: env.VerdictBlocked, parks: true, Reason: "git has no access to the repository: " + access.Detail, hint: "run `gh auth status` and `gh auth setup-git`, or set remote_url in the config"}
	case errors.As(err, &signing):
		return Verdict{Kind: env.VerdictBlocked, Reason: signing.Error(), hint: "make signing work without a prompt, or set commit.gpgsign to false"}
	case errors.As(err, &offline), errors.As(err, &network):
		return Verdict{Kind: env.VerdictWait, until: soon, Reason: "no connection: " + err.Error()}
	case github.IsStatus(err, 401) && t.Step != work.StepClaimed: // nothing can be said on GitHub either; every pass says it
		return Verdict{Kind: env.VerdictWait, until: now.Add(15 * retryBase), Reason: "GitHub does not know the login; run `gh auth status`"}
	case github.IsStatus(err, 401, 403):
		return Verdict{Kind: env.VerdictBlocked, parks: true, Reason: "GitHub refused: " + err.Error(), hint: "check what the account may do on the repository, and `gh auth status`"}
	case noRoom(err):
		return Verdict{Kind: env.VerdictWait, until: soon, Reason: "the disk of the machine that runs it takes nothing more; make room there"}
	case t.Attempts+1 >= work.MaxAttempts:
		return givenUp(err, t.Attempts+1)
	}
	return Verdict{Kind: env.VerdictRetry, until: now.Add(work.Backoff(retryBase, t.Attempts+1)), Reason: err.Error()}
}

// blockedBy is the verdict where a person must act.
func blockedBy(b *work.BlockedError) Verdict {
	v := Verdict{Kind: env.VerdictBlocked, Reason: b.Reason, hint: b.Hint}
	if b.Local != "" {
		v.public, v.Reason = b.Reason, b.Reason+" "+work.Sentence(b.Local)
	}
	return v
}

// givenUp is the verdict after the last attempt. What failed is in the log and
// in show; an error's text, or what an agent printed, may name this machine's
// folders and worse, and is not published.
func givenUp(err error, attempts int) Verdict {
	v := Verdict{
		Kind:   env.VerdictBlocked,
		Reason: fmt.Sprintf("it failed %d times, at last with: %v", attempts, err),
		public: fmt.Sprintf("it failed %d times. Why is in the log of the machine that runs it, and `gh mergexo show` says it there", attempts),
	}
	failed, ok := errors.AsType[*agent.FailedError](err)
	if ok {
		v.public = fmt.Sprintf("the agent %s, %d times. What it printed is in the log of the machine that runs it", failed.Did(), attempts)
		v.hint = "see that the agent works on that machine, then comment to have it tried again"
		if failed.Drift != "" {
			v.hint = fmt.Sprintf("see that the agent works on that machine (%s), then comment to have it tried again", failed.Drift)
		}
	}
	if passed, ok := errors.AsType[*agent.LimitError](err); ok { // it names nothing of the machine
		v.public = fmt.Sprintf("the agent %s, %d times", passed.Did, attempts)
		v.hint = passed.Hint
	}
	return v
}

func later(t, now time.Time) time.Time {
	if t.Before(now) {
		return now
	}
	return t
}

// Settle stores what became of a turn, whatever became of it.
func (p *Turns) Settle(ctx context.Context, l *env.Lease, err error, rep *env.Report) {
	ctx = context.WithoutCancel(ctx) // an interrupt must not lose the verdict
	v := classify(err, l.Earlier(), p.Now(), p.Config.Runtime.RetryBase)
	if v.hint == "" {
		v.hint = agentrun.WayOn(l)
	}
	v.Reason, v.public, v.hint = p.Secrets.Redact(v.Reason), p.Secrets.Redact(v.public), p.Secrets.Redact(v.hint)
	if stored := p.storeVerdict(ctx, l, v, err); stored != nil {
		p.Log.ErrorContext(ctx, "could not store what became of a turn", p.TurnAttrs(l, "error", stored)...)
	}
	p.Changed(l, string(v.Kind), v.Reason)
	reason := v.Reason
	if v.Kind == env.VerdictDone {
		reason = l.Turn.Reason
	}
	rep.AddTurn(env.TurnReport{
		Repo: p.Config.Called(l.Repo.Name), Number: l.Turn.Number, Kind: l.Turn.Kind, TurnKey: l.Turn.Key, Step: l.Turn.Step,
		Outcome: string(v.Kind), Reason: reason, URL: p.turnURL(ctx, l), Resumed: l.Resumed,
	})
}

func (p *Turns) storeVerdict(ctx context.Context, l *env.Lease, v Verdict, err error) error {
	switch v.Kind {
	case env.VerdictDone, env.VerdictInterrupted:
		return nil // stored by finish; left as it was, the next pass resumes it
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
	case v.spent:
		return p.block(ctx, l, v, begun)
	case v.parks && l.Turn.Step != work.StepClaimed: // its agent is not paid again
		return p.block(ctx, l, v, true)
	case l.Turn.Kind.Start() && !begun && (v.Kind == env.VerdictBlocked || v.followup != ""):
		return p.awaitWord(ctx, l, v)
	case v.Kind == env.VerdictCancelled:
		return p.cancel(ctx, l, v, begun)
	case v.Kind == env.VerdictSuperseded && !begun:
		return p.Supersede(ctx, l, v)
	}
	return p.block(ctx, l, v, begun)
}

func (p *Turns) deferTurn(ctx context.Context, l *env.Lease, v Verdict, counted bool, err error) error {
	reason, failed := v.Reason, p.brief(err)
	if v.halted {
		reason, failed = "", l.Turn.LastError
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if !counted {
			if err := p.Runner.GiveBack(ctx, tx, l); err != nil {
				return err
			}
		}
		return tx.DeferTurn(ctx, l.Turn.ID, v.until, reason, counted && !l.Attempted, failed)
	})
}

// maxBrief bounds what is stored of an error, in bytes.
const maxBrief = 4 << 10

// brief is an error's text as it may be stored and shown to the next attempt.
func (p *Turns) brief(err error) string {
	text := p.Secrets.Redact(err.Error())
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + " …"
	}
	return text
}

// Supersede ends a turn before its first effect: its events make a new one.
func (p *Turns) Supersede(ctx context.Context, l *env.Lease, v Verdict) error {
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

// cancel ends a turn that nobody wants any more. After its first effect what
// is left of it becomes void, and its tree stays as a ref.
func (p *Turns) cancel(ctx context.Context, l *env.Lease, v Verdict, begun bool) error {
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

// backToWaiting gives the item the state that it had before the turn, unless
// it was merged or closed in between.
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
			m.To = work.StateClosed // a label set again starts over
		}
	}
	m, err := putBack(ctx, tx, l, m)
	if err != nil {
		return err
	}
	return notice.MovedOrGone(p.notices.Move(ctx, tx, m, p.Now()))
}

// block parks a turn until a person acts, and says so where they will see it.
// Before its first effect the turn ends, and its comments wait for the next
// one, which begins at once where people said more while it ran; after it the same
// row resumes later.
func (p *Turns) block(ctx context.Context, l *env.Lease, v Verdict, begun bool) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		talked, err := p.talkedMeanwhile(ctx, tx, l)
		if err != nil {
			return err
		}
		if begun {
			if err := tx.SaveTurn(ctx, l.Turn); err != nil {
				return err
			}
			if err := tx.BlockTurn(ctx, l.Turn.ID, v.Reason); err != nil {
				return err
			}
		} else if err := p.endAsking(ctx, tx, l, work.StepFailed, v.Reason); err != nil {
			return err
		}
		if err := recheck.RecordLost(ctx, tx, l); err != nil {
			return err
		}
		if talked && !begun {
			return p.backToWaiting(ctx, tx, l)
		}
		m := work.Move{Item: l.Item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: v.Reason, Hint: v.hint, Public: v.public}
		return notice.MovedOrGone(p.notices.Move(ctx, tx, m, p.Now()))
	})
}

// endAsking ends a turn before its first effect. What it was about waits for the
// turn that resumes.
func (p *Turns) endAsking(ctx context.Context, tx *store.Tx, l *env.Lease, to work.Step, why string) error {
	if err := p.endUnsent(ctx, tx, l, to, why); err != nil {
		return err
	}
	if l.EventsExhausted {
		return tx.FinishTurnEvents(ctx, l.Turn.ID, "blocked", p.Now())
	}
	return tx.ReleaseEvents(ctx, l.Turn.ID)
}

// turnURL is where a person can see what the turn did: its last visible action.
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

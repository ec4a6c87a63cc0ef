package tick

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
)

// verdict is what an error means for its turn.
type verdict struct {
	kind   verdictKind
	until  time.Time
	reason string
	public string // what GitHub is told, where the reason is this machine's business
	parks  bool   // an answer that is stored waits for it: nothing is wrong with the turn
	spent  bool   // a budget is: only what gives it more lets it go on
	halted bool   // everything on this machine is paused: whether that lasts is not the turn's to say
	hint   string

	followup work.FollowupKind // what a start waits for; empty: it does not, or for anything else
}

type verdictKind string

const (
	verdictDone        verdictKind = "done"
	verdictInterrupted verdictKind = "interrupted"
	verdictWait        verdictKind = "waiting"
	verdictRetry       verdictKind = "retrying"
	verdictBlocked     verdictKind = "blocked"
	verdictSuperseded  verdictKind = "superseded"
	verdictCancelled   verdictKind = "cancelled"
)

// classify is the one place that says what an error means. It goes by types
// and fields, never by prose.
func classify(err error, t work.Turn, now time.Time, retryBase time.Duration) verdict {
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
		spent      *spentError
		unanswered *unansweredError
		halted     *haltedError
	)
	soon := now.Add(retryBase)
	switch {
	case err == nil:
		return verdict{kind: verdictDone}
	case errors.Is(err, context.Canceled):
		return verdict{kind: verdictInterrupted, reason: "interrupted"}
	case errors.As(err, &wait):
		return verdict{kind: verdictWait, until: later(wait.Until, now), reason: wait.Reason}
	case errors.As(err, &blocked):
		return blockedBy(blocked)
	case errors.As(err, &halted):
		return verdict{kind: verdictWait, halted: true, until: now, reason: halted.Says()}
	case errors.As(err, &spent):
		return verdict{kind: verdictBlocked, spent: true, reason: spent.Reason, hint: spending.AnotherAllowance}
	case errors.As(err, &unanswered):
		return verdict{kind: verdictBlocked, reason: unanswered.Error(), public: unanswered.public(), hint: enduring}
	case errors.As(err, &followup):
		v := verdict{kind: verdictBlocked, reason: followup.Reason, hint: followup.Hint, followup: followup.Kind}
		if v.followup == work.FollowupComments {
			v.kind = verdictSuperseded
		}
		return v
	case errors.As(err, &superseded):
		return verdict{kind: verdictSuperseded, reason: superseded.Reason}
	case errors.As(err, &cancelled):
		return verdict{kind: verdictCancelled, reason: cancelled.Reason}
	case errors.As(err, &rejected):
		return verdict{kind: verdictBlocked, parks: true, reason: "the push was refused: " + rejected.Reason, hint: rejected.Hint + retryPush}
	case errors.As(err, &access):
		return verdict{kind: verdictBlocked, parks: true, reason: "git has no access to the repository: " + access.Detail, hint: "run `gh auth status` and `gh auth setup-git`, or set remote_url in the config"}
	case errors.As(err, &signing):
		return verdict{kind: verdictBlocked, reason: signing.Error(), hint: "make signing work without a prompt, or set commit.gpgsign to false"}
	case errors.As(err, &offline), errors.As(err, &network):
		return verdict{kind: verdictWait, until: soon, reason: "no connection: " + err.Error()}
	case github.IsStatus(err, 401) && t.Step != work.StepClaimed: // nothing can be said on GitHub either; every pass says it
		return verdict{kind: verdictWait, until: now.Add(15 * retryBase), reason: "GitHub does not know the login; run `gh auth status`"}
	case github.IsStatus(err, 401, 403):
		return verdict{kind: verdictBlocked, parks: true, reason: "GitHub refused: " + err.Error(), hint: "check what the account may do on the repository, and `gh auth status`"}
	case noRoom(err):
		return verdict{kind: verdictWait, until: soon, reason: "the disk of the machine that runs it takes nothing more; make room there"}
	case t.Attempts+1 >= work.MaxAttempts:
		return givenUp(err, t.Attempts+1)
	}
	return verdict{kind: verdictRetry, until: now.Add(work.Backoff(retryBase, t.Attempts+1)), reason: err.Error()}
}

// blockedBy is the verdict where a person must act.
func blockedBy(b *work.BlockedError) verdict {
	v := verdict{kind: verdictBlocked, reason: b.Reason, hint: b.Hint}
	if b.Local != "" {
		v.public, v.reason = b.Reason, b.Reason+" "+work.Sentence(b.Local)
	}
	return v
}

// givenUp is the verdict after the last attempt. What failed is in the log and
// in show; an error's text, or what an agent printed, may name this machine's
// folders and worse, and is not published.
func givenUp(err error, attempts int) verdict {
	v := verdict{
		kind:   verdictBlocked,
		reason: fmt.Sprintf("it failed %d times, at last with: %v", attempts, err),
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

// settle stores what became of a turn, whatever became of it.
func (p *Turns) settle(ctx context.Context, l *lease, err error, rep *Report) {
	ctx = context.WithoutCancel(ctx) // an interrupt must not lose the verdict
	v := classify(err, l.earlier(), p.Now(), p.Config.Runtime.RetryBase)
	if v.hint == "" {
		v.hint = wayOn(l)
	}
	v.reason, v.public, v.hint = p.Secrets.Redact(v.reason), p.Secrets.Redact(v.public), p.Secrets.Redact(v.hint)
	if stored := p.storeVerdict(ctx, l, v, err); stored != nil {
		p.Log.ErrorContext(ctx, "could not store what became of a turn", p.turnAttrs(l, "error", stored)...)
	}
	p.changed(l, string(v.kind), v.reason)
	reason := v.reason
	if v.kind == verdictDone {
		reason = l.turn.Reason
	}
	rep.addTurn(TurnReport{
		Repo: p.Config.Called(l.remote.Name), Number: l.turn.Number, Kind: l.turn.Kind, TurnKey: l.turn.Key, Step: l.turn.Step,
		Outcome: string(v.kind), Reason: reason, URL: p.turnURL(ctx, l), Resumed: l.resumed,
	})
}

func (p *Turns) storeVerdict(ctx context.Context, l *lease, v verdict, err error) error {
	switch v.kind {
	case verdictDone, verdictInterrupted:
		return nil // stored by finish; left as it was, the next pass resumes it
	case verdictWait:
		return p.deferTurn(ctx, l, v, false, err)
	case verdictRetry:
		return p.deferTurn(ctx, l, v, true, err)
	case verdictBlocked, verdictSuperseded, verdictCancelled:
	}
	begun, begunErr := p.firstEffect(ctx, l)
	if begunErr != nil {
		return begunErr
	}
	switch {
	case v.spent:
		return p.block(ctx, l, v, begun)
	case v.parks && l.turn.Step != work.StepClaimed: // its agent is not paid again
		return p.block(ctx, l, v, true)
	case l.turn.Kind.Start() && !begun && (v.kind == verdictBlocked || v.followup != ""):
		return p.awaitWord(ctx, l, v)
	case v.kind == verdictCancelled:
		return p.cancel(ctx, l, v, begun)
	case v.kind == verdictSuperseded && !begun:
		return p.supersede(ctx, l, v)
	}
	return p.block(ctx, l, v, begun)
}

func (p *Turns) deferTurn(ctx context.Context, l *lease, v verdict, counted bool, err error) error {
	reason, failed := v.reason, p.brief(err)
	if v.halted {
		reason, failed = "", l.turn.LastError
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.turn); err != nil {
			return err
		}
		if !counted {
			if err := p.runner.giveBack(ctx, tx, l); err != nil {
				return err
			}
		}
		return tx.DeferTurn(ctx, l.turn.ID, v.until, reason, counted && !l.attempted, failed)
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

// supersede ends a turn before its first effect: its events make a new one.
func (p *Turns) supersede(ctx context.Context, l *lease, v verdict) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.endUnsent(ctx, tx, l, work.StepSuperseded, v.reason); err != nil {
			return err
		}
		if err := tx.ReleaseEvents(ctx, l.turn.ID); err != nil {
			return err
		}
		return p.backToWaiting(ctx, tx, l)
	})
}

// cancel ends a turn that nobody wants any more. After its first effect what
// is left of it becomes void, and its tree stays as a ref.
func (p *Turns) cancel(ctx context.Context, l *lease, v verdict, begun bool) error {
	end := work.StepCancelled
	if begun {
		end = work.StepDone
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.endUnsent(ctx, tx, l, end, v.reason); err != nil {
			return err
		}
		if err := tx.FinishTurnEvents(ctx, l.turn.ID, work.OutcomeVoid+v.reason, p.Now()); err != nil {
			return err
		}
		return p.backToWaiting(ctx, tx, l)
	})
}

func (p *Turns) endUnsent(ctx context.Context, tx *store.Tx, l *lease, to work.Step, why string) error {
	now := p.Now()
	if err := tx.SaveTurn(ctx, l.turn); err != nil {
		return err
	}
	if err := tx.VoidTurnActions(ctx, l.turn.ID, why, now); err != nil {
		return err
	}
	from := l.turn.Step
	l.turn.Step = to
	return tx.EndTurn(ctx, l.turn.ID, from, to, why, now)
}

// backToWaiting gives the item the state that it had before the turn, unless
// it was merged or closed meanwhile.
func (p *Turns) backToWaiting(ctx context.Context, tx *store.Tx, l *lease) error {
	m := work.Move{Item: l.item.ID, Cause: work.CausePutBack, To: work.StateAwaitingFeedback}
	switch {
	case l.turn.Kind == work.KindImplementationStart:
		m.To = work.StateReady
	case l.turn.Kind.Start():
		m.To = work.StatePending
	}
	if l.turn.Step == work.StepCancelled {
		m.Cause = work.CauseCancelled
		if l.turn.Kind.Start() {
			m.To = work.StateClosed // a label set anew starts over
		}
	}
	m, err := putBack(ctx, tx, l, m)
	if err != nil {
		return err
	}
	return movedOrGone(p.notices.move(ctx, tx, m, p.Now()))
}

// movedOrGone takes a lost compare-and-set for what it is here: somebody
// merged or closed the item meanwhile, and that stands.
func movedOrGone(err error) error {
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}

// block parks a turn until a person acts, and says so where they will see it.
// Before its first effect the turn ends, and its comments wait for the next
// one, which begins at once where people said more while it ran; after it the same
// row goes on later.
func (p *Turns) block(ctx context.Context, l *lease, v verdict, begun bool) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		talked, err := p.talkedMeanwhile(ctx, tx, l)
		if err != nil {
			return err
		}
		if begun {
			if err := tx.SaveTurn(ctx, l.turn); err != nil {
				return err
			}
			if err := tx.BlockTurn(ctx, l.turn.ID, v.reason); err != nil {
				return err
			}
		} else if err := p.endAsking(ctx, tx, l, work.StepFailed, v.reason); err != nil {
			return err
		}
		if err := recordLost(ctx, tx, l); err != nil {
			return err
		}
		if talked && !begun {
			return p.backToWaiting(ctx, tx, l)
		}
		m := work.Move{Item: l.item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: v.reason, Hint: v.hint, Public: v.public}
		return movedOrGone(p.notices.move(ctx, tx, m, p.Now()))
	})
}

// endAsking ends a turn before its first effect. What it was about waits for the
// turn that goes on.
func (p *Turns) endAsking(ctx context.Context, tx *store.Tx, l *lease, to work.Step, why string) error {
	if err := p.endUnsent(ctx, tx, l, to, why); err != nil {
		return err
	}
	if l.spent {
		return tx.FinishTurnEvents(ctx, l.turn.ID, "blocked", p.Now())
	}
	return tx.ReleaseEvents(ctx, l.turn.ID)
}

// turnURL is where a person can see what the turn did: its last visible action.
func (p *Turns) turnURL(ctx context.Context, l *lease) string {
	planned, err := p.turnActions(ctx, l)
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

package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// settlement is the effect of an error on its turn.
type settlement struct {
	kind    env.VerdictKind
	until   time.Time
	reason  string      // text for this machine
	why     work.Reason // why it is blocked or waits
	parks   bool        // a stored answer waits for this: nothing is wrong with the turn
	halted  bool        // `pause --all` is in force; the turn keeps its last error and gets no wait reason
	attempt bool        // the turn waits, and what was paid for before counts as an attempt
}

// blockedBy returns the settlement if a person must act.
func blockedBy(why work.Reason) settlement {
	v := settlement{kind: env.VerdictBlocked, why: why}
	switch why.Kind { //nolint:exhaustive // other reasons change nothing
	case work.WhyNewComments:
		v.kind = env.VerdictSuperseded
	case work.WhyReviewerAccount: // the stored review is posted once the reviewer's account works again
		v.parks = true
	}
	return v
}

// parkedBy returns the settlement if a person must act and a stored answer is kept until then.
func parkedBy(why work.Reason) settlement {
	v := blockedBy(why)
	v.parks = true
	return v
}

func waitsFor(why work.Reason, until time.Time) settlement {
	return settlement{kind: env.VerdictWait, until: until, why: why}
}

// classify is the only place that decides what an error means, by types and fields, never by text.
func classify(err error, t work.Turn, now time.Time, retryBase time.Duration) settlement {
	var (
		wait       *work.WaitError
		blocked    *work.BlockedError
		superseded *work.SupersededError
		cancelled  *work.CancelledError
		rejected   *git.RejectedError
		access     *git.AccessError
		checkout   *git.CheckoutError
		signing    *git.SigningError
		network    *git.NetworkError
		offline    *transport.UnreachableError
		halted     *folder.HaltedError
		broken     *work.PanicError
	)
	soon := now.Add(retryBase)
	fault, ours := work.MachineFault(err)
	_, server := errors.AsType[*store.ServerError](err)
	_, shut := github.LoginFault("", err)
	switch {
	case err == nil:
		return settlement{kind: env.VerdictDone}
	case errors.Is(err, context.Canceled):
		return settlement{kind: env.VerdictInterrupted, reason: "the pass was ended; the next one resumes the turn"}
	case errors.Is(err, store.ErrTaken):
		return settlement{kind: env.VerdictInterrupted, reason: "another pass has taken the turn over"}
	case server: // the next pass shows that the database answers again
		return waitsFor(work.Reason{Kind: work.WhyMachineFault, Local: "at " + work.Stamp(now) + ": " + fault.Error()}, now)
	case ours:
		return waitsFor(work.Reason{Kind: work.WhyMachineFault, Local: fault.Error()}, soon)
	case errors.As(err, &wait):
		return waitsFor(wait.Reason, later(wait.Until, now))
	case errors.As(err, &blocked) && blocked.Reason.Kind.OfAgent(): // Startable has all its turns wait
		return waitsFor(blocked.Reason, soon)
	case errors.As(err, &blocked):
		return blockedBy(blocked.Reason)
	case errors.As(err, &broken):
		return parkedBy(broken.Reason())
	case errors.As(err, &halted):
		return settlement{kind: env.VerdictWait, halted: true, until: now, why: halted.Reason()}
	case errors.As(err, &superseded):
		return settlement{kind: env.VerdictSuperseded, reason: superseded.Reason}
	case errors.As(err, &cancelled):
		return settlement{kind: env.VerdictCancelled, reason: cancelled.Reason}
	case errors.As(err, &rejected):
		return parkedBy(work.Reason{Kind: work.WhyPushRefused, Text: rejected.Reason, Advice: rejected.Hint})
	case errors.As(err, &access):
		return parkedBy(work.Reason{Kind: work.WhyNoGitAccess, Text: access.Detail})
	case errors.As(err, &checkout):
		return blockedBy(work.Reason{Kind: work.WhyNoCheckout, Text: checkout.Why, Advice: checkout.Do})
	case errors.As(err, &signing):
		return blockedBy(work.Reason{Kind: work.WhyNotSigned, Text: signing.Error()})
	case errors.As(err, &offline), errors.As(err, &network):
		return waitsFor(work.Reason{Kind: work.WhyNoConnection, Local: err.Error()}, soon)
	case shut: // the next pass asks before it resumes the turn
		return waitsFor(work.Reason{Kind: work.WhyLoginUnknown}, soon)
	case github.IsStatus(err, 403):
		return parkedBy(work.Reason{Kind: work.WhyGitHubRefused, Text: err.Error()})
	case t.Attempts+1 >= work.MaxAttempts:
		return blockedBy(givenUp(err, t.Attempts+1))
	}
	return retry(err, now.Add(work.Backoff(retryBase, t.Attempts+1)))
}

// verdict returns the effect of an error on the lease's turn. What was paid for is an attempt, by
// any end: after the last one a person must act, also where an unpaid turn would wait. Only
// a pause of everything is none, because a person asks for it.
func (p *Turns) verdict(l *env.Lease, err error) settlement {
	t := l.Earlier()
	v := classify(err, t, p.Now(), p.Config.Runtime.RetryBase)
	paid := l.Attempted && l.Used // Attempted is false once the answer is stored
	switch {
	case !paid || v.halted || v.kind != env.VerdictWait:
	case t.Attempts+1 >= work.MaxAttempts:
		return blockedBy(givenUp(err, t.Attempts+1))
	default:
		v.attempt = true
	}
	return v
}

// awaitFallback ends the wait for a provider when the agent's fallback takes over. If the fallback waits
// too, the turn waits no longer than until the agent itself is tried again.
func (p *Turns) awaitFallback(ctx context.Context, l *env.Lease, v settlement) settlement {
	first := cmp.Or(l.Turn.InsteadOf, l.Turn.Agent)
	other, ok := p.Config.FallbackOf(first)
	if !ok || v.kind != env.VerdictWait || v.why.Kind != work.WhyProvider {
		return v
	}
	var out work.Outage
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		out, _, err = tx.FindOutage(ctx, first)
		return err
	})
	if err != nil || out.Since.IsZero() {
		return v // it waits for its provider
	}
	after := p.Config.Runtime.FallbackAfter
	ends := out.Again(after)
	if l.Turn.InsteadOf == "" {
		v.why.Name, ends = other.Name, out.Since.Add(after)
	}
	if ends = later(ends, p.Now()); ends.Before(v.until) {
		v.until = ends
	}
	return v
}

// blames reports whether the turn or its agent is taken to be at fault without a known reason. Then
// this machine is looked at first.
func (v settlement) blames() bool {
	return v.kind == env.VerdictRetry || v.kind == env.VerdictBlocked && (v.why.Kind == work.WhyFailed || v.why.Kind == work.WhyAgentUnable)
}

// givenUp returns why a turn is blocked after its last attempt. The error's text goes to the log
// and to show only: it, or what an agent printed, may name this machine's folders and worse.
func givenUp(err error, attempts int) work.Reason {
	why := work.Reason{Kind: work.WhyFailed, Count: attempts, Local: err.Error()}
	if failed, ok := errors.AsType[*agent.FailedError](err); ok {
		why.Text, why.Advice = failed.Did(), failed.Drift
	}
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		why.Text = fmt.Sprintf("cost tokens and gave no answer (%s)", explain.What(wait.Reason, explain.Place{}))
	}
	if passed, ok := errors.AsType[*agent.LimitError](err); ok { // it names nothing of this machine
		why.Kind, why.Text, why.Advice = work.WhyLimitPassed, passed.Did, passed.Hint
	}
	return why
}

// retry returns the settlement for one more automatic attempt.
func retry(err error, at time.Time) settlement {
	return settlement{kind: env.VerdictRetry, until: at, why: work.Reason{Kind: work.WhyTriedAgain, Local: err.Error(), At: at.UnixMilli()}}
}

func later(t, now time.Time) time.Time {
	if t.Before(now) {
		return now
	}
	return t
}

// Settle stores the result of a turn and adds it to the report. If that panics, the turn waits for a
// person: its agent would be paid again in each pass.
func (p *Turns) Settle(ctx context.Context, l *env.Lease, err error, rep *env.Report) {
	failed := p.Contain(ctx, "end "+work.Ref(l.Repo.Name, l.Turn.Number), l.Repo, func() error { p.settle(ctx, l, err, rep); return nil })
	broken, ok := errors.AsType[*work.PanicError](failed)
	if !ok {
		return
	}
	ctx = context.WithoutCancel(ctx)
	why := broken.Reason()
	stop := work.Move{Item: l.Item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: why}
	if err := p.apply(ctx, l, change.BlockTurn{Turn: l.Turn, Why: why}, change.Move{Move: stop}); err != nil {
		p.Log.ErrorContext(ctx, "could not store the result of a turn", p.TurnAttrs(l, "error", err)...)
	}
	rep.AddTurn(env.TurnReport{
		Repo: p.Config.Called(l.Repo.Name), Number: l.Turn.Number, Kind: l.Turn.Kind, TurnKey: l.Turn.Key,
		Outcome: string(env.VerdictBlocked), Reason: explain.What(why, explain.Place{}), Code: why.Kind, Resumed: l.Resumed,
	})
}

func (p *Turns) settle(ctx context.Context, l *env.Lease, err error, rep *env.Report) {
	ctx = context.WithoutCancel(ctx) // an interrupt must not lose the verdict
	v := p.verdict(l, err)
	if v.blames() {
		if fault := p.Fault(ctx, l.Repo.Row); fault != nil {
			err = fault
			v = p.verdict(l, err)
		}
	}
	if v.why.Kind == work.WhyMachineFault {
		p.AddFault(err)
	}
	if v.kind == env.VerdictWait && v.why.Kind.OfAgent() {
		if failed := p.MeetAgentStop(ctx, l, v.why, rep); failed != nil {
			p.Log.ErrorContext(ctx, "could not store that an agent cannot work", p.TurnAttrs(l, "error", failed)...)
		}
	}
	v = p.awaitFallback(ctx, l, v)
	v.why = v.why.Map(p.Secrets.Redact)
	if v.why.None() {
		v.reason = p.Secrets.Redact(v.reason)
	} else {
		v.reason = explain.Reason(v.why, p.Here(l.Repo, l.Item, !l.Turn.Kind.Start())).Here()
	}
	if stored := p.store(ctx, l, v, err); stored != nil {
		p.Log.ErrorContext(ctx, "could not store the result of a turn", p.TurnAttrs(l, "error", stored)...)
	}
	p.Changed(l, string(v.kind), v.reason)
	reason := v.reason
	if v.kind == env.VerdictDone {
		reason = l.Turn.Reason
	}
	done := env.TurnReport{
		Repo: p.Config.Called(l.Repo.Name), Number: l.Turn.Number, Kind: l.Turn.Kind, TurnKey: l.Turn.Key,
		Outcome: string(v.kind), Reason: reason, Code: v.why.Kind, URL: turnURL(l), Resumed: l.Resumed,
	}
	rep.AddTurn(done)
	if l.Warning != "" {
		rep.Repo(done.Repo, func(x *env.RepoReport) { x.Warnings = append(x.Warnings, l.Warning) })
	}
}

// store stores a settlement.
func (p *Turns) store(ctx context.Context, l *env.Lease, v settlement, failed error) error {
	if v.kind == env.VerdictDone || v.kind == env.VerdictInterrupted {
		return nil // Finish has stored it; an interrupted turn is unchanged, and the next pass resumes it
	}
	f, err := p.facts(ctx, l)
	if err != nil {
		return err
	}
	changes := p.settled(l, v, f, failed)
	if stays, ok := errors.AsType[*staysError](failed); ok {
		changes = append(changes, stays.says(l))
	}
	if v.kind == env.VerdictBlocked && l.Turn.Kind.Start() && !f.begun { // an agent that can do nothing may say what would help
		replan, err := p.replan(ctx, l)
		if err != nil {
			return err
		}
		changes = append(changes, replan...)
	}
	if err := p.apply(ctx, l, changes...); err != nil {
		return err
	}
	for _, c := range changes {
		if wait, ok := c.(change.AwaitComment); ok {
			p.logWait(ctx, l, f.followup, wait.Followup)
		}
	}
	return nil
}

// facts are what the end of a turn depends on and no other pass changes while the turn is live.
type facts struct {
	planned  []work.Action
	begun    bool             // an effect of the turn may be on GitHub
	pull     work.PullRequest // zero: none yet
	followup work.Followup    // zero: the item did not wait before the turn
}

func (p *Turns) facts(ctx context.Context, l *env.Lease) (f facts, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) (err error) {
		if f.planned, err = tx.ListTurnActions(ctx, l.Turn.ID); err != nil {
			return err
		}
		if f.pull, _, err = tx.FindPullOfItem(ctx, l.Item.ID); err != nil {
			return err
		}
		f.followup, _, err = tx.FindFollowup(ctx, l.Item.ID)
		return err
	})
	f.begun, l.Planned = l.Turn.Begun(f.planned), f.planned
	return f, err
}

// settled returns the changes of a settlement.
func (p *Turns) settled(l *env.Lease, v settlement, f facts, failed error) []change.Change {
	switch {
	case v.kind == env.VerdictWait, v.kind == env.VerdictRetry:
		return p.deferred(l, v, failed)
	case v.why.Kind == work.WhyItemBudget:
	case v.parks && l.Turn.Step != work.StepClaimed: // its agent is not paid again
		f.begun = true
	case l.Turn.Kind.Start() && !f.begun && (v.kind == env.VerdictBlocked || v.why.Kind == work.WhyNewComments):
		return p.suspendStart(l, v, f)
	case v.kind == env.VerdictCancelled:
		end := change.Cancelled(l.Turn, f.begun, v.reason)
		return []change.Change{end, backToWaiting(l, end.To, f)}
	case v.kind == env.VerdictSuperseded && !f.begun:
		return []change.Change{endUnsent(l, work.StepSuperseded, v.reason), backToWaiting(l, work.StepSuperseded, f)}
	}
	return p.blocked(l, v, f, failed)
}

func (p *Turns) deferred(l *env.Lease, v settlement, failed error) []change.Change {
	d := change.DeferTurn{Turn: l.Turn, Until: v.until, Why: v.why, LastError: p.brief(failed)}
	if v.kind == env.VerdictRetry {
		d.Failed = !l.Attempted
		return []change.Change{d, change.Failure{Turn: l.Turn.ID, Kind: v.why.Kind}}
	}
	if v.halted {
		d.Why, d.LastError = work.Reason{}, l.Turn.LastError
	}
	if d.GiveBack = l.Attempted && !v.attempt; d.GiveBack && !l.Used {
		d.Unused = l.BegunRuns
	}
	return []change.Change{d}
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
func (p *Turns) Supersede(ctx context.Context, l *env.Lease, why string) error {
	return p.store(ctx, l, settlement{kind: env.VerdictSuperseded, reason: why}, nil)
}

// backToWaiting returns the item to its state before the turn. end is the turn's last step.
func backToWaiting(l *env.Lease, end work.Step, f facts) change.Move {
	m := work.Move{Item: l.Item.ID, Cause: work.CausePutBack, To: work.StateAwaitingFeedback}
	if end == work.StepCancelled {
		m.Cause = work.CauseCancelled
	}
	switch {
	case !l.Turn.Kind.Start():
	case end == work.StepCancelled:
		m.To = work.StateClosed // labelling it again starts over
	case f.followup.ItemID != 0:
		m.To, m.Reason, m.Passing = work.StateAwaitingIssueFollowup, f.followup.Reason, true
	case l.Turn.Kind == work.KindImplementationStart:
		m.To = work.StateReady
	default:
		m.To = work.StatePending
	}
	return change.Move{Move: m}
}

// blocked parks a turn until a person acts and reports why on GitHub. Before its first effect the
// turn ends, and its events wait for the next one, which starts at once if people commented while
// it ran: older comments do not count, as the next turn would omit them for lack of room as well.
// After the turn's first effect, its row stays and resumes later.
func (p *Turns) blocked(l *env.Lease, v settlement, f facts, failed error) []change.Change {
	changes := []change.Change{change.Failure{Turn: l.Turn.ID, Kind: v.why.Kind}}
	if l.LostOID != "" && f.pull.ID != 0 {
		changes = append(changes, change.LostHead{Pull: f.pull.ID, OID: l.LostOID})
	}
	stop := work.Move{Item: l.Item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: v.why}
	if f.begun {
		return append(changes, change.BlockTurn{Turn: l.Turn, Why: v.why}, change.Move{Move: stop})
	}
	changes = append(changes, endUnsent(l, work.StepFailed, v.reason))
	back := backToWaiting(l, work.StepFailed, f)
	if l.Turn.Reviewer != "" && v.why.Kind != work.WhyItemBudget {
		return append(changes, append(p.reviewFailed(l, v, f, failed), back)...)
	}
	after := change.AfterTurn{Move: stop}
	if !l.Turn.Kind.Start() {
		after.Heard, after.Since = back.Move, l.Turn.ClaimedAt
	}
	return append(changes, after)
}

// endUnsent ends a turn before its first effect. Its events wait for the next turn, unless they are
// exhausted.
func endUnsent(l *env.Lease, to work.Step, why string) change.EndTurn {
	end := change.EndTurn{Turn: l.Turn, To: to, Why: why}
	if l.EventsExhausted {
		end.Outcome = "blocked"
	}
	return end
}

// turnURL returns the address of the turn's last visible action.
func turnURL(l *env.Lease) (url string) {
	for _, a := range l.Planned {
		if a.ResultURL != "" && a.Need == work.NeedRequired {
			url = a.ResultURL
		}
	}
	return url
}

// commitLost returns a turn to the step before its agent answered: the mirror was deleted or
// damaged and the commit is gone. A push that was sent may have arrived, so commitLost first looks
// for it until settle_after has passed. If the push arrives even later, --force-with-lease lets
// only one of the two pushes through, and the trailer of the head shows which.
func (p *Turns) commitLost(ctx context.Context, l *env.Lease, push work.Action) error {
	lost := fmt.Sprintf("the commit %s is gone from the mirror", work.Short(l.Turn.Commit))
	now := p.Now()
	if push.Sends > 0 {
		seen, err := p.Effects().RecordIfSeen(ctx, p.Scope(l.Repo), push)
		if err != nil || seen {
			return err
		}
		if until := push.SentAt.Add(p.Config.Runtime.SettleAfter); until.After(now) {
			return &work.WaitError{Until: until, Reason: work.Reason{Kind: work.WhyCommitLost, Text: lost + ", and it is unclear whether it was pushed"}}
		}
	}
	turn := l.Turn
	turn.Commit, turn.Answer = "", nil
	if err := p.apply(ctx, l, change.RedoTurn{Turn: turn, Push: push.ID, Why: lost}); err != nil {
		return fmt.Errorf("take turn %s back: %w", turn.Key, err)
	}
	turn.Step = work.StepClaimed
	l.Turn = turn
	return &work.WaitError{Until: now, Reason: work.Reason{Kind: work.WhyCommitLost, Text: lost + "; the agent works again"}}
}

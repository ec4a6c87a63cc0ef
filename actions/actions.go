// Package actions makes the outbound effects: one file for each kind of
// action, with how to look for it (find) and how to send it (do).
//
// Every effect is a row before it is a request. GitHub has no idempotency
// keys, so each is looked for before it is sent, and an answer that never came
// is settled by looking again, later, before sending again.
package actions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Runner applies actions.
type Runner struct {
	Store       *store.DB        // required
	Now         func() time.Time // required
	Log         *slog.Logger     // required
	SettleAfter time.Duration    // before an unclear write is sent again
}

// Scope is where an action takes place.
type Scope struct {
	Repo     work.Repo
	GitHub   Gateway
	Branches Branches
	Accounts []int64 // account ids whose marked writing is ours
	Event    string  // by which a review is told, as the API has it; empty: a comment
}

// Gateway is what actions ask of GitHub.
type Gateway interface {
	comments
	reviewComments
	pulls
	issues
	runs
	labelled
	timelines
	closer
	reviews
	statuses
	merger
	pullLists
	React(ctx context.Context, repo work.RepoName, on github.ReactionTarget, id int64, content string) error
}

// Apply brings an action about: look, intent, send, record. It returns the
// action as it stands afterwards. A *work.WaitError says that its fate is
// unclear or that it is too early; calling again later is always safe.
func (r *Runner) Apply(ctx context.Context, s Scope, a work.Action) (work.Action, error) {
	return r.ApplyIf(ctx, s, a, func() (bool, error) { return true, nil })
}

// ApplyIf is as Apply, and sends only what a last look allows, right before it is sent:
// what it looks for comes first, for that may take long.
func (r *Runner) ApplyIf(ctx context.Context, s Scope, a work.Action, last func() (bool, error)) (work.Action, error) {
	if a.State.Settled() {
		return a, nil
	}
	e, err := effectOf(a.Kind)
	if err != nil {
		return a, err
	}
	if err := r.ownOnly(ctx, a); err != nil {
		return a, err
	}
	if a, err = r.find(ctx, s, e, a); err != nil || a.State.Settled() {
		return a, err
	}
	ctx = ahead.Without(ctx) // the look was its own, or is younger than its plan; see Foresee
	if a, err = r.believed(ctx, a); err != nil {
		return a, err
	}
	if now := r.Now(); a.NotBefore.After(now) {
		return a, &work.WaitError{Until: a.NotBefore, Reason: work.Reason{Kind: work.WhyUnclearWrite, Text: "the answer to an earlier " + describe(a) + " never came; it is looked for again before it is sent again"}}
	}
	if err := r.pace(ctx, a.Kind); err != nil {
		return a, err
	}
	if may, err := last(); err != nil || !may {
		return a, err
	}
	if a, err = r.intend(ctx, a, remakes(e, a.Kind)); err != nil {
		return r.renewed(ctx, a, err)
	}
	seen, err := e.do(ctx, s, a)
	return r.conclude(ctx, s, a, seen, err)
}

// find looks for what an action is to bring about, and settles it where nothing is left
// to do.
func (r *Runner) find(ctx context.Context, s Scope, e effect, a work.Action) (work.Action, error) {
	looking := ctx
	if a.Sends > 0 {
		looking = ahead.Without(ctx)
	}
	seen, ok, err := e.find(looking, s, a)
	switch {
	case errors.Is(err, errTaken), isOver(err):
		return r.Void(ctx, a, err.Error())
	case isHalf(err):
		return r.half(ctx, a, err)
	case err != nil && gone(err) && a.TurnID == 0: // a notice, and its issue was deleted
		return r.Void(ctx, a, "what it was for is gone")
	case err != nil:
		return a, fmt.Errorf("look for %s: %w", describe(a), err)
	case ok:
		return r.record(ctx, s, a, seen)
	}
	return a, nil
}

// Watch looks what became of an action, as Apply does, and sends nothing: one that cannot
// be seen is given back as it is.
func (r *Runner) Watch(ctx context.Context, s Scope, a work.Action) (work.Action, error) {
	if a.State.Settled() {
		return a, nil
	}
	e, err := effectOf(a.Kind)
	if err != nil {
		return a, err
	}
	return r.find(ctx, s, e, a)
}

// Look records an action if it is visible now, and sends nothing.
func (r *Runner) Look(ctx context.Context, s Scope, a work.Action) (seen bool, err error) {
	e, err := effectOf(a.Kind)
	if err != nil {
		return false, err
	}
	found, ok, err := e.find(ahead.Without(ctx), s, a)
	if err != nil || !ok {
		return false, err
	}
	_, err = r.record(ctx, s, a, found)
	return err == nil, err
}

// intend writes to disk that a is about to be sent, and that a second send
// waits: a death before the answer is an answer that never came. What GitHub
// itself makes at most once need not wait.
func (r *Runner) intend(ctx context.Context, a work.Action, remade bool) (work.Action, error) {
	now := r.Now()
	err := r.update(ctx, a, func(tx *store.Tx) (err error) {
		if a.Kind == work.ActionSticky && !remade {
			a.Sends, err = tx.MarkEdited(ctx, a.ID)
			return err
		}
		a.Sends, err = tx.MarkSent(ctx, a.ID, now)
		if err != nil || !remade {
			return err
		}
		a.Made++
		return tx.DeferAction(ctx, a.ID, now.Add(r.SettleAfter), "")
	})
	if err != nil {
		return a, fmt.Errorf("record the intent of %s: %w", describe(a), err)
	}
	a.State = work.ActionSent
	if remade || a.Kind != work.ActionSticky {
		a.SentAt = now
	}
	return a, nil
}

// remakes reports whether sending once more makes a second: a sticky comment that
// was found is only edited.
func remakes(e effect, kind work.ActionKind) bool {
	if s, ok := e.(*sticky); ok {
		return s.id == 0
	}
	return repeatable(kind)
}

// repeatable reports whether GitHub makes a second of its kind when it is sent
// twice.
func repeatable(kind work.ActionKind) bool {
	switch kind {
	case work.ActionComment, work.ActionReply, work.ActionIssue, work.ActionRerun, work.ActionSticky, work.ActionReview,
		work.ActionMerge, work.ActionEnqueue, work.ActionDequeue, work.ActionUpdateBranch: // one whose answer never came may still be under way
		return true
	case work.ActionPush, work.ActionPullRequest, work.ActionResolve, work.ActionReaction, work.ActionRemove, work.ActionLabels,
		work.ActionRepoLabels, work.ActionFlow, work.ActionClose, work.ActionStatus, work.ActionDismiss, work.ActionReviewRequest,
		work.ActionDeleteBranch, work.ActionRevert:
		return false
	}
	return true
}

// update writes of an action what holds of it as it was read: not of what it was
// renewed to in between.
func (r *Runner) update(ctx context.Context, a work.Action, write func(*store.Tx) error) error {
	return r.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.CheckRenewal(ctx, a); err != nil {
			return err
		}
		return write(tx)
	})
}

// renewed is no failure when another content is wanted by now: that is planned,
// and what was done for the older one is done.
func (r *Runner) renewed(ctx context.Context, a work.Action, err error) (work.Action, error) {
	if !errors.Is(err, store.ErrStale) {
		return a, err
	}
	var now work.Action
	var known bool
	read := r.Store.View(ctx, func(tx *store.Tx) (err error) {
		now, known, err = tx.GetAction(ctx, a.Token)
		return err
	})
	if read != nil || !known || now.Renewals == a.Renewals {
		return a, errors.Join(err, read)
	}
	return now, nil
}

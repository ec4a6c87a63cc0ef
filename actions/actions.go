// Package actions sends the outbound effects. Each kind of action has one file, which looks for the
// effect (find) and sends it (do).
//
// Every effect is a row before it is a request. GitHub has no idempotency keys, so each effect is
// looked for before it is sent. After an unclear answer it is looked for again, later, before it is
// sent again.
package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Runner applies actions.
type Runner struct {
	Store       *store.DB        // required
	Now         func() time.Time // required
	Log         *slog.Logger     // required
	SettleAfter time.Duration    // how long to wait before an unclear write is sent again

	// Alive fails if this pass may have lost what it works on. It is asked right before each effect;
	// nil: nothing can be lost.
	Alive func(context.Context) error
}

// Scope is the repository in which an action is applied.
type Scope struct {
	Repo     work.Repo
	GitHub   Gateway
	Branches Branches
	Accounts []int64           // ids of our accounts; their marked comments are ours
	Looks    *Looks            // made for its actions; others are looked for right before they are sent
	Opened   func(github.Pull) // optional: is given the pull request that is opened
	Event    string            // the API's event of a review; empty: a comment
	Names    store.Names       // what the actions belong to; zero: it is read of each that is sent

	// Recorded stores what depends on an action, with the record that its effect was seen; nil: nothing does.
	Recorded func(context.Context, *store.Tx, work.Action) error
}

// Gateway is the part of GitHub's API that actions use.
type Gateway interface {
	comments
	reviewComments
	pulls
	issues
	runs
	labelled
	timelines
	closer
	related
	reviews
	statuses
	merger
	readiness
	React(ctx context.Context, repo work.RepoName, on github.ReactionTarget, id int64, content string) error
}

// Apply looks for an action, records the intent, sends it and records the result. It returns the
// action's new state. A *work.WaitError means that the result is unclear or that it is too early.
// Calling Apply again later is always safe.
func (r *Runner) Apply(ctx context.Context, s Scope, a work.Action) (work.Action, error) {
	return r.ApplyIf(ctx, s, a, func() (bool, error) { return true, nil })
}

// ApplyIf is Apply, but calls last right before it sends, and sends only if last allows it. It
// looks for the action first, because that may take long.
func (r *Runner) ApplyIf(ctx context.Context, s Scope, a work.Action, last func() (bool, error)) (work.Action, error) {
	if a.State.Settled() {
		return a, nil
	}
	e, err := effectOf(a.Kind)
	if err != nil {
		return a, err
	}
	if err := r.ownOnly(ctx, s.Names, a); err != nil {
		return a, err
	}
	seen := s.look(ctx, e, a)
	e = seen.effect // its do uses what it found
	if a, err = r.settle(ctx, s, a, seen); err != nil || a.State.Settled() {
		return a, err
	}
	if a, err = r.shortenWait(ctx, a); err != nil {
		return a, err
	}
	if now := r.Now(); a.NotBefore.After(now) {
		return a, &work.WaitError{Until: a.NotBefore, Reason: work.Reason{Kind: work.WhyNoAnswer, Text: "the answer to an earlier " + describe(a) + " never came; it is looked for again before it is sent again"}}
	}
	if may, err := last(); err != nil || !may {
		return a, err
	}
	if a, s.Names, err = r.intend(ctx, s.Names, a, createsSecond(e, a.Kind)); err != nil {
		return r.renewed(ctx, a, err)
	}
	if r.Alive != nil {
		if err := r.Alive(ctx); err != nil {
			return a, err
		}
	}
	done, err := e.do(ctx, s, a)
	return r.recordResult(ctx, s, a, done, err)
}

// settle settles an action if its look shows that nothing is left to do.
func (r *Runner) settle(ctx context.Context, s Scope, a work.Action, l look) (work.Action, error) {
	err := l.err
	if err == nil && !l.ok {
		err = r.requireUnbegun(ctx, a)
	}
	switch {
	case errors.Is(err, errTaken), isOver(err):
		return r.over(ctx, a, err)
	case isHalfMerged(err):
		return r.awaitMergedState(ctx, a, err)
	case err != nil && isNotFound(err) && a.TurnID == 0: // a notice whose issue was deleted
		return r.void(ctx, a, work.EndedGone, "what it was for is gone")
	case err != nil:
		return a, fmt.Errorf("look for %s: %w", describe(a), err)
	case l.ok:
		return r.record(ctx, s, a, l.seen)
	}
	return a, nil
}

// SettleWithoutSend looks for an action and settles it as Apply does, but sends nothing. If the
// effect is not visible, it returns the action unchanged.
func (r *Runner) SettleWithoutSend(ctx context.Context, s Scope, a work.Action) (work.Action, error) {
	if a.State.Settled() {
		return a, nil
	}
	e, err := effectOf(a.Kind)
	if err != nil {
		return a, err
	}
	return r.settle(ctx, s, a, s.look(ctx, e, a))
}

// RecordIfSeen records an action if its effect is visible now. It sends nothing.
func (r *Runner) RecordIfSeen(ctx context.Context, s Scope, a work.Action) (seen bool, err error) {
	e, err := effectOf(a.Kind)
	if err != nil {
		return false, err
	}
	found, ok, err := e.find(ctx, s, a)
	if err != nil || !ok {
		return false, err
	}
	_, err = r.record(ctx, s, a, found)
	return err == nil, err
}

// intend stores that a is about to be sent, and when it may be sent again, unless it may not be sent. If the process dies
// before GitHub answers, the next pass treats the answer as unclear. Effects that GitHub itself
// creates at most once need no wait.
func (r *Runner) intend(ctx context.Context, known store.Names, a work.Action, remade bool) (_ work.Action, names store.Names, err error) {
	now := r.Now()
	var refused error
	err = r.update(ctx, a, func(tx *store.Tx) (err error) {
		if names = known; names.Item == 0 {
			if names, err = tx.NamesOf(ctx, a); err != nil {
				return err
			}
		}
		if a.Kind == work.ActionSticky && !remade {
			return tx.MarkEdited(ctx, a.ID, paces(a.Kind, now)...)
		}
		if err := tx.MarkSent(ctx, a.ID, now, paces(a.Kind, now)...); err != nil || !remade {
			return err
		}
		return tx.DeferAction(ctx, a.ID, now.Add(r.SettleAfter), "")
	})
	if errors.Is(err, store.ErrStale) {
		err = cmp.Or(r.Store.View(ctx, func(tx *store.Tx) error { refused = tooFast(ctx, tx, a.Kind, now); return refused }), err)
	}
	if refused != nil {
		return a, names, refused
	}
	if err != nil {
		return a, names, fmt.Errorf("record the intent of %s: %w", describe(a), err)
	}
	a.State = work.ActionSent
	a.Sends++
	if remade {
		a.Made++
	}
	if remade || a.Kind != work.ActionSticky {
		a.SentAt = now
	}
	return a, names, nil
}

// createsSecond reports whether sending again would create a second effect. A sticky comment that
// was found is only edited.
func createsSecond(e effect, kind work.ActionKind) bool {
	if s, ok := e.(*sticky); ok {
		return s.id == 0
	}
	return notIdempotent(kind)
}

// notIdempotent reports whether GitHub creates a second effect if the action is sent twice.
func notIdempotent(kind work.ActionKind) bool {
	switch kind {
	case work.ActionComment, work.ActionReply, work.ActionIssue, work.ActionChild, work.ActionRerun, work.ActionSticky, work.ActionReview,
		work.ActionMerge, work.ActionEnqueue, work.ActionDequeue, work.ActionUpdateBranch: // GitHub may still be working on one with an unclear answer
		return true
	case work.ActionPush, work.ActionPullRequest, work.ActionResolve, work.ActionReaction, work.ActionRemove, work.ActionLabels,
		work.ActionRepoLabels, work.ActionFlow, work.ActionClose, work.ActionReady, work.ActionBlock, work.ActionEditIssue, work.ActionEditPull, work.ActionCloseIssue, work.ActionStatus, work.ActionDismiss, work.ActionReviewRequest:
		return false
	}
	return true
}

// update writes to an action only if it was not renewed since it was read.
func (r *Runner) update(ctx context.Context, a work.Action, write func(*store.Tx) error) error {
	return r.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Ahead(ctx, write); err != nil {
			return err
		}
		return tx.CheckRenewal(ctx, a)
	})
}

// renewed returns the current row instead of err if another pass renewed the action. The row has
// its newer content planned; what was sent for the older content needs no record.
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

// LogAttrs returns the fields of a log line about an action. By them a line is found from a work
// item, turn, issue or pull request.
func (r *Runner) LogAttrs(ctx context.Context, repo work.Repo, a work.Action, more ...any) []any {
	ctx = context.WithoutCancel(ctx)
	names, _ := store.Read(ctx, r.Store, func(tx *store.Tx) (store.Names, error) { return tx.NamesOf(ctx, a) }) // without them the line has less
	return logAttrs(repo, a, names, more...)
}

func logAttrs(repo work.Repo, a work.Action, names store.Names, more ...any) []any {
	attrs := []any{"repo_full_name", repo.Name.FullName(), "action_token", a.Token, "kind", string(a.Kind)}
	switch {
	case a.Number == 0 && names.Item == 0: // about the repository
	case names.Item == 0: // a notice that belongs to no work item
		attrs = append(attrs, "number", a.Number)
	case names.Pull != 0:
		attrs = append(attrs, "work_item_id", names.Item, "issue_number", names.Issue, "pr_number", names.Pull)
	default:
		attrs = append(attrs, "work_item_id", names.Item, "issue_number", names.Issue)
	}
	if names.Turn != "" {
		attrs = append(attrs, "turn_key", names.Turn)
	}
	return append(attrs, more...)
}

// ForeignError says that an action was refused because it would change somebody else's pull
// request, not only comment on it. No plan contains such an action: this check is the last defense.
type ForeignError struct {
	Kind   work.ActionKind
	Number int // of the pull request
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s refused: pull request #%d is somebody else's, and gh mergexo only reviews it", e.Kind, e.Number)
}

// ownOnly refuses to push to somebody else's pull request, to open or close one for it, to mark it as ready, or
// to merge it.
func (r *Runner) ownOnly(ctx context.Context, names store.Names, a work.Action) (err error) {
	touches := a.Kind == work.ActionPush || a.Kind == work.ActionPullRequest || a.Kind == work.ActionEditPull || a.Kind == work.ActionClose || a.Kind == work.ActionReady || a.Kind.Merging()
	if touches && names.Item == 0 {
		names, err = store.Read(ctx, r.Store, func(tx *store.Tx) (store.Names, error) { return tx.NamesOf(ctx, a) })
	}
	if err == nil && touches && names.Flow == work.FlowReview {
		err = &ForeignError{Kind: a.Kind, Number: names.Issue}
	}
	return err
}

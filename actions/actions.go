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
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
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

// observation is an effect that was seen on GitHub.
type observation struct {
	id    string
	url   string
	extra []int64 // comment ids of further copies of our own
}

// effect is one kind of action. One is made for each action that is applied: what
// find came to know do may use, for do never comes without it.
type effect interface {
	// find looks for what a is to bring about.
	find(ctx context.Context, s Scope, a work.Action) (observation, bool, error)
	// do sends a. Without an error GitHub has answered with what it made.
	do(ctx context.Context, s Scope, a work.Action) (observation, error)
}

func effectOf(kind work.ActionKind) (effect, error) {
	switch kind {
	case work.ActionPush:
		return push{}, nil
	case work.ActionPullRequest:
		return pullRequest{}, nil
	case work.ActionReply:
		return reply{}, nil
	case work.ActionComment:
		return comment{}, nil
	case work.ActionResolve:
		return resolve{}, nil
	case work.ActionReaction:
		return reaction{}, nil
	case work.ActionRemove:
		return remove{}, nil
	case work.ActionIssue:
		return issue{}, nil
	case work.ActionRerun:
		return rerun{}, nil
	case work.ActionLabels:
		return &labels{}, nil
	case work.ActionRepoLabels:
		return &repoLabels{}, nil
	case work.ActionSticky:
		return &sticky{}, nil
	case work.ActionFlow:
		return &flow{}, nil
	case work.ActionClose:
		return closing{}, nil
	case work.ActionReview:
		return posting{}, nil
	case work.ActionStatus:
		return status{}, nil
	case work.ActionDismiss:
		return &dismissal{}, nil
	case work.ActionReviewRequest:
		return request{}, nil
	case work.ActionMerge:
		return merge{}, nil
	case work.ActionEnqueue:
		return enqueue{}, nil
	case work.ActionDequeue:
		return dequeue{}, nil
	case work.ActionUpdateBranch:
		return updateBranch{}, nil
	case work.ActionDeleteBranch:
		return deleteBranch{}, nil
	case work.ActionRevert:
		return revert{}, nil
	}
	return nil, fmt.Errorf("no such kind of action: %q", kind)
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
	seen, ok, err := e.find(ctx, s, a)
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

// Look records an action if it is visible, and sends nothing.
func (r *Runner) Look(ctx context.Context, s Scope, a work.Action) (seen bool, err error) {
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

// conclude records what became of a send.
func (r *Runner) conclude(ctx context.Context, s Scope, a work.Action, seen observation, sent error) (work.Action, error) {
	var unclear *github.UnclearError
	var unclearPush *git.UnclearError
	var refused *RefusedError
	switch {
	case sent == nil:
		return r.record(ctx, s, a, seen)
	case errors.As(sent, &unclear), errors.As(sent, &unclearPush):
		return r.unclear(ctx, s, a, sent)
	case errors.Is(sent, errOver), isOver(sent):
		return r.Void(ctx, a, sent.Error())
	case isHalf(sent):
		return r.half(ctx, a, sent)
	case errors.As(sent, &refused):
		return r.refused(ctx, a, refused)
	case gone(sent) && a.Kind != work.ActionReview && a.Kind != work.ActionPush && a.Kind != work.ActionPullRequest && a.Kind != work.ActionRepoLabels:
		return r.Void(ctx, a, "what it was for is gone")
	}
	err := fmt.Errorf("send %s: %w", describe(a), sent)
	return a, errors.Join(err, r.postpone(ctx, a, time.Time{}, sent))
}

// unclear looks at once for an action whose answer never came; most such
// writes were applied. When it is not visible, only the re-send waits.
func (r *Runner) unclear(ctx context.Context, s Scope, a work.Action, sent error) (work.Action, error) {
	ctx = context.WithoutCancel(ctx)
	a.NotBefore = r.Now().Add(r.SettleAfter)
	if err := r.postpone(ctx, a, a.NotBefore, sent); err != nil {
		return a, err
	}
	e, err := effectOf(a.Kind)
	if err != nil {
		return a, err
	}
	if seen, ok, err := e.find(ctx, s, a); err == nil && ok {
		return r.record(ctx, s, a, seen)
	}
	return a, &work.WaitError{Until: a.NotBefore, Reason: work.Reason{Kind: work.WhyNoAnswer, Text: "no answer to a " + describe(a)}, Err: sent}
}

// believed shortens a wait that is longer than any that is stored for an unclear
// write: a clock was wrong then. When it was sent is not known, so it waits once more.
func (r *Runner) believed(ctx context.Context, a work.Action) (work.Action, error) {
	most := r.Now().Add(r.SettleAfter)
	if a.State != work.ActionSent || !work.Future(a.NotBefore, most) {
		return a, nil
	}
	a.NotBefore = most
	return a, r.postpone(ctx, a, most, errors.New(a.LastError))
}

func (r *Runner) postpone(ctx context.Context, a work.Action, until time.Time, why error) error {
	ctx = context.WithoutCancel(ctx)
	return r.update(ctx, a, func(tx *store.Tx) error {
		return tx.DeferAction(ctx, a.ID, until, why.Error())
	})
}

// record stores that an action was seen, and plans the removal of further
// copies of our own.
func (r *Runner) record(ctx context.Context, s Scope, a work.Action, seen observation) (work.Action, error) {
	ctx = context.WithoutCancel(ctx) // what was seen must not be forgotten for an interrupt
	now := r.Now()
	err := r.update(ctx, a, func(tx *store.Tx) error {
		for _, id := range seen.extra {
			if _, err := tx.AddAction(ctx, Removal(s.Repo, a, id, now)); err != nil {
				return err
			}
		}
		return tx.MarkApplied(ctx, a.ID, seen.id, seen.url, now)
	})
	if err != nil {
		return r.renewed(ctx, a, fmt.Errorf("record %s: %w", describe(a), err))
	}
	a.State, a.ResultID, a.ResultURL, a.SeenAt = work.ActionApplied, seen.id, seen.url, now
	r.Log.InfoContext(ctx, "action applied", r.LogAttrs(ctx, s.Repo, a, "url", a.ResultURL)...)
	return a, nil
}

// Void ends an action whose object is gone: the comment was deleted, the
// thread was locked or resolved, the pull request was closed.
func (r *Runner) Void(ctx context.Context, a work.Action, why string) (work.Action, error) {
	ctx = context.WithoutCancel(ctx)
	now := r.Now()
	err := r.update(ctx, a, func(tx *store.Tx) error { return tx.MarkVoid(ctx, a.ID, why, now) })
	if err != nil {
		return r.renewed(ctx, a, fmt.Errorf("void %s: %w", describe(a), err))
	}
	a.State = work.ActionVoid
	return a, nil
}

// Drop gives a cosmetic action up: it never fails a turn.
func (r *Runner) Drop(ctx context.Context, a work.Action, why error) (work.Action, error) {
	ctx = context.WithoutCancel(ctx)
	now := r.Now()
	err := r.update(ctx, a, func(tx *store.Tx) error { return tx.MarkDropped(ctx, a.ID, why.Error(), now) })
	if err != nil {
		return r.renewed(ctx, a, fmt.Errorf("drop %s: %w", describe(a), err))
	}
	a.State = work.ActionDropped
	return a, nil
}

// gone reports whether GitHub says that an object does not exist any more.
func gone(err error) bool { return github.IsStatus(err, 404, 410) }

func describe(a work.Action) string {
	if a.Number != 0 {
		return fmt.Sprintf("%s on #%d", a.Kind, a.Number)
	}
	return fmt.Sprintf("%s of %s", a.Kind, a.Target)
}

// ours reports whether a body carries the action's token and was written by an
// account of ours.
func ours(s Scope, a work.Action, body string, author work.Account) bool {
	m, ok := work.ParseMarks(body)
	return ok && m.Token == a.Token && author.ID != 0 && slices.Contains(s.Accounts, author.ID)
}

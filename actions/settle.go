package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// recordResult records the result of a send.
func (r *Runner) recordResult(ctx context.Context, s Scope, a work.Action, seen observation, sent error) (work.Action, error) {
	var unclear *transport.UnclearError
	var unclearPush *git.UnclearError
	var refused *RefusedError
	switch {
	case sent == nil:
		return r.record(ctx, s, a, seen)
	case errors.As(sent, &unclear), errors.As(sent, &unclearPush):
		return r.findAfterUnclear(ctx, s, a, sent)
	case errors.Is(sent, errOver), isOver(sent):
		return r.over(ctx, a, sent)
	case isHalfMerged(sent):
		return r.awaitMergedState(ctx, a, sent)
	case errors.As(sent, &refused):
		return r.recordRefusal(ctx, a, refused)
	case isNotFound(sent) && a.Kind != work.ActionReview && a.Kind != work.ActionPush && a.Kind != work.ActionPullRequest && a.Kind != work.ActionRepoLabels:
		return r.void(ctx, a, work.EndedGone, "what it was for is gone")
	}
	err := fmt.Errorf("send %s: %w", describe(a), sent)
	return a, errors.Join(err, r.postpone(ctx, a, time.Time{}, sent))
}

// findAfterUnclear looks for an action immediately after an unclear answer, because most of these
// writes were applied. If the effect is not visible, it may be sent again only after SettleAfter.
func (r *Runner) findAfterUnclear(ctx context.Context, s Scope, a work.Action, sent error) (work.Action, error) {
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

// shortenWait shortens a stored wait that is longer than SettleAfter: a clock was wrong when it was
// stored. The time of the send is unknown, so the action waits SettleAfter from now.
func (r *Runner) shortenWait(ctx context.Context, a work.Action) (work.Action, error) {
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

// record stores that an action's effect was seen, and plans the removal of duplicates of our own.
func (r *Runner) record(ctx context.Context, s Scope, a work.Action, seen observation) (work.Action, error) {
	ctx = context.WithoutCancel(ctx) // an interrupt must not lose what was seen
	now, done := r.Now(), a
	done.State, done.ResultID, done.ResultURL, done.SeenAt = work.ActionApplied, seen.id, seen.url, now
	err := r.update(ctx, a, func(tx *store.Tx) error {
		for _, id := range seen.extra {
			if err := tx.PlanAction(ctx, Removal(s.Repo, a, id, now)); err != nil {
				return err
			}
		}
		if err := tx.MarkApplied(ctx, a.ID, seen.id, seen.url, now); err != nil || s.Recorded == nil {
			return err
		}
		return s.Recorded(ctx, tx, done)
	})
	if err != nil {
		return r.renewed(ctx, a, fmt.Errorf("record %s: %w", describe(a), err))
	}
	a = done
	attrs := logAttrs(s.Repo, a, s.Names, "url", a.ResultURL)
	if s.Names.Item == 0 { // it was found, not sent
		attrs = r.LogAttrs(ctx, s.Repo, a, "url", a.ResultURL)
	}
	r.Log.InfoContext(ctx, "action applied", attrs...)
	return a, nil
}

// Void ends an action whose target is gone: the comment was deleted, the thread was locked or
// resolved, the pull request was closed.
func (r *Runner) Void(ctx context.Context, a work.Action, why string) (work.Action, error) {
	return r.void(ctx, a, "", why)
}

// over ends an action of which an error says that nothing is left to do.
func (r *Runner) over(ctx context.Context, a work.Action, err error) (work.Action, error) {
	var how work.Ending
	if over, ok := errors.AsType[*overError](err); ok {
		how = over.how
	}
	return r.void(ctx, a, how, err.Error())
}

func (r *Runner) void(ctx context.Context, a work.Action, how work.Ending, why string) (work.Action, error) {
	ctx = context.WithoutCancel(ctx)
	now := r.Now()
	err := r.update(ctx, a, func(tx *store.Tx) error { return tx.MarkVoid(ctx, a.ID, how, why, now) })
	if err != nil {
		return r.renewed(ctx, a, fmt.Errorf("void %s: %w", describe(a), err))
	}
	a.State, a.Ending = work.ActionVoid, how
	return a, nil
}

// Drop gives up a cosmetic action, which never fails a turn.
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

// isNotFound reports whether GitHub answered that an object does not exist.
func isNotFound(err error) bool { return github.IsStatus(err, 404, 410) }

func describe(a work.Action) string {
	if a.Number != 0 {
		return fmt.Sprintf("%s on #%d", a.Kind, a.Number)
	}
	return fmt.Sprintf("%s of %s", a.Kind, a.Target)
}

// isOurs reports whether a body has the action's token and one of our accounts wrote it.
func isOurs(s Scope, a work.Action, body string, author work.Account) bool {
	m, ok := work.ParseMarks(body)
	return ok && m.Token == a.Token && author.ID != 0 && slices.Contains(s.Accounts, author.ID)
}

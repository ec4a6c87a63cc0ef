package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Finalize reads everything about the turn again and pushes. The agent may have taken an hour: the
// pull request may be merged, comments deleted, or the head somebody else's.
func (p *Turns) Finalize(ctx context.Context, l *env.Lease) error {
	now, err := p.LastLook.wanted(ctx, l)
	if err != nil {
		return err
	}
	l.Item, l.Events = now.item, now.events
	s, said, err := p.readAgain(ctx, l, now.planned)
	if err != nil {
		return err
	}
	if s.hasIssue {
		l.Issue, l.IssueAt = s.issue, p.Now()
	}
	if err := p.LastLook.recheck(ctx, l, s); err != nil {
		return err
	}
	var waiting queue
	if now, err = p.LastLook.wanted(ctx, l, waiting.reading(ctx, l)); err != nil { // GitHub was asked since
		return err
	}
	if err := p.takeOver(ctx, l); err != nil {
		return err
	}
	push, pushes, err := plannedPush(l, now.planned)
	if err != nil {
		return err
	}
	if err := p.LastLook.requireTrusted(ctx, l); err != nil {
		return err
	}
	if pushes {
		if !l.Turn.Begun(now.planned) {
			if err := p.takeInIssueComments(ctx, l, push, waiting, said); err != nil {
				return err
			}
		}
		if err := p.LastLook.requireSound(ctx, l, l.Turn.Commit); err != nil {
			return err
		}
		if err := p.push(ctx, l, push); err != nil {
			return err
		}
		p.Changed(l, "pushed", work.Short(l.Turn.Commit))
	}
	l.Planned = now.planned
	return p.Advance(ctx, l, work.StepPushed)
}

// readAgain reads, side by side, everything that is checked before the first effect: that the
// repository is still the same, what GitHub shows of the turn, and what was said on a start's issue.
// Beside that it looks for the turn's actions, in the same list of comments.
func (p *Turns) readAgain(ctx context.Context, l *env.Lease, planned []work.Action) (s seen, said []github.Comment, err error) {
	for _, a := range planned {
		if a.Kind == work.ActionPullRequest {
			planned = append(planned, announcement(l, a))
		}
	}
	err = firstOf(github.AtOnce(ctx, readsAtOnce, []func(context.Context) error{
		func(ctx context.Context) error { return p.StillSame(ctx, l.Repo, 0) },
		func(ctx context.Context) (err error) { s, err = p.LastLook.read(ctx, l); return err },
		func(ctx context.Context) (err error) {
			l.Looks = actions.Look(ctx, p.Scope(l.Repo), planned...)
			if l.Turn.Kind.Start() {
				said, err = l.Looks.CommentsOf(ctx, l.Repo.Row.Current, l.Item.Number)
				said = p.reader.SaidSinceClaim(l, said)
			}
			return err
		},
	}))
	return s, said, err
}

func plannedPush(l *env.Lease, planned []work.Action) (work.Action, bool, error) {
	for _, a := range planned {
		if a.Kind == work.ActionPush && l.Item.Flow == work.FlowReview {
			return a, false, &actions.ForeignError{Kind: a.Kind, Number: l.Item.Number}
		}
		if a.Kind == work.ActionPush && !a.State.Settled() {
			return a, true, nil // a replayed push leaves a void one
		}
	}
	return work.Action{}, false, nil
}

// scope returns where the turn's actions are applied, with the looks for them.
func (p *Turns) scope(l *env.Lease) actions.Scope {
	s := p.Scope(l.Repo)
	s.Looks, s.Opened = l.Looks, func(p github.Pull) { l.Opened = p }
	s.Names = store.Names{Item: l.Item.ID, Flow: l.Item.Flow, Issue: l.Item.Number, Turn: l.Turn.Key}
	if !l.Turn.Kind.Start() {
		s.Names.Pull = l.Turn.Number
	}
	return s
}

// effect applies an action of the turn that is not settled, and stores with its record what follows from it: the step
// that the turn reaches, and the announcement of a pull request.
func (p *Turns) effect(ctx context.Context, l *env.Lease, s actions.Scope, a work.Action) (work.Action, error) {
	to := stepAfter(l, a)
	s.Recorded = func(ctx context.Context, tx *store.Tx, done work.Action) error {
		switch {
		case done.Kind == work.ActionPullRequest:
			return tx.PlanAction(ctx, announcement(l, done))
		case to != "":
			return tx.AdvanceTurn(ctx, l.Turn.ID, l.Turn.Step, to, done.SeenAt)
		}
		return nil
	}
	done, err := p.Effects().Apply(ctx, s, a)
	if to != "" && done.State == work.ActionApplied {
		l.Turn.Step = to
	}
	return done, err
}

// stepAfter returns the step that a turn reaches with an action; empty: it reaches none.
func stepAfter(l *env.Lease, a work.Action) work.Step {
	switch {
	case a.State.Settled():
	case a.Kind == work.ActionPush:
		return work.StepPushed
	case a.Kind == work.ActionComment && l.Turn.Kind.Start(): // the announcement comes last
		return work.StepApplied
	}
	return ""
}

// push pushes the turn's commit to its branch. If somebody moved the head, the commit is replayed
// on top; their commits are never lost.
func (p *Turns) push(ctx context.Context, l *env.Lease, a work.Action) error {
	if l.Turn.Commit != "" && !l.Repo.Git().Has(ctx, l.Turn.Commit) {
		return p.commitLost(ctx, l, a)
	}
	_, err := p.effect(ctx, l, p.scope(l), a)
	if _, ok := errors.AsType[*git.LeaseError](err); ok {
		return p.replay(ctx, l, a)
	}
	return p.unlessRejected(ctx, l, a, err)
}

// refused marks a push as unsent. No push of the commit has arrived or can: the branch has left the
// head that each one expects. seen: it did arrive.
func (p *Turns) refused(ctx context.Context, l *env.Lease, a work.Action) (seen bool, err error) {
	if seen, err = p.Effects().RecordIfSeen(ctx, p.Scope(l.Repo), a); seen || err != nil {
		return seen, err
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error { return tx.MarkUnsent(ctx, a.ID) })
	if err != nil {
		return false, fmt.Errorf("record that a push was refused: %w", err)
	}
	return false, nil
}

// replay replays the turn's commit on what somebody else pushed.
func (p *Turns) replay(ctx context.Context, l *env.Lease, a work.Action) error {
	if seen, err := p.refused(ctx, l, a); seen || err != nil {
		return err
	}
	m := l.Repo.Git()
	heads, err := m.RemoteHeads(ctx, a.Target)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	head, ok := heads[a.Target]
	if !ok || a.Base == "" { // somebody else created a branch with that name
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBranchUnknown, Branch: a.Target}}
	}
	if err := m.Fetch(ctx, head); err != nil {
		return err
	}
	kept, err := m.IsAncestor(ctx, l.Turn.Head, head)
	if err != nil {
		return err
	}
	if !kept {
		return &work.SupersededError{Reason: "the branch was rewritten while the agent worked"}
	}
	re, err := m.Replay(ctx, l.Turn.Commit, head)
	switch {
	case err != nil:
		return fmt.Errorf("replay on %s: %w", work.Short(head), err)
	case re.Conflict:
		return &work.SupersededError{Reason: "somebody pushed a change that conflicts with it"}
	case re.Empty:
		_, err := p.Effects().Void(ctx, a, "somebody pushed the same change")
		l.Turn.Commit = ""
		return errors.Join(err, p.SaveTurn(ctx, l))
	}
	if err := p.Runner.testReplayed(ctx, l, re.OID); err != nil {
		return err
	}
	if err := m.KeepTurn(ctx, l.Turn.Key, re.OID); err != nil {
		return err
	}
	return p.pushReplayed(ctx, l, a, head, re.OID)
}

// pushReplayed stores the new commit and its expected head before it pushes.
func (p *Turns) pushReplayed(ctx context.Context, l *env.Lease, a work.Action, head, oid string) error {
	turn, next := l.Turn, a
	turn.Commit = oid
	next.ID, next.State, next.Sends, next.SentAt = 0, work.ActionPlanned, 0, time.Time{}
	next.Base, next.Head, next.PlannedAt = head, oid, p.Now()
	next.Token = work.PushToken(l.Repo.Row.Key(), a.Target, head, turn.Key)
	var again work.Action
	bundle := p.Bundle(ctx, l, oid)
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if err := tx.SaveTurn(ctx, turn); err != nil {
			return err
		}
		if err := p.PutBundle(ctx, tx, l, bundle); err != nil {
			return err
		}
		if err := tx.MarkVoid(ctx, a.ID, "", "replayed on a newer head", next.PlannedAt); err != nil {
			return err
		}
		again, err = tx.AddAction(ctx, next)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the replayed commit: %w", err)
	}
	l.Turn = turn
	_, err = p.effect(ctx, l, p.Scope(l.Repo), again)
	if _, ok := errors.AsType[*git.LeaseError](err); ok { // the next pass tries again
		return &work.WaitError{Reason: work.Reason{Kind: work.WhyBranchMoves}, Err: err}
	}
	return p.unlessRejected(ctx, l, again, err)
}

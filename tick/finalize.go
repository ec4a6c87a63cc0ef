package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// finalize reads afresh what the turn is about, and pushes. The agent may have
// taken an hour: the pull request may be merged, the comments deleted, the
// head somebody else's.
func (p *Turns) finalize(ctx context.Context, l *lease) error {
	if err := p.looks.reload(ctx, l); err != nil {
		return err
	}
	if err := p.looks.readAfresh(ctx, l); err != nil {
		return err
	}
	if err := p.looks.notTaken(ctx, l); err != nil {
		return err
	}
	push, planned, err := p.plannedPush(ctx, l)
	if err != nil {
		return err
	}
	if planned {
		if err := p.looks.lookTrusted(ctx, l); err != nil {
			return err
		}
		if err := p.listenAgain(ctx, l, push); err != nil {
			return err
		}
		if err := p.push(ctx, l, push); err != nil {
			return err
		}
		p.changed(l, "pushed", work.Short(l.turn.Commit))
	}
	return p.advance(ctx, l, work.StepPushed)
}

func (p *Env) turnActions(ctx context.Context, l *lease) (planned []work.Action, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		planned, err = tx.ListTurnActions(ctx, l.turn.ID)
		return err
	})
	return planned, err
}

func (p *Env) itemPull(ctx context.Context, l *lease) (pull work.PullRequest, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		var ok bool
		if pull, ok, err = tx.FindPullOfItem(ctx, l.item.ID); err == nil && !ok {
			err = fmt.Errorf("work item %d has no pull request", l.item.ID)
		}
		return err
	})
	return pull, err
}

func (p *Turns) plannedPush(ctx context.Context, l *lease) (work.Action, bool, error) {
	planned, err := p.turnActions(ctx, l)
	for _, a := range planned {
		if a.Kind == work.ActionPush && !a.State.Settled() {
			return a, true, err // a replayed one has a void one beside it
		}
	}
	return work.Action{}, false, err
}

// push brings the turn's commit to its branch. A head that somebody else moved
// meanwhile gets the commit replayed on top; theirs is never lost.
func (p *Turns) push(ctx context.Context, l *lease, a work.Action) error {
	if l.turn.Commit != "" && !l.remote.mirror().Has(ctx, l.turn.Commit) {
		return p.commitLost(ctx, l, a)
	}
	_, err := p.effects().Apply(ctx, p.scope(l.remote), a)
	if _, ok := errors.AsType[*git.LeaseError](err); ok {
		return p.replay(ctx, l, a)
	}
	return p.unlessRejected(ctx, l, a, err)
}

// refused records that no push of the turn's commit has arrived or will: the
// branch has left the head that each of them expects.
func (p *Turns) refused(ctx context.Context, l *lease, a work.Action) (seen bool, err error) {
	if seen, err = p.effects().Look(ctx, p.scope(l.remote), a); seen || err != nil {
		return seen, err
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error { return tx.MarkUnsent(ctx, a.ID) })
	if err != nil {
		return false, fmt.Errorf("record that a push was refused: %w", err)
	}
	return false, nil
}

// replay puts the turn's commit on top of what somebody else pushed.
func (p *Turns) replay(ctx context.Context, l *lease, a work.Action) error {
	if seen, err := p.refused(ctx, l, a); seen || err != nil {
		return err
	}
	m := l.remote.mirror()
	heads, err := m.RemoteHeads(ctx, a.Target)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	head, ok := heads[a.Target]
	if !ok || a.Base == "" { // a new branch, whose name somebody else took
		return &work.BlockedError{Reason: fmt.Sprintf("the branch %s is not as it was expected on the remote", a.Target), Hint: wayOn(l)}
	}
	if err := m.Fetch(ctx, head); err != nil {
		return err
	}
	kept, err := m.IsAncestor(ctx, l.turn.Head, head)
	if err != nil {
		return err
	}
	if !kept {
		return &work.SupersededError{Reason: "the branch was rewritten while the agent worked"}
	}
	re, err := m.Replay(ctx, l.turn.Commit, head)
	switch {
	case err != nil:
		return fmt.Errorf("replay on %s: %w", work.Short(head), err)
	case re.Conflict:
		return &work.SupersededError{Reason: "somebody pushed a change that conflicts with it"}
	case re.Empty:
		_, err := p.effects().Void(ctx, a, "somebody pushed the same change")
		l.turn.Commit = ""
		return errors.Join(err, p.saveTurn(ctx, l))
	}
	if err := p.runner.testReplayed(ctx, l, re.OID); err != nil {
		return err
	}
	if err := m.KeepTurn(ctx, l.turn.Key, re.OID); err != nil {
		return err
	}
	return p.pushReplayed(ctx, l, a, head, re.OID)
}

// pushReplayed stores the new commit and its lease before it is pushed.
func (p *Turns) pushReplayed(ctx context.Context, l *lease, a work.Action, head, oid string) error {
	l.turn.Commit = oid
	again := a
	again.ID, again.State, again.Sends, again.SentAt = 0, work.ActionPlanned, 0, time.Time{}
	again.Base, again.Head, again.PlannedAt = head, oid, p.Now()
	again.Token = work.PushToken(l.remote.repo.Key(), a.Target, head, l.turn.Key)
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.turn); err != nil {
			return err
		}
		if err := tx.MarkVoid(ctx, a.ID, "replayed on a newer head", p.Now()); err != nil {
			return err
		}
		var err error
		again, err = tx.AddAction(ctx, again)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the replayed commit: %w", err)
	}
	_, err = p.effects().Apply(ctx, p.scope(l.remote), again)
	if _, ok := errors.AsType[*git.LeaseError](err); ok { // once more, from the next pass
		return &work.WaitError{Reason: "the branch keeps moving", Err: err}
	}
	return p.unlessRejected(ctx, l, again, err)
}

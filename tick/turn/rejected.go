package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A push that the remote does not take (rules, scopes, permissions, hooks) has
// had no effect. Its turn is parked with its answer: a person changes what is in
// the way, and the same commit is pushed. What a person says about it instead is
// seen by a new turn, but only when the commit is still not taken: "try
// again" should not cost a second answer.

// unlessRejected gives back what a push came to. One that the remote refused
// counts as never sent.
func (p *Turns) unlessRejected(ctx context.Context, l *env.Lease, a work.Action, err error) error {
	rejected, ok := errors.AsType[*git.RejectedError](err)
	if !ok {
		return err
	}
	if seen, lookErr := p.refused(ctx, l, a); seen || lookErr != nil {
		return lookErr
	}
	said, readErr := p.saidAfter(ctx, l, a.SentAt)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case said:
		return &work.SupersededError{Reason: "its push was refused: " + rejected.Reason}
	}
	return err
}

// saidAfter reports whether people said something on the pull request since the
// turn's push was tried before. Starts have listened to the issue already.
func (p *Turns) saidAfter(ctx context.Context, l *env.Lease, tried time.Time) (said bool, err error) {
	if l.Turn.Kind.Start() || tried.IsZero() {
		return false, nil
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		waiting, err := tx.ListSaid(ctx, l.Turn.RepoID, l.Item.ID)
		said = slices.ContainsFunc(waiting, func(e work.Event) bool { return e.Kind != work.EventSource && e.SeenAt.After(tried) })
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read what was said meanwhile: %w", err)
	}
	return said, nil
}

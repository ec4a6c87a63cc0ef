package turn

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// keepPartial keeps the files in the checkout of an unfinished turn: its agent was ended, failed or
// asks, or its change was refused. It helps the next attempt; its own failure changes nothing.
func (p *runner) keepPartial(ctx context.Context, l *env.Lease) {
	if l.Mode() != work.ModeWrite {
		return
	}
	ctx, cancel := outlasting(ctx, keepingLasts)
	defer cancel()
	oid, err := l.Repo.Git().KeepPartial(ctx, git.Partial{
		Key: l.Turn.Key, Dir: l.Checkout.Dir, Index: l.Checkout.Index, Parent: l.Turn.Head, Date: env.GitDate(l.Turn),
	})
	switch {
	case err != nil:
		p.Log.WarnContext(ctx, "could not keep the unfinished changes of a turn", p.TurnAttrs(l, "error", err)...)
	case oid != "":
		p.Changed(l, "kept unfinished work", work.Short(oid))
	}
}

// keepingLasts is how long keeping unfinished work may take after an interrupt.
const keepingLasts = 10 * time.Second

// outlasting returns a context that ends d after its parent.
func outlasting(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(d, cancel)
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() { stop(); cancel() }
}

// partial returns the unfinished work that the turn can continue: of its own last attempt, or of
// the item's previous turn if that failed. Nil: none.
func partial(ctx context.Context, l *env.Lease, turns []work.Turn) (*prompts.Partial, error) {
	if l.Mode() != work.ModeWrite {
		return nil, nil
	}
	m := l.Repo.Git()
	for _, key := range []string{l.Turn.Key, failedBefore(l.Turn, turns)} {
		if key == "" {
			continue
		}
		oid, ok, err := m.Partial(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("look for unfinished work: %w", err)
		}
		if !ok || !m.Has(ctx, oid) {
			continue
		}
		files, err := m.PartialFiles(ctx, oid)
		if err != nil {
			return nil, err
		}
		return &prompts.Partial{Commit: oid, ChangedFiles: files}, nil
	}
	return nil, nil
}

// failedBefore returns the key of the item's previous turn if that failed.
func failedBefore(now work.Turn, turns []work.Turn) (key string) {
	for _, t := range turns { // oldest first
		switch {
		case t.ID >= now.ID, t.Kind == work.KindReview:
		case t.Step == work.StepFailed:
			key = t.Key
		default:
			key = ""
		}
	}
	return key
}

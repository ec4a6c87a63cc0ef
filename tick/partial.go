package tick

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// keepPartial keeps what stands in the checkout of a turn that did not come to
// its end: its agent was ended, failed or asks, or what it made is refused. It
// is a courtesy to the next attempt, and its failure changes no verdict.
func (p *Runner) keepPartial(ctx context.Context, l *lease) {
	if l.mode() != work.ModeWrite {
		return
	}
	ctx, cancel := outlasting(ctx, keepingLasts)
	defer cancel()
	oid, err := l.remote.mirror().KeepPartial(ctx, git.Partial{
		Key: l.turn.Key, Dir: l.place.dir, Index: l.place.index, Parent: l.turn.Head, Date: gitDate(l.turn),
	})
	switch {
	case err != nil:
		p.Log.WarnContext(ctx, "could not keep what a turn left unfinished", p.turnAttrs(l, "error", err)...)
	case oid != "":
		p.changed(l, "kept unfinished work", work.Short(oid))
	}
}

// keepingLasts is how long keeping unfinished work may go on after an interrupt.
const keepingLasts = 10 * time.Second

// outlasting is a context that goes on for a while after its parent has ended.
func outlasting(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(d, cancel)
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() { stop(); cancel() }
}

// partial is the unfinished work that the turn can take up: that of its own
// last attempt, or of the item's turn before it, when that failed. Nil: none.
func (p *Runner) partial(ctx context.Context, l *lease) (*prompts.Partial, error) {
	if l.mode() != work.ModeWrite {
		return nil, nil
	}
	before, err := p.failedBefore(ctx, l)
	if err != nil {
		return nil, err
	}
	m := l.remote.mirror()
	for _, key := range []string{l.turn.Key, before} {
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

// failedBefore is the key of the item's turn before this one, if that failed.
func (p *Runner) failedBefore(ctx context.Context, l *lease) (key string, err error) {
	var turns []work.Turn
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		turns, err = tx.ListTurns(ctx, l.item.ID)
		return err
	})
	for _, t := range turns { // oldest first
		switch {
		case t.ID >= l.turn.ID:
		case t.Step == work.StepFailed:
			key = t.Key
		default:
			key = ""
		}
	}
	return key, err
}

// told reports whether a stored prompt speaks of this unfinished work, or of
// none where there is none, and of these surroundings: the operator may have
// named another agent since, which gives its answer in another form.
func told(stored []byte, partial *prompts.Partial, now prompts.Surroundings) bool {
	var req request
	if err := json.Unmarshal(stored, &req); err != nil {
		return true // whoever reads it next says what is wrong
	}
	if !reflect.DeepEqual(req.Context.Surroundings, prompts.Prepare(prompts.Context{Surroundings: now}).Surroundings) {
		return false
	}
	if partial == nil || req.Context.Partial == nil {
		return partial == req.Context.Partial
	}
	return partial.Commit == req.Context.Partial.Commit
}

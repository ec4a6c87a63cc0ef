package tell

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store"
)

// sendDue sends due messages, to all targets in parallel. The caller holds the lock, so a message
// marked as being sent was left by a killed pass: it is unclear whether it arrived.
func (t *Notifier) sendDue(ctx context.Context) error {
	planned, err := store.Read(ctx, t.store, func(tx *store.Tx) ([]news.Entry, error) { return tx.ListPlannedNews(ctx) })
	if err != nil {
		return err
	}
	var waiting []news.Entry
	for _, e := range planned {
		if e.State == news.Planned {
			waiting = append(waiting, e)
			continue
		}
		if err := t.settle(ctx, e, news.Unclear, "the pass that sent it ended before an answer came"); err != nil {
			return err
		}
	}
	due, old := news.Due(waiting, t.config.Targets(), t.now(), t.left())
	for _, e := range old {
		why := "it was not sent within a day"
		if e.LastError != "" {
			why += ": " + e.LastError
		}
		if err := t.settle(ctx, e, news.Dropped, why); err != nil {
			return err
		}
	}
	return t.sendAll(ctx, due)
}

// left returns how many messages this pass may still send.
func (t *Notifier) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, mostAPass-t.sent)
}

func (t *Notifier) sendAll(ctx context.Context, due []news.Entry) error {
	byTarget := map[string][]news.Entry{}
	for _, e := range due {
		byTarget[e.Target] = append(byTarget[e.Target], e)
	}
	var wg sync.WaitGroup
	problems := make(chan error, len(byTarget))
	for _, all := range byTarget {
		wg.Go(func() { problems <- work.Contain("send messages", func() error { return t.sendTo(ctx, all) }) })
	}
	wg.Wait()
	close(problems)
	var err error
	for problem := range problems {
		err = errors.Join(err, problem)
	}
	return err
}

// sendTo sends messages to one target until it cannot be reached.
func (t *Notifier) sendTo(ctx context.Context, all []news.Entry) error {
	for _, e := range all {
		if ctx.Err() != nil { // the next pass sends the rest
			return ctx.Err()
		}
		if reached, err := t.sendOne(ctx, e); err != nil || !reached {
			return err
		}
	}
	return nil
}

// sendOne sends one message after it has stored that it is being sent.
func (t *Notifier) sendOne(ctx context.Context, e news.Entry) (reached bool, err error) {
	at := t.now()
	err = t.store.Update(ctx, func(tx *store.Tx) error { return tx.MarkNewsSent(ctx, e.ID, at) })
	if errors.Is(err, store.ErrStale) {
		return true, nil // another pass dropped it
	}
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	t.sent++
	t.mu.Unlock()
	if err := t.session.Alive(ctx); err != nil {
		return false, err
	}
	answer := t.send(ctx, e.Target, notify.Message{ID: news.Delivery(e.Target, e.Key), Event: string(e.What), Body: e.Body, At: at})
	if answer.Fate != notify.Taken {
		t.logUndelivered(ctx, e, answer.Says)
	}
	switch answer.Fate {
	case notify.Taken:
		return true, t.settle(ctx, e, news.Done, "")
	case notify.Refused:
		return true, t.settle(ctx, e, news.Failed, answer.Says)
	case notify.Unreached:
	}
	ctx = context.WithoutCancel(ctx) // must be stored even if the pass ends
	return false, t.store.Update(ctx, func(tx *store.Tx) error { return tx.MarkNewsUnsent(ctx, e.ID, answer.Says) })
}

// logUndelivered logs that a message did not arrive.
func (t *Notifier) logUndelivered(ctx context.Context, e news.Entry, says string) {
	for _, r := range t.repos() {
		if r.Row.ID == e.RepoID {
			t.log.WarnContext(ctx, "a message did not arrive", "target", e.Target, "what", string(e.What), "repo_full_name", r.Name.FullName(), "number", e.Number, "says", says)
			return
		}
	}
	t.log.WarnContext(ctx, "a message without a repository did not arrive", "target", e.Target, "what", string(e.What), "says", says)
}

func (t *Notifier) settle(ctx context.Context, e news.Entry, state news.State, why string) error {
	ctx = context.WithoutCancel(ctx)
	err := t.store.Update(ctx, func(tx *store.Tx) error { return tx.SettleNews(ctx, e.ID, state, why, t.now()) })
	if err != nil {
		return fmt.Errorf("store what became of a message to %s: %w", e.Target, err)
	}
	return nil
}

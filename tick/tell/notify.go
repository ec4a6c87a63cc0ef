// This file sends the operator messages outside GitHub about what happened. It loads the
// facts, plans the messages that internal/work/news decides on, and sends them during a pass and at
// its end. A message is stored before it is sent, so it is sent at most once even if the pass dies.
// Nothing here fails a pass or delays it for long.

package tell

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

const (
	mostAPass = 20               // messages that one pass sends
	pastEnd   = 10 * time.Second // default time for sending after a pass has ended
	lookEvery = 3 * time.Second  // while turns run
)

// Notifier sends messages about one pass.
type Notifier struct {
	*env.Env
	send func(ctx context.Context, target string, m notify.Message) notify.Answer

	past   time.Duration      // time for sending after the pass has ended
	began  time.Time          // by the pass's clock
	quit   chan struct{}      // closed when the turns have ended
	done   chan struct{}      // closed when Begin's goroutine has ended
	cancel context.CancelFunc // cancels Begin's sends

	mu   sync.Mutex // guards sent
	sent int
}

// NewNotifier returns a Notifier. send sends a message to one target of the config.
func NewNotifier(e *env.Env, send func(ctx context.Context, target string, m notify.Message) notify.Answer) *Notifier {
	return &Notifier{Env: e, send: send, past: pastEnd}
}

// Begin sends messages while turns run, which may take an hour, until After is called.
func (t *Notifier) Begin(ctx context.Context, began time.Time) {
	if len(t.Config.Notify) == 0 {
		return
	}
	t.since(began)
	ctx, t.cancel = context.WithCancel(ctx)
	t.quit, t.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(t.done)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-t.quit:
				return
			case <-ctx.Done():
				return
			case <-look.C:
			}
			t.log(ctx, work.Contain("send messages", func() error { return t.round(ctx, nil, true) }))
		}
	}()
}

// Died sends at a pass's beginning that passes do not work, if passes before it died: this one may
// die, too, and then has no end.
func (t *Notifier) Died(ctx context.Context, passes work.PassFacts) {
	if len(t.Config.Notify) == 0 || !work.JudgePasses(passes).Lasting {
		return
	}
	t.began = passes.Now
	Aside(ctx, t.Log, "messages", func(ctx context.Context) error { return t.round(ctx, &passes, true) })
	t.began = time.Time{}
}

// since sets when the pass began, by the pass's clock.
func (t *Notifier) since(began time.Time) {
	if t.began.IsZero() {
		t.began = t.Now().Add(began.Sub(t.Local()))
	}
}

// After sends the messages due at the end of a pass, and about the end. An interrupted pass only
// plans them; the next one sends them.
func (t *Notifier) After(ctx context.Context, end *PassEnd) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), t.past)
	defer stop()
	if t.quit != nil {
		defer context.AfterFunc(ctx, t.cancel)()
		close(t.quit)
		<-t.done
	}
	t.since(end.Report.StartedAt)
	t.log(ctx, t.round(ctx, &end.Passes, end.Outcome != work.PassCancelled))
	return nil
}

// log logs an error of a round. Timeouts and cancellation are expected.
func (t *Notifier) log(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Log.WarnContext(ctx, "could not plan messages", "error", err)
	}
}

// round plans new messages and sends due ones. passes is nil while the pass runs.
func (t *Notifier) round(ctx context.Context, passes *work.PassFacts, send bool) error {
	planned, err := t.plan(ctx, passes)
	if err != nil || !send || len(planned) == 0 {
		return err
	}
	unlock, ok, err := t.TryNotify(ctx)
	if err != nil || !ok {
		return err // another pass sends
	}
	defer unlock()
	return t.sendDue(ctx)
}

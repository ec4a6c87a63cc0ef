// Package notify tells the operator outside of GitHub what happened: it reads what is known,
// plans the messages that internal/work/news decides on, and has them sent, beside the turns
// of a pass and at its end. A message is stored before it is sent, so it is sent at most
// once, whatever dies; and nothing here fails a pass, or holds it up for long.
package notify

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/observe"
)

const (
	mostAPass = 20               // messages that a pass sends
	pastEnd   = 10 * time.Second // how long a pass that is over may still send, unless told otherwise
	lookEvery = 3 * time.Second  // while turns run
)

// Teller tells what happens during one pass.
type Teller struct {
	*env.Env
	send func(ctx context.Context, target string, m notify.Message) notify.Answer

	past   time.Duration      // how long a pass that is over may still send
	began  time.Time          // by the clock that stamps go by
	quit   chan struct{}      // closed when the turns are over
	done   chan struct{}      // closed when nothing is sent beside them any more
	cancel context.CancelFunc // ends what is sent beside them

	mu   sync.Mutex // guards sent
	sent int
}

// New gives what tells of a pass; send sends a message to one target of the config.
func New(e *env.Env, send func(ctx context.Context, target string, m notify.Message) notify.Answer) *Teller {
	return &Teller{Env: e, send: send, past: pastEnd}
}

// Begin tells beside the turns of a pass, which may take an hour, until After is called.
func (t *Teller) Begin(ctx context.Context, began time.Time) {
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
			t.log(ctx, t.round(ctx, nil, true))
		}
	}()
}

// since notes when the pass began, by the clock that stamps go by.
func (t *Teller) since(began time.Time) {
	if t.began.IsZero() {
		t.began = t.Now().Add(began.Sub(t.Local()))
	}
}

// After tells what there is when a pass has ended, and of its end. One that was interrupted
// plans what is to be told, and leaves it to the next one.
func (t *Teller) After(ctx context.Context, end *observe.End) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), t.past)
	defer stop()
	if t.quit != nil {
		defer context.AfterFunc(ctx, t.cancel)()
		close(t.quit)
		<-t.done
	}
	t.since(end.Report.StartedAt)
	t.log(ctx, t.round(ctx, &end.Last, end.Outcome != work.PassCancelled))
	return nil
}

// log says what kept people from being told; it fails nothing.
func (t *Teller) log(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Log.WarnContext(ctx, "could not tell what happened", "error", err)
	}
}

// round plans what is to be told now, and sends what is due. last is nil while the pass runs.
func (t *Teller) round(ctx context.Context, last *work.LastPass, send bool) error {
	planned, err := t.plan(ctx, last)
	if err != nil || !send || len(planned) == 0 {
		return err
	}
	lock, ok, err := t.Dirs.LockTelling()
	if err != nil || !ok {
		return err // another pass sends
	}
	defer lock.Unlock()
	return t.sendDue(ctx)
}

// This file sends the operator messages outside GitHub about what happened. It loads the
// facts, plans the messages that internal/work/news decides on, and sends them during a pass and at
// its end. A message is stored before it is sent, so it is sent at most once even if the pass dies.
// Nothing here fails a pass or delays it for long.

package tell

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

const (
	mostAPass = 20               // messages that one pass sends
	pastEnd   = 10 * time.Second // default time for sending after a pass has ended
	lookEvery = 3 * time.Second  // while turns run
)

// Notifier sends messages about one pass.
type Notifier struct {
	store    *store.DB
	session  *store.Session
	config   *config.Config
	configID string
	dirs     folder.Dirs
	machine  string // the name of this one
	secrets  *secrets.Redactor
	log      *slog.Logger
	now      func() time.Time   // by GitHub's clock
	local    func() time.Time   // by this machine's
	accounts *env.Accounts      // those that write for us
	day      *spending.Day      // what the budgets still allow
	repos    func() []*env.Repo // of the config, and those that it no longer names
	lock     func(context.Context) (unlock func(), ok bool, err error)
	send     Send

	past   time.Duration      // time for sending after the pass has ended
	began  time.Time          // by the pass's clock
	quit   chan struct{}      // closed when the turns have ended
	done   chan struct{}      // closed when Begin's goroutine has ended
	cancel context.CancelFunc // cancels Begin's sends

	mu   sync.Mutex // guards sent
	sent int
}

// Send sends a message to one target of the config.
type Send func(ctx context.Context, target string, m notify.Message) notify.Answer

// NewNotifier returns the Notifier of a pass that has opened its database. Its repositories and GitHub's clock may be
// known later.
func NewNotifier(e *env.Env, send Send) *Notifier {
	return &Notifier{
		store: e.Store, session: e.Session, config: e.Config, configID: e.ConfigID(), dirs: e.Dirs, machine: e.Machine.Name, secrets: e.Secrets, log: e.Log,
		now: func() time.Time { return e.Now() }, local: e.Local, accounts: &e.Accounts, day: &e.Day,
		repos: func() []*env.Repo { return slices.Concat(e.All, e.Removed) }, lock: e.TryNotify, send: send, past: pastEnd,
	}
}

// Begin sends messages while turns run, which may take an hour, until After is called.
func (t *Notifier) Begin(ctx context.Context, began time.Time) {
	if len(t.config.Notify) == 0 {
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
			t.failed(ctx, work.Contain("send messages", func() error { return t.round(ctx, nil, true) }))
		}
	}()
}

// Died sends at a pass's beginning that passes do not work, if passes before it died: this one may
// die, too, and then has no end.
func (t *Notifier) Died(ctx context.Context, passes work.PassFacts) {
	if len(t.config.Notify) == 0 || !work.JudgePasses(passes).Lasting {
		return
	}
	t.began = passes.Now
	Aside(ctx, t.log, "messages", func(ctx context.Context) error { return t.round(ctx, &passes, true) })
	t.began = time.Time{}
}

// since sets when the pass began, by the pass's clock.
func (t *Notifier) since(began time.Time) {
	if t.began.IsZero() {
		t.began = t.now().Add(began.Sub(t.local()))
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
	t.failed(ctx, t.round(ctx, &end.Passes, end.Outcome != work.PassCancelled))
	return nil
}

// failed logs an error of a round. Timeouts and cancellation are expected.
func (t *Notifier) failed(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.log.WarnContext(ctx, "could not plan messages", "error", err)
	}
}

// round plans new messages and sends due ones. passes is nil while the pass runs.
func (t *Notifier) round(ctx context.Context, passes *work.PassFacts, send bool) error {
	planned, err := t.plan(ctx, passes)
	if err != nil || !send || len(planned) == 0 {
		return err
	}
	unlock, ok, err := t.lock(ctx)
	if err != nil || !ok {
		return err // another pass sends
	}
	defer unlock()
	return t.sendDue(ctx)
}

package status

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Turns shows the turns of a running pass: one line per change and, on a terminal, below it what
// each turn does now, redrawn continuously.
type Turns struct {
	app    *cli.App
	config *config.Config
	lines  *terminal.Progress

	mu      sync.Mutex
	shown   map[string]*terminal.Bar // by turn
	last    map[string]env.TurnChange
	now     map[string]*Turn // as last read
	stop    context.CancelFunc
	stopped chan struct{}
}

// NewTurns makes Turns for a pass. Close it before results are printed.
func NewTurns(a *cli.App, cfg *config.Config) *Turns {
	return &Turns{
		app: a, config: cfg, lines: a.Progress(),
		shown: map[string]*terminal.Bar{}, last: map[string]env.TurnChange{},
	}
}

// Follow reads repeatedly what the turns do, until Close.
func (t *Turns) Follow(ctx context.Context) {
	if !t.lines.Shown() {
		return
	}
	ctx, t.stop = context.WithCancel(ctx)
	t.stopped = make(chan struct{})
	go func() {
		defer close(t.stopped)
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				t.look(ctx)
			}
		}
	}()
}

// look reads what live passes do. If that fails, the previous state stays.
func (t *Turns) look(ctx context.Context) {
	var now map[string]*Turn
	at := t.app.Now()
	_, err := machine.View(ctx, t.config, func(tx *store.Tx) (err error) {
		now, err = all(ctx, tx, t.config.Runtime.StateDir, at)
		return err
	})
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = now
}

// Changed reports a change of a turn.
func (t *Turns) Changed(c env.TurnChange) {
	printChange(t.app, c)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[c.Turn] = c
	switch b := t.shown[c.Turn]; {
	case c.Over():
		if b != nil {
			b.Done()
		}
		delete(t.shown, c.Turn)
	case b == nil:
		t.shown[c.Turn] = t.lines.Line(func(int) string { return t.line(c.Turn) })
	}
}

func printChange(a *cli.App, c env.TurnChange) {
	line := fmt.Sprintf("%s#%d  %s  %s", c.Repo, c.Number, c.Kind, c.What)
	if c.Detail != "" {
		line += "  " + terminal.OneLine(c.Detail)
	}
	fmt.Fprintln(a.Env.Stderr, line)
}

// line is what a turn does now.
func (t *Turns) line(turn string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.last[turn]
	is := fmt.Sprintf("%s#%d %s %s", c.Repo, c.Number, c.Kind, c.What)
	if r := t.now[turn]; r != nil {
		is += r.passes(t.app.Now())
	}
	return is
}

// Slow shows that something takes long, until over is called.
func (t *Turns) Slow(what string) (over func()) { return t.lines.Spinner(what).Done }

// Close removes what is drawn.
func (t *Turns) Close() {
	if t.stop != nil {
		t.stop()
		<-t.stopped
	}
	t.lines.Close()
}

package status

import (
	"fmt"
	"sync"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Turns shows the turns of a running pass: one line per change and, on a terminal, below it how long
// each has run.
type Turns struct {
	app   *cli.App
	lines *terminal.Progress

	mu    sync.Mutex
	shown map[string]*terminal.Bar // by turn
}

// NewTurns makes Turns for a pass. Close it before results are printed.
func NewTurns(a *cli.App) *Turns {
	return &Turns{app: a, lines: a.Progress(), shown: map[string]*terminal.Bar{}}
}

// Changed reports a change of a turn.
func (t *Turns) Changed(c env.TurnChange) {
	turn := fmt.Sprintf("%s#%d  %s", c.Repo, c.Number, c.Kind.Words())
	line := turn + "  " + c.What
	if c.Detail != "" {
		line += "  " + terminal.OneLine(c.Detail)
	}
	fmt.Fprintln(t.app.Env.Stderr, line)
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.shown[c.Turn]
	switch {
	case c.Over() && b != nil:
		b.Done()
		delete(t.shown, c.Turn)
	case !c.Over() && b == nil:
		t.shown[c.Turn] = t.lines.Spinner(turn)
	}
}

// Slow shows that something takes long, until over is called.
func (t *Turns) Slow(what string) (over func()) { return t.lines.Spinner(what).Done }

// Close removes what is drawn.
func (t *Turns) Close() { t.lines.Close() }

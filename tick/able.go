package tick

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// kindOfRun is what agents can do or cannot, whatever the turn.
type kindOfRun struct {
	agent   string
	sandbox work.Sandbox
	mode    work.Mode
}

// tried are the agents that were tried in this pass.
type tried struct {
	mu   sync.Mutex
	runs map[kindOfRun]func() error
}

// once gives the result of trying a kind of run, which is done by the first that
// asks.
func (t *tried) once(k kindOfRun, try func() error) error {
	t.mu.Lock()
	if t.runs == nil {
		t.runs = map[kindOfRun]func() error{}
	}
	if t.runs[k] == nil {
		t.runs[k] = sync.OnceValue(try)
	}
	result := t.runs[k]
	t.mu.Unlock()
	return result()
}

// able finds out before a turn is paid whether its agent can work at all: once in
// a pass for each agent, sandbox and mode.
func (p *Pass) able(ctx context.Context, l *lease, ag Hired) error {
	k := kindOfRun{agent: ag.Name, sandbox: ag.Sandbox, mode: l.mode()}
	return p.tried.once(k, func() error {
		return ag.Check(ctx, agent.Request{
			Turn: l.turn.Key, Mark: p.mark(l.turn), Kind: l.turn.Kind, Mode: k.mode, Dir: l.place.dir, Item: l.item.Number, Log: p.agentLog(l),
		})
	})
}

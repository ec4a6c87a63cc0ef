package turn

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// kindOfRun is what agents can do or cannot, whatever the turn.
type kindOfRun struct {
	agent   string
	sandbox work.Sandbox
	mode    work.Mode
}

// tried are the agents that were tried in this pass, and work.
type tried struct {
	mu   sync.Mutex
	runs map[kindOfRun]*trial
}

// trial is one kind of run being tried.
type trial struct {
	mu    sync.Mutex
	works bool
}

// once tries a kind of run until it worked. A failure is that of the turn that
// tried: another one has another checkout, and perhaps another repository.
func (t *tried) once(k kindOfRun, try func() error) error {
	run := t.of(k)
	run.mu.Lock() // others wait: mostly it works, and is tried once
	defer run.mu.Unlock()
	if run.works {
		return nil
	}
	err := try()
	run.works = err == nil
	return err
}

func (t *tried) of(k kindOfRun) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs == nil {
		t.runs = map[kindOfRun]*trial{}
	}
	if t.runs[k] == nil {
		t.runs[k] = &trial{}
	}
	return t.runs[k]
}

// able finds out before a turn is paid whether its agent can work at all: in a
// pass, once where it works for each agent, sandbox and mode.
func (p *runner) able(ctx context.Context, l *env.Lease, ag env.Hired) error {
	k := kindOfRun{agent: ag.Name, sandbox: ag.Sandbox, mode: l.Mode()}
	return p.tried.once(k, func() error {
		return ag.Check(ctx, agent.Request{
			Turn: l.Turn.Key, Mark: p.Mark(l.Turn), Kind: l.Turn.Kind, Mode: k.mode, Dir: l.Checkout.Dir, Item: homeOf(l), Role: l.Turn.Role(), Log: p.agentLog(l),
		})
	})
}

// speakable finds out before a reviewer's turn is paid whether it can say anything
// afterwards, and who it is then: its own comments would be taken for somebody's.
func (p *runner) speakable(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind != work.KindReview {
		return nil
	}
	_, err := env.Speakers{Env: p.Env}.Of(ctx, l.Repo, l.Turn.Reviewer)
	return err
}

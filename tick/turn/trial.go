package turn

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// kindOfRun determines whether an agent works, for any turn.
type kindOfRun struct {
	agent   string
	sandbox work.Sandbox
	mode    work.Mode
}

// tried are the kinds of runs that were tried in this pass.
type tried struct {
	mu   sync.Mutex
	runs map[kindOfRun]*trial
}

// trial is one kind of run.
type trial struct {
	mu    sync.Mutex
	works bool
}

// once runs try until it succeeds once. A failure counts only for the turn that tried: another has
// another checkout and perhaps another repository.
func (t *tried) once(k kindOfRun, try func() error) error {
	run := t.of(k)
	run.mu.Lock() // others wait, as it usually works and is tried once
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

// checkAgent checks before a turn is paid that its agent works at all: once per pass for each
// agent, sandbox and mode.
func (p *runner) checkAgent(ctx context.Context, l *env.Lease, ag env.Hired) error {
	k := kindOfRun{agent: ag.Name, sandbox: ag.Sandbox, mode: l.Mode()}
	return p.tried.once(k, func() error {
		return ag.Check(ctx, agent.Request{
			Turn: l.Turn.Key, Mark: p.Mark(l.Turn), Kind: l.Turn.Kind, Mode: k.mode, Dir: l.Checkout.Dir, Item: homeOf(l), Role: l.Turn.Role(), Log: p.agentLog(l),
		})
	})
}

// checkReviewerAccount checks before a review is paid that the reviewer can post it, and records
// the account: otherwise its comments would be read as feedback.
func (p *runner) checkReviewerAccount(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind != work.KindReview {
		return nil
	}
	_, err := env.Speakers{Env: p.Env}.Of(ctx, l.Repo, l.Turn.Reviewer)
	return err
}

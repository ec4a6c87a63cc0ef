package agentrun

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// talk is what is said to an agent in one turn: the prompt, and what must be
// repaired. It resumes one of the provider's sessions.
type talk struct {
	p       *Runner
	l       *env.Lease
	agent   agent.Agent
	prompt  string // the whole story
	mend    string // what is said in its place to an agent that knows the story; empty at first
	context json.RawMessage
	session string
}

// talk begins where the item's last turn ended, as far as the agent's config
// wants that.
func (p *Runner) talk(ctx context.Context, l *env.Lease, ag agent.Agent) (*talk, error) {
	var req env.Request
	if err := json.Unmarshal(l.Turn.Request, &req); err != nil {
		return nil, fmt.Errorf("decode the stored prompt: %w", err)
	}
	about, err := json.Marshal(req.Context)
	if err != nil {
		return nil, fmt.Errorf("encode the context: %w", err)
	}
	t := &talk{p: p, l: l, agent: ag, prompt: req.Prompt, context: about}
	if p.Config.Agents[l.Turn.Agent].Session == config.SessionFresh {
		return t, nil
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		t.session, _, _, err = tx.GetSession(ctx, store.SessionOf(l.Turn))
		return err
	})
	return t, err
}

// say makes one invocation: with the prompt, or with what is to be repaired of
// the last answer. A session is an optimisation: where it is gone, full or of
// no use, a new one is told the whole story.
func (t *talk) say(ctx context.Context, violations []string) (agent.Result, error) {
	words, err := t.words(violations)
	if err != nil {
		return agent.Result{}, err
	}
	res, err := t.run(ctx, words, t.session)
	if lost, ok := errors.AsType[*agent.SessionError](err); ok && t.session != "" {
		t.p.Changed(t.l, "beginning a new session", lost.Reason)
		if err := t.forget(ctx); err != nil {
			return agent.Result{}, err
		}
		if words, err = t.words(violations); err != nil {
			return agent.Result{}, err
		}
		res, err = t.run(ctx, prompts.ForNewSession(words), "")
	}
	t.session = cmp.Or(res.Session, t.session)
	return res, err
}

// words are the whole story for an agent that remembers nothing of it.
func (t *talk) words(violations []string) (string, error) {
	repair := t.mend
	if len(violations) > 0 {
		var err error
		if repair, err = t.p.Prompts.Repair(t.l.Turn.Kind, t.p.briefs.AgentOf(t.l).Adapter, violations); err != nil {
			return "", fmt.Errorf("render the prompt: %w", err)
		}
	}
	if repair == "" {
		return t.prompt, nil
	}
	if t.session == "" {
		return t.prompt + "\n" + repair, nil
	}
	return repair, nil
}

// forget drops a session that is of no more use, also for later attempts.
func (t *talk) forget(ctx context.Context) error {
	t.session = ""
	return t.p.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.DropSession(ctx, store.SessionOf(t.l.Turn))
	})
}

// run makes one run of the agent. What it used counts however it ends.
func (t *talk) run(ctx context.Context, prompt, session string) (agent.Result, error) {
	p, l := t.p, t.l
	run, counted, err := p.beginRun(ctx, l, session)
	if err != nil {
		return agent.Result{}, err
	}
	p.Changed(l, "running", l.Turn.Agent)
	running, over := p.watch(ctx, l)
	part, observedEnd := observed(l, run)
	res, err := t.agent.Run(running, agent.Request{
		Turn: l.Turn.Key, Mark: p.Mark(l.Turn), Item: homeOf(l), Role: l.Turn.Role(), Kind: l.Turn.Kind, Mode: l.Mode(), Prompt: prompt, Context: t.context, Schema: prompts.Schema(l.Turn.Kind),
		Session: session, Counted: counted, Dir: l.Checkout.Dir,
		Wall: p.Config.Runtime.TurnTimeout, Idle: p.Config.Runtime.IdleTimeout, Log: p.agentLog(l), Active: p.active(l), Used: p.noting(ctx, l, run),
		Trace: part.Environ(),
	})
	if why := over(); why != nil && err != nil {
		err = why // an answer that came all the same is kept
	}
	observedEnd(res, err)
	believed, lost := p.endRun(ctx, l, run, res, err)
	if lost != nil {
		// An answer is worth more than its account: the journal can still keep it.
		p.Log.WarnContext(ctx, "could not store what a run used", p.TurnAttrs(l, "error", lost)...)
	}
	if !believed && res.Counted != (work.Usage{}) {
		res.Session, t.session = "", ""
	}
	return res, err // it names the agent
}

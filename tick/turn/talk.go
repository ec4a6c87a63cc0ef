package turn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// talk is the conversation with an agent in one turn: the prompt and the repairs. It resumes a
// session of the provider.
type talk struct {
	p       *runner
	l       *env.Lease
	agent   agent.Agent
	asked   env.Request // as stored
	mend    string      // repair prompt for a session that has the prompt; empty at first
	session string
	shown   bool // the images of the prompt, to this session
}

// ask runs the agent once, with the prompt or with a repair of the last answer. If the session is
// gone, full or unusable, a new one gets the whole prompt.
func (t *talk) ask(ctx context.Context, violations []string) (agent.Result, error) {
	words, err := t.repairPrompt(violations)
	if err != nil {
		return agent.Result{}, err
	}
	res, err := t.run(ctx, words, t.session)
	if lost, ok := errors.AsType[*agent.SessionError](err); ok && t.session != "" {
		t.p.Changed(t.l, "beginning a new session", lost.Reason)
		if err := t.dropSession(ctx); err != nil {
			return agent.Result{}, err
		}
		if words, err = t.repairPrompt(violations); err != nil {
			return agent.Result{}, err
		}
		res, err = t.run(ctx, prompts.ForNewSession(words), "")
	}
	t.session = cmp.Or(res.Session, t.session)
	return res, err
}

// repairPrompt returns the repair, with the whole prompt before it if there is no session.
func (t *talk) repairPrompt(violations []string) (string, error) {
	repair := t.mend
	if len(violations) > 0 {
		var err error
		if repair, err = t.p.Prompts.Repair(t.l.Turn.Kind, t.p.briefs.agentOf(t.l).Adapter, violations); err != nil {
			return "", fmt.Errorf("render the prompt: %w", err)
		}
	}
	switch {
	case repair == "":
		return t.asked.For(t.session), nil
	case t.session == "":
		return t.asked.Prompt + "\n" + repair, nil
	}
	return repair, nil
}

// dropSession drops an unusable session, for later attempts too.
func (t *talk) dropSession(ctx context.Context) error {
	t.session = ""
	return t.p.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.DropSession(ctx, store.SessionOf(t.l.Turn))
	})
}

// run runs the agent once. Its usage counts however it ends.
func (t *talk) run(ctx context.Context, prompt, session string) (agent.Result, error) {
	p, l := t.p, t.l
	about, err := json.Marshal(t.asked.Context)
	if err != nil {
		return agent.Result{}, fmt.Errorf("encode the context: %w", err)
	}
	run, counted, err := p.beginRun(ctx, l, session)
	if err != nil {
		return agent.Result{}, err
	}
	p.Changed(l, "running", l.Turn.Agent)
	images := l.Images
	if t.shown && session != "" { // it is paid for each
		images = nil
	}
	t.shown = true
	running, over := p.watch(ctx, l)
	res, err := t.agent.Run(running, agent.Request{
		Turn: l.Turn.Key, Mark: p.Mark(l.Turn), Item: homeOf(l), Role: l.Turn.Role(), Kind: l.Turn.Kind, Mode: l.Mode(), Prompt: prompt, Context: about, Schema: prompts.Schema(l.Turn.Kind, t.asked.Context),
		Session: session, Counted: counted, Dir: l.Checkout.Dir, Images: images,
		Wall: p.Config.Runtime.TurnTimeout, Idle: p.Config.Runtime.IdleTimeout, Log: p.agentLog(l), Active: p.active(l), Used: p.noting(ctx, l, run),
	})
	if why := over(); why != nil && err != nil {
		err = why // an answer that arrived anyway is kept
	}
	l.Model = res.Model
	believed, lost := p.endRun(ctx, l, run, res, err)
	if lost != nil {
		// The answer matters more than its usage.
		p.Log.WarnContext(ctx, "could not store the usage of a run", p.TurnAttrs(l, "error", lost)...)
	}
	if !believed && res.Counted != (work.Usage{}) {
		res.Session, t.session = "", ""
	}
	return res, err // the error names the agent
}

// lineLog logs what is written to it line by line until its room is used up.
type lineLog struct {
	log  *slog.Logger
	room int // bytes left; below 0: nothing more is logged

	mu   sync.Mutex
	rest []byte
}

const (
	maxLogLine  = 8 << 10  // longer lines are cut
	maxAgentLog = 16 << 20 // about, of one run's lines in the log
	lineCosts   = 300      // about, of a line's other fields in the log
)

func (w *lineLog) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room < 0 {
		return len(b), nil
	}
	w.rest = append(w.rest, b...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 && len(w.rest) < maxLogLine {
			return len(b), nil
		}
		if i < 0 || i >= maxLogLine {
			i = maxLogLine - 1
		}
		if w.line(string(bytes.TrimRight(w.rest[:i+1], "\r\n"))); w.room < 0 {
			w.rest = nil
			return len(b), nil
		}
		w.rest = w.rest[i+1:]
	}
}

// line logs a line. Once the room is used up it logs that, once.
func (w *lineLog) line(text string) {
	if w.room -= lineCosts + len(strconv.Quote(text)); w.room < 0 {
		w.log.Warn("the rest of the agent's output is not logged")
		return
	}
	w.log.Info("agent says", "line", text)
}

// Somebody else's pull request is untrusted code. Its reviewer sees only the checkout on this
// machine, even if the config asks for no sandbox.

// requireSandbox refuses every turn on somebody else's pull request except a review in a sandbox
// that hides the operator's files.
func requireSandbox(l *env.Lease, ag env.Hired) error {
	switch {
	case l.Item.Flow != work.FlowReview:
		return nil
	case l.Turn.Kind != work.KindReview:
		return fmt.Errorf("pull request #%d is somebody else's: agents only review it, no agent starts %s", l.Item.Number, l.Turn.Kind)
	case !ag.Sandbox.Hides():
		return &work.BlockedError{Reason: work.Reason{
			Kind: work.WhyReviewSandbox, Text: fmt.Sprintf("agent %q runs without one", ag.Name), Advice: ag.Remedy,
		}}
	}
	return nil
}

// homeOf returns the number of the item whose home folder the agent gets. 0: a review of somebody
// else's pull request gets an empty one and leaves nothing behind.
func homeOf(l *env.Lease) int {
	if l.Item.Flow == work.FlowReview {
		return 0
	}
	return l.Item.Number
}

// watchEvery is how often a pass checks while an agent works that its turn is still wanted. Only
// the database is read: other passes read GitHub.
const watchEvery = 2 * time.Second

// watch returns a context for an agent that ends once its turn is cancelled, because agents cost
// money by the minute. over ends the watch and returns why it cancelled; nil: it did not.
func (p *runner) watch(ctx context.Context, l *env.Lease) (agent context.Context, over func() error) {
	agent, end := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		every := time.NewTicker(watchEvery)
		defer every.Stop()
		for {
			select {
			case <-agent.Done():
				return
			case <-every.C:
				if err := p.cancelled(agent, l); err != nil {
					end(err)
					return
				}
			}
		}
	}()
	return agent, func() error {
		end(nil)
		<-watched
		if why := context.Cause(agent); cancels(why) {
			return why
		}
		return nil
	}
}

// cancelled returns why a turn's answer is no longer wanted. Read errors are ignored: Finalize
// checks again before the first effect.
func (p *runner) cancelled(ctx context.Context, l *env.Lease) error {
	copied := *l // the agent's own run reads and writes the lease at the same time
	if _, err := p.looks.wanted(ctx, &copied); cancels(err) {
		return err
	}
	return nil
}

// cancels reports whether an error means that an answer is not wanted, or not now.
func cancels(err error) bool {
	var cancelled *work.CancelledError
	var superseded *work.SupersededError
	var halted *folder.HaltedError
	return errors.As(err, &cancelled) || errors.As(err, &superseded) || errors.As(err, &halted)
}

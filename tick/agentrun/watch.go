package agentrun

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// watchEvery is how often a pass looks, while its agent works, whether somebody
// still wants what it makes. Other passes read GitHub; this asks the
// database alone.
const watchEvery = 2 * time.Second

// watch gives a context for an agent that ends when its work is cancelled: an
// agent costs money by the minute. over ends the watch, and says why it was;
// nil when it was not.
func (p *Runner) watch(ctx context.Context, l *env.Lease) (agent context.Context, over func() error) {
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

// cancelled says why nobody wants a turn's answer any more. What cannot be read
// now is looked at again right before the first effect.
func (p *Runner) cancelled(ctx context.Context, l *env.Lease) error {
	copied := *l // the agent's own run reads and writes the lease at the same time
	err := p.looks.Reload(ctx, &copied)
	if err == nil {
		err = p.looks.RequireNotPaused(ctx, &copied)
	}
	if cancels(err) {
		return err
	}
	return nil
}

// cancels reports whether an error says that nobody wants a turn's answer, or not
// now.
func cancels(err error) bool {
	var cancelled *work.CancelledError
	var superseded *work.SupersededError
	var halted *folder.HaltedError
	return errors.As(err, &cancelled) || errors.As(err, &superseded) || errors.As(err, &halted)
}

package env

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// HoldLimits applies the rate limits that earlier passes stored and stores new ones: the next pass
// is another process, and GitHub may ban clients that keep asking while limited.
func (p *Env) HoldLimits(ctx context.Context, limits []work.Limit) {
	for _, r := range p.All {
		for _, l := range limits {
			if l.Host == r.Name.Host && !Future(l.NotBefore, r.GitHub.Now(), work.LongestWait) {
				r.GitHub.Hold(transport.Limit{Resource: l.Resource, Until: l.NotBefore, Reason: l.Reason})
			}
		}
	}
	for _, r := range p.All { // last, so that limits already held are not stored again
		host := r.Name.Host
		r.GitHub.KeepLimits(func(l transport.Limit) { p.keepLimit(ctx, host, l) })
	}
}

func (p *Env) keepLimit(ctx context.Context, host string, l transport.Limit) {
	ctx = context.WithoutCancel(ctx)
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		return tx.SetLimit(ctx, work.Limit{Host: host, Resource: l.Resource, NotBefore: l.Until, Reason: l.Reason})
	})
	if err != nil {
		p.Log.ErrorContext(ctx, "could not record a limit of GitHub's", "host", host, "error", err)
	}
}

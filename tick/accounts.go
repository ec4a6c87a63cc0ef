package tick

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// accounts are the GitHub accounts that this tool has worked as. Their marked
// writing is ours; anybody else's marker is a paste.
type accounts struct {
	mu    sync.Mutex
	names operators
	known map[string][]int64 // by host
	err   error              // gh is logged in as somebody else today
}

func (a *accounts) ids(host string) []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.known[host])
}

// refused says why nothing may be written today.
func (a *accounts) refused() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (p *Pass) loadAccounts(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.ListAccounts(ctx)
	if err != nil {
		return fmt.Errorf("read our accounts: %w", err)
	}
	p.accounts.known = map[string][]int64{}
	for _, r := range p.Remotes {
		p.accounts.known[r.Name.Host] = slices.Clone(p.Config.Runtime.Accounts)
	}
	for host, accounts := range rows {
		for _, a := range accounts {
			p.accounts.known[host] = append(p.accounts.known[host], a.ID)
		}
		if len(accounts) == 1 {
			p.accounts.names.call(host, accounts[0])
		}
	}
	return nil
}

// meet accepts the account that gh is logged in with. Another one than before
// stops the pass: yesterday's replies would be taken for somebody's feedback.
func (p *Pass) meet(ctx context.Context, host string, who work.Account) error {
	p.accounts.mu.Lock()
	defer p.accounts.mu.Unlock()
	if p.accounts.err != nil {
		return p.accounts.err
	}
	if slices.Contains(p.accounts.known[host], who.ID) {
		p.accounts.names.call(host, who)
		return nil
	}
	if len(p.accounts.known[host]) > 0 {
		p.accounts.err = &work.BlockedError{
			Reason: fmt.Sprintf("gh is logged in as %s, and earlier passes worked as another account", who.Login),
			Hint:   fmt.Sprintf("log in as before, or accept this one: accounts = [%d] under [runtime] in the config", who.ID),
		}
		return p.accounts.err
	}
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, host, who) }); err != nil {
		return fmt.Errorf("record our account: %w", err)
	}
	p.accounts.known[host] = append(p.accounts.known[host], who.ID)
	p.accounts.names.call(host, who)
	return nil
}

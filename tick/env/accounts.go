package env

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Accounts are the GitHub accounts that this tool has worked as. Their marked
// writing is ours; anybody else's marker is a paste.
type Accounts struct {
	mu    sync.Mutex
	Names operators
	known map[string][]int64 // by host
	shut  map[string]error   // hosts on which nothing is done today, for want of a login or for another one
}

// IDs are our accounts on a host.
func (a *Accounts) IDs(host string) []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.known[host])
}

// ShutOut says why nothing may be done on a host today.
func (a *Accounts) ShutOut(host string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shut[host]
}

// ShutHost leaves a host alone for this pass; the others continue.
func (a *Accounts) ShutHost(host string, why error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shutLocked(host, why)
}

func (a *Accounts) shutLocked(host string, why error) error {
	if a.shut == nil {
		a.shut = map[string]error{}
	}
	a.shut[host] = why
	return why
}

// ShutHosts is why hosts were left alone, a line for each that is wanted.
func (a *Accounts) ShutHosts(wanted func(host string) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, host := range slices.Sorted(maps.Keys(a.shut)) {
		if wanted(host) {
			errs = append(errs, a.shut[host])
		}
	}
	return errors.Join(errs...)
}

// LoadAccounts reads our accounts, once a pass.
func (p *Env) LoadAccounts(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.ListAccounts(ctx, work.RoleOperator)
	if err != nil {
		return fmt.Errorf("read our accounts: %w", err)
	}
	p.Accounts.known = map[string][]int64{}
	for _, r := range p.Remotes {
		p.Accounts.known[r.Name.Host] = slices.Clone(p.Config.Runtime.Accounts)
	}
	for host, accounts := range rows {
		for _, a := range accounts {
			p.Accounts.known[host] = append(p.Accounts.known[host], a.ID)
		}
		if len(accounts) == 1 {
			p.Accounts.Names.Call(host, accounts[0])
		}
	}
	return nil
}

// Meet accepts the account that gh is logged in with on a host. With another one than
// before nothing is done there: yesterday's replies would be taken for somebody's feedback.
func (p *Env) Meet(ctx context.Context, host string, who work.Account) error {
	p.Accounts.mu.Lock()
	defer p.Accounts.mu.Unlock()
	if err := p.Accounts.shut[host]; err != nil {
		return err
	}
	if slices.Contains(p.Accounts.known[host], who.ID) {
		p.Accounts.Names.Call(host, who)
		return nil
	}
	if len(p.Accounts.known[host]) > 0 {
		return p.Accounts.shutLocked(host, &work.BlockedError{
			Reason: work.Reason{Kind: work.WhyAccountChanged, Who: who.Login, Number: int(who.ID)},
		})
	}
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, host, who, work.RoleOperator) }); err != nil {
		return fmt.Errorf("record our account: %w", err)
	}
	p.Accounts.known[host] = append(p.Accounts.known[host], who.ID)
	p.Accounts.Names.Call(host, who)
	return nil
}

package tick

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

// accounts are the GitHub accounts that this tool has worked as. Their marked
// writing is ours; anybody else's marker is a paste.
type accounts struct {
	mu    sync.Mutex
	names operators
	known map[string][]int64 // by host
	shut  map[string]error   // hosts on which nothing is done today, for want of a login or for another one
}

func (a *accounts) ids(host string) []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.known[host])
}

// shutOut says why nothing may be done on a host today.
func (a *accounts) shutOut(host string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shut[host]
}

// shutHost leaves a host alone for this pass; the others go on.
func (a *accounts) shutHost(host string, why error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shutLocked(host, why)
}

func (a *accounts) shutLocked(host string, why error) error {
	if a.shut == nil {
		a.shut = map[string]error{}
	}
	a.shut[host] = why
	return why
}

// shutHosts is why hosts were left alone, a line for each that is wanted.
func (a *accounts) shutHosts(wanted func(host string) bool) error {
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

// open drops the leases on turns of hosts that are left alone. Where none is open
// there is no pass.
func (p *Pass) open(leases []*lease) (kept []*lease, err error) {
	for _, l := range leases {
		if p.accounts.shutOut(l.remote.Name.Host) == nil {
			kept = append(kept, l)
			continue
		}
		l.release()
	}
	for _, r := range p.remotes() {
		if p.selected(r) && p.accounts.shutOut(r.Name.Host) == nil {
			return kept, nil
		}
	}
	return kept, p.accounts.shutHosts(func(string) bool { return true })
}

func (p *Env) loadAccounts(ctx context.Context, tx *store.Tx) error {
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

// meet accepts the account that gh is logged in with on a host. With another one than
// before nothing is done there: yesterday's replies would be taken for somebody's feedback.
func (p *Env) meet(ctx context.Context, host string, who work.Account) error {
	p.accounts.mu.Lock()
	defer p.accounts.mu.Unlock()
	if err := p.accounts.shut[host]; err != nil {
		return err
	}
	if slices.Contains(p.accounts.known[host], who.ID) {
		p.accounts.names.call(host, who)
		return nil
	}
	if len(p.accounts.known[host]) > 0 {
		return p.accounts.shutLocked(host, &work.BlockedError{
			Reason: fmt.Sprintf("gh is logged in as %s, and earlier passes worked as another account", who.Login),
			Hint:   fmt.Sprintf("log in as before, or accept this one: accounts = [%d] under [runtime] in the config", who.ID),
		})
	}
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, host, who) }); err != nil {
		return fmt.Errorf("record our account: %w", err)
	}
	p.accounts.known[host] = append(p.accounts.known[host], who.ID)
	p.accounts.names.call(host, who)
	return nil
}

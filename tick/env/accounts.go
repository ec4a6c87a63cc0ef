package env

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Accounts are the GitHub accounts that this tool has written as. A body with our marker is ours
// only if one of them wrote it; anybody else's is a paste. gh may be logged in as an operator.
// Reviewers speak as the others: only their marked writing is ours.
type Accounts struct {
	mu        sync.Mutex
	Names     operators
	operators map[string][]int64        // by host
	met       map[string][]work.Account // accounts in the database, by host
	reviewers map[string][]work.Account // by host
	shut      map[string]error          // why a host is skipped in this pass: no login, or another account's

	asking   sync.Mutex // one lookup of an account at a time
	speakers map[speaking]Speaker
}

// Writers returns the ids of our accounts on a host. Marked writing of theirs is ours.
func (a *Accounts) Writers(host string) []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.operators[host])
	for _, who := range a.reviewers[host] {
		all = append(all, who.ID)
	}
	return all
}

// Operators returns the ids of the accounts with which gh may be logged in on a host. Labels, pull
// requests and answers to commands are ours only from them.
func (a *Accounts) Operators(host string) []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.operators[host])
}

// knows reports whether the database has an account of ours with this login.
func (a *Accounts) knows(host, login string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	same := func(who work.Account) bool { return strings.EqualFold(who.Login, login) }
	return slices.ContainsFunc(a.reviewers[host], same) || slices.ContainsFunc(a.met[host], same)
}

// HostSkipped returns why this pass skips a host; nil: it does not.
func (a *Accounts) HostSkipped(host string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shut[host]
}

// SkipHost makes this pass skip a host. Other hosts go on. It returns why.
func (a *Accounts) SkipHost(host string, why error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.skipHostLocked(host, why)
}

func (a *Accounts) skipHostLocked(host string, why error) error {
	if a.shut == nil {
		a.shut = map[string]error{}
	}
	a.shut[host] = why
	return why
}

// SkippedHosts returns why wanted hosts are skipped, one line each; nil: none is.
func (a *Accounts) SkippedHosts(wanted func(host string) bool) error {
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

// LoadAccounts loads our accounts, once per pass.
func (p *Env) LoadAccounts(ctx context.Context, tx *store.Tx) error {
	met, err := tx.ListAccounts(ctx, work.RoleOperator)
	if err == nil {
		p.Accounts.reviewers, err = tx.ListAccounts(ctx, work.RoleReviewer)
	}
	if err != nil {
		return fmt.Errorf("read our accounts: %w", err)
	}
	p.Accounts.operators, p.Accounts.met = map[string][]int64{}, met
	for _, r := range p.Remotes {
		p.Accounts.operators[r.Name.Host] = slices.Clone(p.Config.Runtime.Accounts)
	}
	for host, accounts := range met {
		for _, a := range accounts {
			p.Accounts.operators[host] = append(p.Accounts.operators[host], a.ID)
		}
		if len(accounts) == 1 {
			p.Accounts.Names.SetLogin(host, accounts[0])
		}
	}
	return nil
}

// AcceptAccount accepts the account that gh is logged in with on a host. If the host is known with
// another account, a reviewer's included, AcceptAccount makes the pass skip the host and returns a
// BlockedError: our own earlier replies would be read as feedback.
func (p *Env) AcceptAccount(ctx context.Context, host string, who work.Account) error {
	p.Accounts.mu.Lock()
	defer p.Accounts.mu.Unlock()
	if err := p.Accounts.shut[host]; err != nil {
		return err
	}
	if slices.Contains(p.Accounts.operators[host], who.ID) {
		p.Accounts.Names.SetLogin(host, who)
		return nil
	}
	if len(p.Accounts.operators[host]) > 0 {
		return p.Accounts.skipHostLocked(host, &work.BlockedError{
			Reason: work.Reason{Kind: work.WhyAccountChanged, Who: who.Login, Number: int(who.ID)},
		})
	}
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, host, who, work.RoleOperator) }); err != nil {
		return fmt.Errorf("record our account: %w", err)
	}
	p.Accounts.operators[host] = append(p.Accounts.operators[host], who.ID)
	p.Accounts.Names.SetLogin(host, who)
	return nil
}

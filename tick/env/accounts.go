package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
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
	accepted  map[string]int64          // the accounts that GitHub named in this pass as those of gh's login, by host
	shut      map[string]error          // why a host, or an owner as in ownerOf, is skipped in this pass: no login, or another account's

	// recording is held while a new account is stored. mu is not: a transaction may ask for accounts
	// while another one is waited for.
	recording sync.Mutex

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

// RepoSkipped returns why this pass skips a repository: because of its host, of its owner, or of another
// installation there; nil: it does not.
func (a *Accounts) RepoSkipped(name work.RepoName) error {
	if why := a.HostSkipped(name.Host); why != nil {
		return why
	}
	if why := a.HostSkipped(ownerOf(name)); why != nil {
		return why
	}
	return a.HostSkipped(wholeName(name))
}

// ownerOf names the owner of a repository beside the hosts that are skipped.
func ownerOf(name work.RepoName) string { return name.Host + "/" + strings.ToLower(name.Owner) }

// wholeName names a repository beside them.
func wholeName(name work.RepoName) string { return ownerOf(name) + "/" + strings.ToLower(name.Name) }

// SkipHost makes this pass skip a host, not the others. It returns why.
func (a *Accounts) SkipHost(host string, why error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.skipHostLocked(host, why)
}

// SkipIfShut makes this pass skip what an error of GitHub keeps gh's login from: the host, or the owner of
// the repository. The next pass asks again. It reports whether the repository is skipped.
func (a *Accounts) SkipIfShut(name work.RepoName, err error) bool {
	if shut, ok := github.LoginFault(name.Host, err); ok {
		place := name.Host
		if !shut.Host {
			place = ownerOf(name)
		}
		_ = a.SkipHost(place, shut)
	}
	return a.RepoSkipped(name) != nil
}

func (a *Accounts) skipHostLocked(host string, why error) error {
	if a.shut == nil {
		a.shut = map[string]error{}
	}
	a.shut[host] = why
	return why
}

// LoginTroubles returns why GitHub accepts nothing from gh's login, by host, or by owner as in ownerOf.
func (a *Accounts) LoginTroubles() map[string]github.Trouble {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]github.Trouble{}
	for place, why := range a.shut {
		host, _, _ := strings.Cut(place, "/")
		if lost, ok := errors.AsType[*github.LoginError](why); ok {
			all[place] = lost.Trouble
		} else if lost, ok := github.LoginFault(host, why); ok {
			all[place] = lost.Trouble
		}
	}
	return all
}

// SkippedHosts returns why wanted hosts and owners are skipped, one line each; nil: none is.
func (a *Accounts) SkippedHosts(wanted func(place string) bool) error {
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

// LoadAccounts loads our accounts, once per pass. The database may be lost, so remembered, what the state
// folder has, counts for hosts on which it knows none.
func (p *Env) LoadAccounts(ctx context.Context, tx *store.Tx, remembered map[string][]work.Account) error {
	met, err := tx.ListAccounts(ctx, work.RoleOperator)
	if err == nil {
		p.Accounts.reviewers, err = tx.ListAccounts(ctx, work.RoleReviewer)
	}
	for host, accounts := range remembered {
		if len(met[host]) > 0 {
			continue
		}
		for _, a := range accounts {
			err = errors.Join(err, tx.AddAccount(ctx, host, a, work.RoleOperator))
		}
		met[host] = accounts
	}
	if err != nil {
		return fmt.Errorf("read our accounts: %w", err)
	}
	p.Accounts.operators, p.Accounts.met = map[string][]int64{}, met
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

// AcceptAccount accepts the account that gh is logged in with on a host. If operator accounts are
// known for the host, and this one is neither among them nor named by the config, AcceptAccount makes
// the pass skip the host and returns a BlockedError: somebody may have switched gh's login for other work.
func (p *Env) AcceptAccount(ctx context.Context, host string, who work.Account) error {
	a := &p.Accounts
	a.recording.Lock()
	defer a.recording.Unlock()
	if known, err := a.accept(host, who, p.Config.AccountOn(host), p.TokenVariable(host)); known || err != nil {
		return err
	}
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, host, who, work.RoleOperator) }); err != nil {
		return fmt.Errorf("record our account: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.met == nil {
		a.met = map[string][]work.Account{}
	}
	a.met[host] = append(a.met[host], who)
	a.operators[host] = append(a.operators[host], who.ID)
	a.Names.SetLogin(host, who)
	if p.Begun == nil { // a dry run, which writes nothing, or a command: the next pass begins with the row
		return nil
	}
	return p.Dirs.RememberAccounts(a.met)
}

// RememberAccounts has the state folder remember the accounts that LoadAccounts found, unless it does.
func (p *Env) RememberAccounts(remembered map[string][]work.Account) error {
	same := func(x, y []work.Account) bool {
		return len(x) == len(y) && !slices.ContainsFunc(x, func(a work.Account) bool { return !slices.Contains(y, a) }) // the order is that of their use
	}
	if maps.EqualFunc(p.Accounts.met, remembered, same) {
		return nil
	}
	return p.Dirs.RememberAccounts(p.Accounts.met)
}

// accept accepts the account that the config names; if it names none, a known one and the first one of a host.
func (a *Accounts) accept(host string, who work.Account, named, variable string) (known bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.shut[host]; err != nil {
		return false, err
	}
	if a.accepted == nil {
		a.accepted = map[string]int64{}
	}
	a.accepted[host] = who.ID
	if why := Refused(host, named, variable, who, a.met[host]); why != nil {
		return false, a.skipHostLocked(host, &work.BlockedError{Reason: *why})
	}
	if slices.Contains(a.operators[host], who.ID) {
		a.Names.SetLogin(host, who)
		return true, nil
	}
	return false, nil
}

// Refused returns why passes skip a host whose token is an account's: it is not the one that the config names, or, if
// that names none, not one of those before. The token may be in an environment variable. Nil: they do not.
func Refused(host, named, variable string, who work.Account, before []work.Account) *work.Reason {
	known := slices.ContainsFunc(before, func(a work.Account) bool { return a.ID == who.ID })
	switch {
	case named != "" && !strings.EqualFold(named, who.Login):
		return &work.Reason{Kind: work.WhyAccountNoToken, Who: named, Text: cmp.Or(variable, "gh") + " has a token of " + cmp.Or(who.Login, "an app"), Advice: github.LogIn(host, "a token of "+named)}
	case named != "" || known || len(before) == 0:
		return nil
	}
	name := "another account"
	if len(before) == 1 {
		name = before[0].Login
	}
	return &work.Reason{Kind: work.WhyAccountChanged, Text: variable, Who: who.Login, Number: int(who.ID), Name: name}
}

// operators are the accounts that gh is logged in with, by host, as they are mentioned.
type operators struct {
	login map[string]string // empty: mention nobody
	whole map[string]work.Account
	apps  map[int64]bool // accounts of GitHub Apps
}

// SetLogin stores who gh is logged in as on a host. An app is not mentioned: @ and its name is
// another account. Not every answer says that an account is an app's, so SetLogin remembers its id.
func (o *operators) SetLogin(host string, who work.Account) {
	if o.login == nil {
		o.login, o.whole, o.apps = map[string]string{}, map[string]work.Account{}, map[int64]bool{}
	}
	if who.Bot || strings.HasSuffix(who.Login, "[bot]") {
		o.apps[who.ID] = true
	}
	o.login[host], o.whole[host] = who.Login, who
	if o.apps[who.ID] {
		o.login[host] = ""
	}
}

// loggedIn returns the id of the account that gh is logged in with; 0: GitHub has not named it in
// this pass.
func (a *Accounts) loggedIn(host string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.accepted[host]
}

// Operator returns the login that gh is logged in with; empty: mention nobody.
func (a *Accounts) Operator(host string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Names.login[host]
}

// Identity returns whom commits are by if git names nobody: the account that gh
// is logged in with, by the address that GitHub keeps for it. It is zero if the account is unknown.
func (a *Accounts) Identity(host string) git.Identity {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.Names.whole[host]
	if met := a.met[host]; who.ID == 0 && len(met) > 0 {
		who = met[len(met)-1]
	}
	if who.ID == 0 || who.Login == "" {
		return git.Identity{}
	}
	return git.Identity{Name: who.Login, Email: fmt.Sprintf("%d+%s@users.noreply.%s", who.ID, who.Login, host)}
}

// ReadOwnAccount asks GraphQL for our account, which GitHub's REST API does not name for the token of
// an app's installation. If GraphQL does not either, and no earlier pass knew it, the host is skipped:
// our own comments would be read as feedback.
func (p *Env) ReadOwnAccount(ctx context.Context, r *Repo) error {
	s, err := r.GitHub.Sweep(ctx, r.Row.Current, nil)
	if err == nil {
		return p.AcceptAccount(ctx, r.Name.Host, s.Viewer)
	}
	if _, silent := errors.AsType[*transport.BodyError](err); !silent && !github.IsStatus(err, 403) {
		return err
	}
	return p.NoAccount(r.Name.Host, nil)
}

// NoAccount makes this pass skip a host that does not name our account, if no earlier pass knew it. Else it returns
// what was given.
func (p *Env) NoAccount(host string, err error) error {
	if len(p.Accounts.Operators(host)) > 0 {
		return err
	}
	return p.Accounts.SkipHost(host, &work.BlockedError{Reason: work.Reason{Kind: work.WhyAccountUnknown, Text: p.TokenVariable(host), Name: host}})
}

// Startable reports whether the agent for a kind of turn can be started. A turn whose agent is not
// installed, or could not work in the last passes, waits. Turns of other agents start.
//
// A turn without the sandbox that it needs is started and then blocked, so that GitHub shows that a
// person must act.
func (p *Env) Startable(ctx context.Context, repoID int64, kind work.Kind, reviewer string) bool {
	hired, err := p.Hire(ctx, p.RemoteByID(repoID).Row, kind, reviewer)
	if _, blocked := errors.AsType[*work.BlockedError](err); blocked || err == nil {
		stop, failed := p.agentStop(ctx, hired.Name)
		return failed != nil || p.AtOnce || !stop.Stops(hired.Setup, p.Now())
	}
	if p.missing == nil {
		p.missing = map[string]error{}
	}
	p.missing[hired.Name] = err
	return false
}

func (p *Env) agentStop(ctx context.Context, agent string) (stop work.Outage, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) (err error) {
		stop, _, err = tx.FindAgentStop(ctx, agent)
		return err
	})
	return stop, err
}

// MeetAgentStop stores that a turn met what keeps its agent from every turn on this machine, and reports
// it once for all of them.
func (p *Env) MeetAgentStop(ctx context.Context, l *Lease, why work.Reason, rep *Report) error {
	hired, _ := p.Hire(ctx, l.Repo.Row, l.Turn.Kind, l.Turn.Reviewer) // its setup is set with an error, too
	name := cmp.Or(l.Turn.Agent, hired.Name)
	var now work.Outage
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		before, _, err := tx.FindAgentStop(ctx, name)
		if err != nil {
			return err
		}
		before.Agent = name
		now = before.Meets(why, hired.Setup, p.Began, p.Now(), p.Config.Runtime.RetryBase)
		return tx.PutAgentStop(ctx, now)
	})
	if err == nil && now.Stands() {
		rep.StopAgent(now)
	}
	return err
}

// MissingAgents returns one error line per agent that could not be started; nil: none.
func (p *Env) MissingAgents() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.missing)) {
		errs = append(errs, p.missing[name])
	}
	return errors.Join(errs...)
}

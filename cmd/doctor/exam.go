package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// exam is what several checks ask about. Functions ask once, when the first check needs the answer.
type exam struct {
	*cli.App
	cfg     *config.Config // of an invalid config, what does not depend on it
	invalid error
	machine *machine.Machine
	stored  stored
	notify  bool // test messages are sent

	hosts     []*host
	repos     []*repo
	agents    func() []machine.Agent
	missing   func() []machine.Command // programs of the repositories' commands
	scheduled func() (schedule.State, error)
}

// mode is whether an exam asks GitHub.
type mode int

const (
	online mode = iota
	offline
)

// newExam reads the config and the database.
func newExam(ctx context.Context, a *cli.App, at mode) *exam {
	e := &exam{App: a}
	if e.cfg, e.invalid = a.Config(); e.cfg == nil {
		e.cfg = config.Without(a.Environ())
		e.cfg.Runtime.Agent = machine.Installed(e.cfg, a.Environ())
		e.cfg.Path, _ = filepath.Abs(a.Environ().ConfigPath) // stays empty if the folder is unknown
	}
	e.machine = machine.New(machine.Options{Config: e.cfg, Env: a.Environ(), Secrets: a.Secrets(), Now: a.Now})
	e.stored = readStored(ctx, e.cfg, a.Now())
	names := machine.Hosts(e.cfg)
	if len(names) == 0 {
		names = []string{github.DefaultHost()}
	}
	for _, name := range names {
		e.hosts = append(e.hosts, newHost(ctx, e, name, at))
	}
	for _, settings := range e.cfg.Repos {
		h := e.hosts[slices.Index(names, settings.Name.Host)]
		first := !slices.ContainsFunc(e.repos, func(o *repo) bool { return o.host == h })
		e.repos = append(e.repos, newRepo(ctx, e.cfg, settings, h, first))
	}
	e.agents = sync.OnceValue(func() []machine.Agent {
		if _, missing := errors.AsType[*config.MissingError](e.invalid); e.invalid != nil && !missing {
			return nil // without a config, doctor tells which agents there are
		}
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		return e.machine.Agents(ctx)
	})
	e.missing = sync.OnceValue(e.machine.MissingCommands)
	e.scheduled = sync.OnceValues(func() (schedule.State, error) { return schedule.Look(ctx, a, e.cfg) })
	return e
}

// host is a GitHub host that the config names.
type host struct {
	name   string
	token  string // of gh's login; empty: there is none
	named  string // the account that the config names there; empty: it names none
	kept   bool   // gh keeps the token of that account, beside its login's
	client *github.Client
	login  func() error // asks who we are; errNotAsked: it does not

	variable string // that has the token; empty: none has

	who  work.Account // empty: a GitHub App
	info github.TokenInfo
}

// errNotAsked is that GitHub is not asked.
var errNotAsked = errors.New("not asked")

// requestTime limits one request.
const requestTime = 10 * time.Second

func newHost(ctx context.Context, e *exam, name string, at mode) *host {
	h := &host{name: name, token: github.Token(name), named: e.cfg.AccountOn(name)}
	h.login = sync.OnceValue(func() error {
		if at == offline || h.token == "" {
			return errNotAsked
		}
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		token, err := e.machine.Token(ctx, name)
		if err != nil {
			return err
		}
		h.kept, h.variable = token != h.token, e.machine.TokenVariable(name)
		if h.client, err = e.GitHub(transport.Options{Host: name, Token: token, Timeout: requestTime, ReadOnly: true}); err != nil {
			return err
		}
		h.who, h.info, err = h.client.Login(ctx)
		return err
	})
	return h
}

// refused reports whether GitHub rejects the token or the account.
func (h *host) refused(err error) bool {
	all := github.Troubles(h.name, err)
	return len(all) > 0 && (all[0].Code == github.TroubleLogin || all[0].Code == github.TroubleForbidden)
}

// trouble returns what an error of GitHub says is wrong, and what mends it, or else do.
func (h *host) trouble(err error, do string) *machine.Trouble {
	if all := github.Troubles(h.name, err); len(all) > 0 {
		return &machine.Trouble{Says: all[0].Cause, Do: all[0].Next}
	}
	return &machine.Trouble{Says: err.Error(), Do: do}
}

// repo is a repository that the config names.
type repo struct {
	called   string // as in the config
	settings config.Repo
	host     *host
	queries  bool         // the queries of passes are sent about it
	read     func() error // asks GitHub about it
	now      github.Repository
}

func newRepo(ctx context.Context, cfg *config.Config, settings config.Repo, h *host, queries bool) *repo {
	r := &repo{called: cfg.Called(settings.Name), settings: settings, host: h, queries: queries}
	r.read = sync.OnceValue(func() (err error) {
		if err := h.login(); err != nil {
			return errNotAsked
		}
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		r.now, err = h.client.Repository(ctx, settings.Name)
		return err
	})
	return r
}

// stored is what checks need of the database; empty without one. A check of its own tells what is wrong with it.
type stored struct {
	repos    []work.Repo
	others   []store.OtherInstallation
	machines []work.Machine
	accounts map[string][]work.Account // as which passes work, by host
	fleet    store.Fleet
	usage    map[string]usage // by agent
}

// usage is what the last runs of an agent reported.
type usage struct {
	known work.Known // by one of them
	ran   bool
}

// lookback is how far back the runs of an agent tell what its next one reports.
const lookback = 30 * 24 * time.Hour

func readStored(ctx context.Context, cfg *config.Config, now time.Time) (s stored) {
	s.usage = map[string]usage{}
	_, _ = machine.View(ctx, cfg, func(tx *store.Tx) error {
		var errs [5]error
		s.fleet, errs[0] = tx.GetFleet(ctx)
		s.machines, errs[1] = tx.ListMachines(ctx)
		s.accounts, errs[2] = tx.ListAccounts(ctx, work.RoleOperator)
		s.repos, errs[3] = tx.ListRepos(ctx)
		s.others, errs[4] = tx.ListOtherInstallations(ctx)
		err := errors.Join(errs[:]...)
		for name := range cfg.Agents {
			last, unread := tx.ListUsageKnown(ctx, name, now.Add(-lookback))
			u := usage{ran: len(last) > 0}
			for _, k := range last {
				u.known.Tokens, u.known.Cost = u.known.Tokens || k.Tokens, u.known.Cost || k.Cost
			}
			s.usage[name] = u
			err = errors.Join(err, unread)
		}
		return err
	})
	return s
}

// problems returns why the config is invalid, one per line, and what mends all of it; empty: each has its own.
func (e *exam) problems() (all []string, do string) {
	if missing, ok := errors.AsType[*config.MissingError](e.invalid); ok {
		return []string{"there is no config at " + missing.Path}, "gh mergexo init"
	}
	if e.invalid == nil {
		return nil, ""
	}
	return strings.Split(e.invalid.Error(), "\n"), ""
}

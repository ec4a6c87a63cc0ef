// Package ingest reads from GitHub what is new in a repository and stores it item by item, each in one
// transaction.
//
// changed.go finds the numbers of what changed, and first.go those of what a lost database knew. number.go
// has the order in which they are read; issues.go, pulls.go and comments.go turn what was read into events;
// judge.go decides which of them count.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// ReadAll reads the selected repositories from GitHub, side by side, and returns those that can be
// planned for. A repository whose ingest failed is returned, because it may have pending events; a
// repository that was never read is not. If a host has at most handful repositories, all are read.
// If it has more, those that changed are read, and the others in turn (readMany).
func (p *Ingest) ReadAll(ctx context.Context, rep *env.Report) []*env.Repo {
	var wg sync.WaitGroup
	byHost, others := p.byHost(rep)
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		wg.Go(func() {
			repos, n := byHost[host], len(byHost[host])+others[host]
			if n > handful {
				p.readMany(ctx, repos, n, rep)
				return
			}
			for _, r := range repos {
				wg.Go(func() { p.ingestOne(ctx, r, nil, rep) })
			}
		})
	}
	wg.Wait()
	var ready []*env.Repo
	for _, r := range p.all {
		if p.selected(r) && r.Row.NodeID != "" && p.accounts.RepoSkipped(r.Name) == nil {
			r.Ready = true
			ready = append(ready, r)
		}
	}
	return ready
}

// byHost returns the selected repositories that this pass may ask about, by host, and how many there are beside them:
// those that were read too lately, which it reports, and those for which other machines plan.
func (p *Ingest) byHost(rep *env.Report) (all map[string][]*env.Repo, others map[string]int) {
	all, others = map[string][]*env.Repo{}, map[string]int{}
	for _, r := range p.all {
		until, wait := p.postponed(r)
		now, least := r.GitHub.Now(), p.config.Runtime.MinInterval
		switch {
		case !p.selected(r):
			if p.elsewhere(r) && !wait {
				others[r.Name.Host]++
			}
		case wait:
			rep.Repo(p.config.Called(r.Name), func(x *env.RepoReport) { x.Note, x.Until = r.Row.LastError, &until })
		case !p.atOnce && r.Row.HeartbeatAt.Add(least).After(now) && !env.Future(r.Row.HeartbeatAt, now, env.ClockWarning):
			others[r.Name.Host]++
			note := fmt.Sprintf("read %s ago, and every %s at most", now.Sub(r.Row.HeartbeatAt).Round(time.Second), least)
			rep.Repo(p.config.Called(r.Name), func(x *env.RepoReport) { x.Note = note })
		default:
			all[r.Name.Host] = append(all[r.Name.Host], r)
		}
	}
	return all, others
}

// ingestOne reads one repository and records how that went.
func (p *Ingest) ingestOne(ctx context.Context, r *env.Repo, shown *stamps, rep *env.Report) {
	err := p.contain(ctx, "read "+p.config.Called(r.Name), r, func() error { return p.ingestRepo(ctx, r, shown, rep) })
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrTaken) {
		p.repoFailed(ctx, r, err, rep)
	}
}

// ingestRepo reads one repository. shown is nil unless it is one of many.
func (p *Ingest) ingestRepo(ctx context.Context, r *env.Repo, shown *stamps, rep *env.Report) error {
	name := p.config.Called(r.Name)
	if r.Row.HeartbeatAt.IsZero() {
		defer p.slowly(name + ": the first look at its issues and pull requests")()
	}
	ctx, cancel := p.until(ctx, p.config.Runtime.IngestTimeout)
	defer cancel()
	h, err := p.gather(ctx, r, shown)
	_, moved := errors.AsType[*transport.MovedError](err)
	another := errors.Is(err, errAnother)
	if before := r.Row; moved || github.IsStatus(err, 404) {
		if why := p.follow(ctx, r); why != nil {
			err = why
		} else {
			another = moved || r.Row.ID != before.ID || r.Row.Current != before.Current
		}
	}
	if another {
		h, err = p.gather(ctx, r, shown)
	}
	if r.Replaced != "" {
		rep.Repo(name, func(x *env.RepoReport) { x.Replaced = r.Replaced })
	}
	if err != nil {
		return err
	}
	rep.Repo(name, func(x *env.RepoReport) {
		x.Ingested, x.Events, x.Ignored, x.Note = true, h.added, h.ignored, h.note
	})
	if wait, ok := errors.AsType[*work.WaitError](h.incomplete); ok {
		return wait
	}
	return nil
}

// gather reads and stores what is new in one repository.
func (p *Ingest) gather(ctx context.Context, r *env.Repo, shown *stamps) (*reading, error) {
	if why := p.besideUs(r); why != nil {
		return nil, why
	}
	_, clock := r.GitHub.Ahead()
	if r.Row.NodeID == "" || r.Row.IssuesSince.IsZero() && !clock { // the first "since" is computed from GitHub's time
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
	}
	h := newReading(p, r)
	if h.shown = shown; shown != nil {
		h.doubtful = shown.doubted // the name is settled before anything is judged
		if shown.err != nil {
			h.tellUnread(shown.err)
		}
	}
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	err := h.read(ctx)
	if h.sign.ID != "" {
		err = cmp.Or(p.meetSign(context.WithoutCancel(ctx), r, h.sign), err)
	}
	return h, err
}

// Ingest reads what is new on GitHub.
type Ingest struct {
	needs
	identifying sync.Mutex // one repository at a time finds out which repository has its name
	levels      sync.Map   // what the database had of accounts' permissions, by levelOf
}

// needs are what ingest takes from a pass.
type needs struct {
	database                                                                             // required
	notices   *tell.Notices                                                              // required
	config    *config.Config                                                             // required
	log       *slog.Logger                                                               // required
	secrets   *secrets.Redactor                                                          // required
	accounts  *env.Accounts                                                              // required: those that write for us
	ours      work.Installations                                                         // required
	all       []*env.Repo                                                                // required: the config's repositories
	atOnce    bool                                                                       // optional: a person asked for this pass
	preflight func(context.Context) error                                                // optional: called before git; nil: there is none
	until     func(context.Context, time.Duration) (context.Context, context.CancelFunc) // required: a context with a timeout

	// Which repositories are read, and what becomes of them. All are required.
	selected     func(*env.Repo) bool
	elsewhere    func(*env.Repo) bool // another machine plans for it
	postponed    func(*env.Repo) (until time.Time, wait bool)
	besideUs     func(*env.Repo) error // why it is left to another installation
	contain      func(ctx context.Context, doing string, r *env.Repo, do func() error) error
	repoFailed   func(context.Context, *env.Repo, error, *env.Report)
	slowly       func(what string) (over func())
	otherName    func(r *env.Repo, nodeID string) string
	setRow       func(*env.Repo, work.Repo)
	planReplaced func(context.Context, *env.Repo) error

	// What GitHub says of its hosts and accounts. All are required.
	hostOf          func(r *env.Repo, host string) (env.GitHub, bool)
	keepClock       func(context.Context, *store.Tx, *env.Repo) error
	acceptAccount   func(ctx context.Context, host string, who work.Account) error
	noAccount       func(host string, err error) error
	tokenVariable   func(host string) string
	recordReviewers func(context.Context, *env.Repo) error
	meetSign        func(context.Context, *env.Repo, work.Sign) error
	readBoxes       func(context.Context, *env.Repo, []env.BoxOf) []github.BoxRead
}

// New makes the Ingest of a pass that has begun: its database is open, its repositories, accounts and installations
// are loaded.
func New(e *env.Env, n *tell.Notices) *Ingest {
	return &Ingest{needs: needs{
		database: database{e.Store}, notices: n, config: e.Config, log: e.Log, secrets: e.Secrets, accounts: &e.Accounts, ours: e.Ours, all: e.All,
		atOnce: e.AtOnce, preflight: e.Preflight, until: context.WithTimeout,
		selected: e.Selected, elsewhere: func(r *env.Repo) bool { return e.Only == nil && !e.Mine(r.Row.ID) }, postponed: e.Postponed, besideUs: e.BesideUs,
		contain: e.Contain, repoFailed: e.RepoFailed, slowly: e.Slowly, otherName: e.OtherName, setRow: e.SetRow, planReplaced: e.PlanReplaced,
		hostOf: e.HostOf, keepClock: e.KeepClock, acceptAccount: e.AcceptAccount, noAccount: e.NoAccount, tokenVariable: e.TokenVariable, recordReviewers: env.Speakers{Env: e}.RecordReviewers,
		meetSign: e.MeetSign, readBoxes: e.ReadBoxes,
	}}
}

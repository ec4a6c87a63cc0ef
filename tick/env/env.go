package env

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Env is what every part of a pass works with.
type Env struct {
	Config   *config.Config                  // required
	Machine  work.Machine                    // this one: its names and its version
	Store    *store.DB                       // opened by Run, given for a DryRun
	Dirs     folder.Dirs                     // required
	Remotes  []Remote                        // required: one for each configured repository
	Agents   Agents                          // required
	Orphans  Orphans                         // required
	Now      func() time.Time                // required
	Log      *slog.Logger                    // required
	Prompts  *prompts.Pack                   // required
	Secrets  *secrets.Redactor               // required: redacts everything that is stored or published
	Only     *work.RepoName                  // --repo
	AtOnce   bool                            // a person asked for this pass: retry times and min_interval are ignored
	Progress func(TurnChange)                // may be nil
	Slow     func(what string) (over func()) // called before something that takes long; may be nil
	Begun    *folder.Begun                   // the record of this pass; nil: it is none of a scheduler's, such as a dry run
	Unseen   bool                            // nobody sees this pass's output: messages that are shown once wait for a pass that somebody sees

	// Asked returns the requests made to GitHub since its last call and what remains of GitHub's
	// limits; may be nil.
	Asked func() ([]work.RequestCount, []work.RateLimit)
	// Host returns the GitHub of a host on which the config has no repository any more; it may be
	// nil and may return nil.
	Host func(name string) GitHub
	// TokenVariable returns the environment variable that has the token of passes on a host; empty: none has.
	TokenVariable func(host string) string // required
	// Preflight checks, before a turn is claimed, that the programs it needs exist and that the state
	// folder can be written; required for Run.
	Preflight func(context.Context) error
	// Fault returns a fault of this machine in the state folder or the repository's mirror. Turns ask
	// before they pay an agent, and after a failure without a known reason; required for Run.
	Fault func(context.Context, work.Repo) error

	Began    time.Time        // when the pass began, by the time of Now
	Local    func() time.Time // this machine's clock; Now is corrected by GitHub's, see AssumeClocks
	All      []*Repo          // the configured repositories
	Removed  []*Repo          // repositories that the config no longer names and that still need work
	Accounts Accounts
	Ours     work.Installations  // the installations that use the database
	Held     map[int]work.Holder // by slot
	// Session is with the database that this machine shares with others; nil: it has it for itself.
	Session   *store.Session
	Machines  []work.Machine   // those that share the database, as the pass began
	plansMu   sync.Mutex       // guards planning and planned
	planning  []store.Lock     // the locks of the repositories for which this pass plans
	planned   map[int64]bool   // the rows of these repositories
	elsewhere store.Held       // locks that passes of other machines hold
	Day       spending.Day     // what the budgets still allow today
	missing   map[string]error // by agent: why its turns wait
	faults    faults

	rows  sync.Mutex // guards the rows of the config's repositories
	byRow map[int64]*Repo
}

// Public returns the place for texts about an item that GitHub shows. pull is whether they appear
// on a pull request.
func (p *Env) Public(r *Repo, item work.Item, pull bool) explain.Place {
	return explain.Place{
		Pull: pull, Label: item.Label, Ignore: r.Settings.Labels.Ignore,
	}
}

// Here returns the place for texts about an item in this machine's log, history and terminal.
func (p *Env) Here(r *Repo, item work.Item, pull bool) explain.Place {
	at := p.Public(r, item, pull)
	at.Spending = true
	return at
}

// TurnAttrs returns the fields of every log line about a turn, followed by more.
func (p *Env) TurnAttrs(l *Lease, more ...any) []any {
	return append(AttrsOf(l.Repo.Name, l.Item, l.Turn), more...)
}

// AttrsOf returns the fields of a log line about a turn.
func AttrsOf(repo work.RepoName, item work.Item, t work.Turn) []any {
	attrs := []any{"repo_full_name", repo.FullName(), "work_item_id", item.ID, "issue_number", item.Number, "turn_key", t.Key, "kind", string(t.Kind)}
	if !t.Kind.Start() {
		attrs = append(attrs, "pr_number", t.Number)
	}
	return attrs
}

// IDRange returns the lowest and highest id of comments; 0 for none.
func IDRange(comments []work.Event) (from, to int64) {
	for _, e := range comments {
		id := work.CommentID(e)
		if from == 0 || id < from {
			from = id
		}
		to = max(to, id)
	}
	return from, to
}

// faults are the faults of this machine that turns met. The pass reports each once, however many
// turns wait for it.
type faults struct {
	mu  sync.Mutex
	all []error
}

// AddFault records the fault of this machine that ended a turn.
func (p *Env) AddFault(err error) {
	fault, ok := work.MachineFault(err)
	if !ok {
		return
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	if !slices.ContainsFunc(p.faults.all, func(known error) bool { return known.Error() == fault.Error() }) {
		p.faults.all = append(p.faults.all, fault)
	}
}

// Faults returns the faults of this machine that turns wait for; nil: none.
func (p *Env) Faults() error {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return errors.Join(p.faults.all...)
}

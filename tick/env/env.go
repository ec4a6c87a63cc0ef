package env

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/telemetry"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Env is what every part of a pass works with.
type Env struct {
	Config   *config.Config                  // required
	Store    *store.DB                       // opened by Run, given for a DryRun
	Dirs     folder.Dirs                     // required
	Remotes  []Remote                        // required: one for each configured repository
	Agents   Agents                          // required
	Orphans  Orphans                         // required
	Now      func() time.Time                // required
	Log      *slog.Logger                    // required
	Prompts  *prompts.Pack                   // required
	Secrets  *secrets.Redactor               // required: what is taken out of all that is stored and published
	Only     *work.RepoName                  // --repo
	AtOnce   bool                            // a person asks for it: what this program waits for by itself is over
	Progress func(TurnChange)                // may be nil
	Slow     func(what string) (over func()) // is told of what takes long; may be nil
	Unseen   bool                            // nobody sees how the pass ends: what is told once is left to one that somebody sees

	// Asked gives what was asked of GitHub since it was called last, and what was left of its
	// limits; may be nil.
	Asked func() ([]work.RequestCount, []work.RateLimit)
	// Tracer makes a trace of each turn; nil: nobody wants any.
	Tracer *telemetry.Tracer
	// Host is the GitHub of a host that no repository of the config is on any more; may be nil, and so may what it gives.
	Host func(name string) GitHub
	// Preflight finds out before a turn is begun whether the programs that it
	// needs are there; required for Run.
	Preflight func(context.Context) error

	Local    func() time.Time // this machine's clock: Now is corrected by GitHub's, see AssumeClocks
	All      []*Repo
	Left     []*Repo // repositories that the config names no more, and where something is to be put right
	Accounts Accounts
	Held     map[int]work.Holder
	Day      spending.Day     // what may still be begun
	missing  map[string]error // by agent: why its turns wait

	Becoming sync.Mutex // one repository at a time is found to stand behind a name
	Rooms    sync.Mutex // guards which row each name of the config has
	byRow    map[int64]*Repo
}

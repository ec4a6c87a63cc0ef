package tick

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Env is what every part of a pass works with.
type Env struct {
	Config   *config.Config   // required
	Store    *store.DB        // opened by Run, given for a DryRun
	Dirs     Dirs             // required
	Remotes  []Remote         // required: one for each configured repository
	Agents   Agents           // required
	Orphans  Orphans          // required
	Now      func() time.Time // required
	Log      *slog.Logger     // required
	Prompts  *prompts.Pack    // required
	Secrets  *prompts.Secrets // required: what is taken out of all that is stored and published
	Only     *work.RepoName   // --repo
	Progress func(TurnChange) // may be nil

	// Host is the GitHub of a host that no repository of the config is on any more; may be nil, and so may what it gives.
	Host func(name string) GitHub
	// Preflight finds out before a turn is begun whether the programs that it
	// needs are there; required for Run.
	Preflight func(context.Context) error

	local    func() time.Time // this machine's clock: Now is corrected by GitHub's, see assumeClocks
	all      []*remote
	left     []*remote // repositories that the config names no more, and where something is to be put right
	accounts accounts
	held     map[int]plan.Holder
	day      spending.Day     // what may still be begun
	missing  map[string]error // by agent: why its turns wait

	becoming sync.Mutex // one repository at a time is found to stand behind a name
	rooms    sync.Mutex // guards which row each name of the config has
}

// Loader reads what a plan may depend on.
type Loader struct{ *Env }

// Notices shows on GitHub where items stand.
type Notices struct{ *Env }

// Ingest reads what is new on GitHub.
type Ingest struct {
	*Env
	notices *Notices
}

// Looks looks once more, right before an effect, whether it is still wanted.
type Looks struct {
	*Env
	ingest  *Ingest
	notices *Notices
}

// Briefs tells agents about their turns.
type Briefs struct {
	*Env
	may func(context.Context, *remote, work.Account) (bool, error) // whether somebody may give commands
}

// Restorer prepares checkouts.
type Restorer struct {
	*Env
	ingest  *Ingest
	notices *Notices
	looks   *Looks
	briefs  *Briefs
}

// Runner runs agents.
type Runner struct {
	*Env
	restorer *Restorer
	looks    *Looks
	briefs   *Briefs
	tried    tried
}

// Turns carries turns from their claim to their end.
type Turns struct {
	*Env
	ingest   *Ingest
	notices  *Notices
	restorer *Restorer
	looks    *Looks
	briefs   *Briefs
	runner   *Runner
}

// assemble makes the parts of a pass.
func (p *Pass) assemble() {
	if p.turns != nil {
		return
	}
	e := p.Env
	p.loader, p.notices = &Loader{e}, &Notices{e}
	p.ingest = &Ingest{e, p.notices}
	t := &Turns{Env: e, ingest: p.ingest, notices: p.notices, briefs: &Briefs{e, p.ingest.mayCommand}}
	t.looks = &Looks{e, t.ingest, t.notices}
	t.restorer = &Restorer{e, t.ingest, t.notices, t.looks, t.briefs}
	t.runner = &Runner{Env: e, restorer: t.restorer, looks: t.looks, briefs: t.briefs}
	p.turns = t
}

package agentrun

import (
	"github.com/mergexo/gh-mergexo/tick/brief"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/recheck"
	"github.com/mergexo/gh-mergexo/tick/restore"
)

// Runner runs agents.
type Runner struct {
	*env.Env
	restorer *restore.Restorer
	looks    *recheck.Looks
	briefs   *brief.Briefs
	tried    tried
}

// New makes a Runner.
func New(e *env.Env, r *restore.Restorer, l *recheck.Looks, b *brief.Briefs) *Runner {
	return &Runner{Env: e, restorer: r, looks: l, briefs: b}
}

package turn

import (
	"github.com/mergexo/gh-mergexo/tick/agentrun"
	"github.com/mergexo/gh-mergexo/tick/brief"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/notice"
	"github.com/mergexo/gh-mergexo/tick/recheck"
	"github.com/mergexo/gh-mergexo/tick/restore"
)

// Turns carries turns from their claim to their end.
type Turns struct {
	*env.Env
	reader   *ingest.Reader
	notices  *notice.Notices
	Restorer *restore.Restorer
	Looks    *recheck.Looks
	Briefs   *brief.Briefs
	Runner   *agentrun.Runner
}

// New makes what carries turns, and the parts that it needs.
func New(e *env.Env, r *ingest.Reader, n *notice.Notices) *Turns {
	t := &Turns{Env: e, reader: r, notices: n, Looks: recheck.New(e, r, n), Briefs: brief.New(e, r.MayCommand)}
	t.Restorer = restore.New(e, r, n, t.Looks, t.Briefs)
	t.Runner = agentrun.New(e, t.Restorer, t.Looks, t.Briefs)
	return t
}

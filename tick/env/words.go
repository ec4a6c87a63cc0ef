package env

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Public returns the place for texts about an item that GitHub shows. pull is whether they appear
// on a pull request.
func (p *Env) Public(r *Repo, item work.Item, pull bool) explain.Place {
	return explain.Place{
		Pull: pull, Comments: p.Config.Runtime.EnableIssueCommentRouting, Label: item.Label,
		Ignore: r.Settings.Labels.Ignore, Spending: r.Settings.Voice.Spending,
	}
}

// Here returns the same for this machine's log, history and terminal.
func (p *Env) Here(r *Repo, item work.Item, pull bool) explain.Place {
	at := p.Public(r, item, pull)
	at.Spending = true
	return at
}

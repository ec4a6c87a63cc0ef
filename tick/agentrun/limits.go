package agentrun

import (
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/brief"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// limits are what no push of the turn may carry.
func (p *Runner) limits(l *env.Lease) git.Limits {
	r := l.Repo.Settings
	limits := git.Limits{
		MaxFiles: r.MaxFiles, MaxFileBytes: r.MaxFileBytes, Protected: r.ProtectedPaths, Secrets: p.Secrets.Find,
	}
	if l.Turn.Kind == work.KindImplementationStart {
		limits.NotOnly = brief.Documents
	}
	return limits
}

package tick

import (
	"context"

	"github.com/mergexo/gh-mergexo/tick/env"
)

// sumUp ends the report and logs the pass in one line, and a line for each
// repository about which there is something to tell: those of idle passes would
// be most of the log.
func (p *Pass) sumUp(ctx context.Context, rep *env.Report) {
	rep.EndedAt = p.Local()
	repos := rep.Repos()
	var events, notices, failed int
	for _, r := range repos {
		events += r.Events
		notices += r.Notices
		if r.Failed {
			failed++
		}
		if r.Events > 0 || r.Notices > 0 || r.Note != "" {
			p.Log.InfoContext(ctx, "repository", "repo_full_name", r.Repo, "ingested", r.Ingested, "failed", r.Failed, "note", r.Note,
				"events", r.Events, "ignored", r.Ignored, "notices", r.Notices)
		}
	}
	p.Log.InfoContext(ctx, "pass", "seconds", rep.EndedAt.Sub(rep.StartedAt).Seconds(), "repositories", len(repos), "failed", failed,
		"events", events, "notices", notices, "turns", len(rep.Turns()), "held", rep.Held)
}

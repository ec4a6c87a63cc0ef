package turn

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// LogComments logs what became of comments on the issue of a turn; of none,
// nothing.
func (p *Turns) LogComments(ctx context.Context, l *env.Lease, what string, comments []work.Event) {
	if len(comments) > 0 {
		from, to := env.IDRange(comments)
		p.logRange(ctx, l, what, from, to)
	}
}

func (p *Turns) logRange(ctx context.Context, l *env.Lease, what string, from, to int64, more ...any) {
	attrs := append(p.TurnAttrs(l, "comment_id_from", from, "comment_id_to", to), more...)
	p.Log.InfoContext(ctx, what, attrs...) //nolint:sloglint // one of the fixed names of the followups' events
}

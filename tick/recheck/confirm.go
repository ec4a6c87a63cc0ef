package recheck

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// LookConfirmed looks once more right before a prompt is made of an issue: the
// turn may have waited, for a slot or for its checkout. An agent that nobody
// wants any more, or whose text nobody confirmed, is not paid.
func (p *Looks) LookConfirmed(ctx context.Context, l *env.Lease) error {
	if !l.Turn.Kind.Start() {
		return nil
	}
	is, err := p.readIssue(ctx, l)
	if err != nil {
		return err
	}
	// What ingest read of the timeline may be older than the text.
	confirmed, edited, err := p.reader.Confirm(ahead.Without(ctx), l.Repo, l.Item, is)
	if err != nil {
		return err
	}
	l.Item = confirmed
	if edited != "" {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyIssueEdited, Text: edited}}
	}
	return nil
}

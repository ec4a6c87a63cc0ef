package recheck

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
)

// Who sets a flow's label confirms the issue as it reads then; who has it set by
// a command, as it reads at that moment. An author who may not write can still
// edit it afterwards: what they write then is no word that an agent may hear,
// until the label is set anew.

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
	h := ingest.NewReading(p.ingest, l.Repo)
	trusted, err := h.People.MayCommand(ctx, l.Item.Author, is.UpdatedAt)
	if err != nil || trusted {
		return err
	}
	timeline, err := l.Repo.GitHub.TimelineOf(ctx, l.Repo.Row.Current, l.Item.Number)
	if err != nil {
		return err
	}
	c, err := h.Issues.ConfirmText(ctx, l.Item, is, timeline)
	if err != nil {
		return err
	}
	l.Item.Title, l.Item.Body = c.Title, c.Body
	if c.Edited != "" {
		return &work.BlockedError{Reason: c.Edited, Hint: work.ConfirmHint(l.Item)}
	}
	return nil
}

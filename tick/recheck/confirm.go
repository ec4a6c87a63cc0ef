package recheck

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
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
	confirmed, edited, err := p.reader.Confirm(ctx, l.Repo, l.Item, is)
	if err != nil {
		return err
	}
	l.Item = confirmed
	if edited != "" {
		return &work.BlockedError{Reason: edited, Hint: work.ConfirmHint(l.Item)}
	}
	return nil
}

package restore

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// readBack takes in what the mirror's journal says of a claimed turn: its
// agent has answered, and a database that is gone knew it.
func (p *Restorer) readBack(ctx context.Context, l *env.Lease) error {
	b, ok, err := l.Repo.Git().Journal(ctx, l.Turn.Key)
	if err != nil || !ok {
		return err
	}
	j, err := env.DecodeJournal(b)
	if err != nil {
		return err
	}
	if j.Commit != "" && !l.Repo.Git().Has(ctx, j.Commit) {
		return nil // the agent works again
	}
	j.Fill(&l.Turn)
	if err := p.StoreAnswered(ctx, l, j.Planned(l.Turn, p.Now())); err != nil {
		return err
	}
	p.Changed(l, "found again", work.Short(l.Turn.Commit))
	return nil
}

package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// writing are the levels of those who may write.
// mayCommand reports whether somebody may give commands in a repository.
func (p *Ingest) MayCommand(ctx context.Context, r *env.Repo, who work.Account) (bool, error) {
	return NewReading(p, r).People.MayCommand(ctx, who, p.Now())
}

package tick

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// route plans for every repository that is ready. A repository whose ingest is
// late or failed is planned for with what it has: what is known still counts.
func (p *Pass) route(ctx context.Context, ready []*env.Repo) ([]plan.Plan, error) {
	if err := p.loader.ReadDay(ctx); err != nil {
		return nil, fmt.Errorf("read what was spent today: %w", err)
	}
	var plans []plan.Plan
	for _, r := range ready {
		v, err := p.loader.View(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", r.Name.FullName(), err)
		}
		plans = append(plans, plan.For(v))
	}
	return plans, nil
}

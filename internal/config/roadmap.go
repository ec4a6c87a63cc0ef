package config

import "github.com/mergexo/gh-mergexo/internal/work/roadmap"

// roadmapKeys are the keys of [repo.roadmap].
func roadmapKeys(l *roadmap.Limits) []key {
	return []key{
		countKey("parallel", &l.Parallel, 3, 1, 100),
		numberKey("max_cost", &l.MaxCost, 0, 0, 1_000_000),
	}
}

func (p *parser) roadmap(t *Table) (l roadmap.Limits) {
	readKeys(t, roadmapKeys(&l))
	t.done()
	return l
}

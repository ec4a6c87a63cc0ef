package config

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

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

// RoadmapLimits returns a function for the limits of the roadmaps in a repository. For one that the
// config does not name, those of home hold.
func (c *Config) RoadmapLimits(home work.RepoName) func(work.RepoName) roadmap.Limits {
	return func(name work.RepoName) roadmap.Limits {
		r, ok := c.Repo(name)
		if !ok {
			r, _ = c.Repo(home)
		}
		return r.Roadmap
	}
}

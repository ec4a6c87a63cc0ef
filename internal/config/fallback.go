package config

import (
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// checkFallbacks rejects fallbacks that do not exist or have one themselves, which would be a chain or
// a circle, and those that would let an agent review its own change where the config keeps them apart.
func (p *parser) checkFallbacks() {
	for _, name := range slices.Sorted(maps.Keys(p.config.Agents)) {
		a, at := p.config.Agents[name], "agents."+name+".fallback"
		what := "fallback of [agents." + name + "]"
		to, known := p.config.Agents[a.Fallback]
		switch {
		case a.Fallback == "":
		case a.Fallback == name:
			p.add(at, "%s: %q is the agent itself; name another one", what, name)
		case !known:
			p.checkAgentName(at, what, a.Fallback)
		case to.Fallback != "":
			p.add(at, "%s: %q has a fallback itself, %q; work is handed on once, so name an agent without one", what, a.Fallback, to.Fallback)
		}
	}
	for _, r := range p.config.Repos {
		p.checkIndependence(r)
	}
}

// checkIndependence rejects fallbacks with which a reviewer and an author would be the same agent,
// although the repository's config names two.
func (p *parser) checkIndependence(r Repo) {
	if !r.Review.Enabled {
		return
	}
	told := map[string]bool{}
	for _, x := range r.reviewersOfOurs() {
		for _, kind := range work.Kinds() {
			author, _ := p.config.AgentFor(r.Name, kind, "")
			judge, _ := p.config.AgentFor(r.Name, work.KindReview, x)
			for _, clash := range clashes(author, judge) {
				if kind != work.KindReview && !told[clash] {
					told[clash] = true
					p.add("agents."+clash+".fallback", "fallback of [agents.%s]: in %s, %q works and %q reviews it (%s); with this fallback an agent could review its own change. Name another one",
						clash, r.Name.FullName(), author.Name, judge.Name, x)
				}
			}
		}
	}
}

// clashes returns the agents of two that are not the same whose fallbacks would make them the same.
func clashes(author, judge Agent) []string {
	switch {
	case author.Name == judge.Name:
	case author.Fallback != "" && (author.Fallback == judge.Name || author.Fallback == judge.Fallback):
		return []string{author.Name}
	case judge.Fallback != "" && judge.Fallback == author.Name:
		return []string{judge.Name}
	}
	return nil
}

// reviewersOfOurs returns the names of the agents' personas that may review changes of our own agents.
func (r Repo) reviewersOfOurs() (names []string) {
	for _, x := range r.Reviewers {
		if !x.Human && !slices.Equal(x.Flows, []work.Flow{work.FlowReview}) {
			names = append(names, x.Name)
		}
		for _, called := range x.CanEscalate {
			if y, ok := r.Reviewer(called); ok && !y.Human {
				names = append(names, called)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// FallbackOf returns the agent that takes over while an agent's provider is out.
func (c *Config) FallbackOf(name string) (Agent, bool) {
	a, ok := c.Agents[c.Agents[name].Fallback]
	return a, ok
}

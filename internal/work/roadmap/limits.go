package roadmap

import (
	"cmp"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Limits bound the work below one roadmap, that of nested roadmaps included: the [repo.roadmap]
// table of the config.
type Limits struct {
	Parallel int     // issues that may be under way at a time
	MaxCost  float64 // of all runs, in US dollars; 0: no limit
}

// Above is a roadmap above an issue, as far as it decides whether work on the issue begins.
type Above struct {
	Record
	Limits
	Held     work.Reason // why nothing below it begins: it is paused, or over; none: something may
	UnderWay []string    // the issues below it on which work has begun and is not over, by their references

	CostUSD     float64 // of all runs below it, as far as it is known
	UnknownCost int     // runs whose cost is not known
}

// Brake returns why work on an issue must not begin because of the roadmaps above it, the nearest
// first; none: it may begin. What is under way already is not held.
func Brake(issue string, above []Above) work.Reason {
	for _, a := range above {
		others := slices.Sorted(slices.Values(a.UnderWay))
		switch {
		case slices.Contains(others, issue):
			return work.Reason{}
		case !a.Held.None():
			return a.Held
		case a.MaxCost > 0 && a.CostUSD >= a.MaxCost:
			return work.Reason{Kind: work.WhyRoadmapCost, Name: work.MaxCostOfRoadmap, Names: []string{a.Ref}, Used: a.CostUSD, Limit: a.MaxCost, Count: a.UnknownCost}
		case len(others) >= a.Parallel:
			return work.Reason{Kind: work.WhyRoadmapParallel, Name: a.Ref, Names: others, Count: a.Parallel}
		}
	}
	return work.Reason{}
}

// Seat is the place of an issue below a roadmap. Zero: it is below none, or its place was not read.
type Seat struct {
	Above    []Above // the roadmaps above it, the nearest first
	Behind   int     // how many open issues the longest path behind it has
	Position int     // in GitHub's order of the nearest roadmap
	First    bool    // of the issues of that roadmap which wait, it is the first in GitHub's order
}

// Still reports whether nothing below the nearest roadmap is under way.
func (s Seat) Still() bool { return len(s.Above) > 0 && len(s.Above[0].UnderWay) == 0 }

// Before compares which of two issues that may begin is begun first, if their priorities are equal: of
// one roadmap, the one with the longest path behind it.
func (s Seat) Before(o Seat) int {
	return cmp.Or(-cmp.Compare(s.Behind, o.Behind), cmp.Compare(s.Position, o.Position))
}

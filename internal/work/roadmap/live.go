package roadmap

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Live is a roadmap that has not ended, as far as it decides whether work below it begins.
type Live struct {
	ItemID int64  // of its first work item
	Ref    string // of its issue
	Repo   work.RepoName
	Parent string // the issue whose sub-issue its issue is; empty: none
	State  State
	Closed bool       // its issue is closed
	Pause  work.Pause // the oldest that lasts; zero: none
}

// held returns why nothing below the roadmap begins.
func (l Live) held() work.Reason {
	why := work.Reason{Kind: work.WhyRoadmapHeld, Name: l.Ref}
	switch {
	case !l.Pause.Began.IsZero():
		why.Who, why.At = l.Pause.By, l.Pause.Began.UnixMilli()
	case l.State.Closes():
		return work.Reason{Kind: work.WhyRoadmapChanges, Name: l.Ref, Text: "closes what has not begun"}
	case l.Closed:
		why.Text = "closed"
	default:
		return work.Reason{}
	}
	return why
}

// Chain returns the live roadmaps above an issue with this parent, the nearest first.
func Chain(parent string, live []Live) (chain []Live) {
	for parent != "" {
		at := slices.IndexFunc(live, func(l Live) bool { return l.Ref == parent })
		if at < 0 || slices.ContainsFunc(chain, func(l Live) bool { return l.Ref == parent }) {
			break
		}
		chain = append(chain, live[at])
		parent = live[at].Parent
	}
	return chain
}

// Part is a work item on an issue below a roadmap.
type Part struct {
	ItemID   int64
	Ref      string // of the issue
	Parent   string // the issue whose sub-issue it is
	Roadmap  bool   // the issue is a roadmap itself
	UnderWay bool   // work on the issue has begun and is not over
}

// Cost is what the runs of a work item cost.
type Cost struct {
	USD     float64
	Unknown int // runs whose cost is not known
}

// Sum returns what a chain of roadmaps says about beginning work, with the work items below them and
// what these cost.
func Sum(chain []Live, limits func(work.RepoName) Limits, parts []Part, costs map[int64]Cost) (above []Above) {
	for _, l := range chain {
		a := Above{Live: l, Limits: limits(l.Repo), Held: l.held()}
		for of, at := []string{l.Ref}, 0; at < len(of); at++ {
			for _, p := range parts {
				if p.Parent != of[at] {
					continue
				}
				if p.Roadmap && !slices.Contains(of, p.Ref) {
					of = append(of, p.Ref)
				}
				if p.UnderWay && !slices.Contains(a.UnderWay, p.Ref) {
					a.UnderWay = append(a.UnderWay, p.Ref)
				}
				c := costs[p.ItemID]
				a.CostUSD, a.UnknownCost = a.CostUSD+c.USD, a.UnknownCost+c.Unknown
			}
		}
		slices.Sort(a.UnderWay)
		above = append(above, a)
	}
	return above
}

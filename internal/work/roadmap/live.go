package roadmap

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Held returns why nothing below the roadmap begins; none: nothing holds it.
func (r Record) Held() work.Reason {
	why := work.Reason{Kind: work.WhyRoadmapHeld, Name: r.Ref}
	switch {
	case !r.Pause.Began.IsZero():
		why.Who, why.At = r.Pause.By, r.Pause.Began.UnixMilli()
	case r.State.Closes():
		return work.Reason{Kind: work.WhyRoadmapChanges, Name: r.Ref, Text: "closes what has not begun"}
	case r.Closed:
		why.Text = "closed"
	default:
		return work.Reason{}
	}
	return why
}

// Chain returns the live roadmaps above an issue with this parent, the nearest first.
func Chain(parent string, live []Record) (chain []Record) {
	for parent != "" {
		at := slices.IndexFunc(live, func(r Record) bool { return r.Ref == parent })
		if at < 0 || slices.ContainsFunc(chain, func(r Record) bool { return r.Ref == parent }) {
			break
		}
		chain = append(chain, live[at])
		parent = live[at].Parent
	}
	return chain
}

// Nested returns the roadmaps below an issue that nobody cancelled.
func Nested(issue string, live []Record) (nested []Record) {
	for of, at := []string{issue}, 0; at < len(of); at++ {
		for _, r := range live {
			if r.Parent == of[at] && !slices.Contains(of, r.Ref) {
				if of = append(of, r.Ref); !r.State.Closes() {
					nested = append(nested, r)
				}
			}
		}
	}
	return nested
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
func Sum(chain []Record, limits func(work.RepoName) Limits, parts []Part, costs map[int64]Cost) (above []Above) {
	for _, r := range chain {
		a := Above{Record: r, Limits: limits(r.Repo), Held: r.Held()}
		for of, at := []string{r.Ref}, 0; at < len(of); at++ {
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

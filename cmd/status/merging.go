package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// gate is one condition of a merge, in words.
type gate struct {
	code  merging.Code
	is    gateState
	kind  work.ReasonKind // of a closed gate
	why   string          // why it is closed
	opens string          // what opens the gate
}

// gateState is the state of a gate.
type gateState string

const (
	gateOpen    gateState = "open"
	gateClosed  gateState = "closed"
	gateStop    gateState = "stop"    // a person must act
	gateUnknown gateState = "unknown" // GitHub was not asked yet
)

func (s gateState) mark() string {
	switch s {
	case gateOpen:
		return "✓"
	case gateUnknown:
		return "?"
	case gateClosed, gateStop:
	}
	return "✗"
}

// gates returns the gates of the pull request's merge in order; none if it is not ours to merge.
func (f Facts) gates() []gate {
	return terminal.Each(f.Merge.Gates, func(g merging.Gate) gate {
		if g.Code.FromBox() && !f.Landing.Box.Read() {
			return gate{code: g.Code, is: gateUnknown, kind: work.WhyMergeNotRead}
		}
		if g.Open {
			return gate{code: g.Code, is: gateOpen}
		}
		w, is := explain.Reason(g.Why, f.Place), gateClosed
		if g.Stop {
			is = gateStop
		}
		return gate{g.Code, is, g.Why.Kind, terminal.OneLine(w.Here()), terminal.OneLine(w.Next())}
	})
}

// mergeFirst returns the pull request that must be merged before this one; 0: none.
func (f Facts) mergeFirst() int {
	for _, r := range f.Waits {
		if r.Kind == work.WhyMergeNext {
			return r.Count
		}
	}
	return 0
}

// mergeIs sums up the state of the merge; "" if it is not ours to merge.
func (f Facts) mergeIs() string {
	all, closed, stop := f.gates(), 0, false
	for _, g := range all {
		if g.is == gateClosed || g.is == gateStop {
			closed++
		}
		stop = stop || g.is == gateStop
	}
	base, count := f.Pull.Base, work.Count(len(all), "gate")
	switch {
	case len(all) == 0:
		return ""
	case stop:
		return fmt.Sprintf("stopped, a person has to act; %d of %s closed", closed, count)
	case f.MergeDue && f.Merge.Ask == merging.AskUpdate:
		return fmt.Sprintf("the next pass brings it up to date with %s; %d of %s closed", base, closed, count)
	case f.MergeDue && f.Merge.Ask == merging.AskDequeue:
		return fmt.Sprintf("the next pass takes it out of the merge queue of %s; %d of %s closed", base, closed, count)
	case f.MergeDue && f.Merge.Ask == merging.AskEnqueue:
		return "the next pass puts it into the merge queue of " + base
	case f.MergeDue:
		return fmt.Sprintf("the next pass merges it into %s (%s)", base, f.Merge.Method)
	case f.mergeFirst() != 0:
		return fmt.Sprintf("waits for #%d, which is merged into %s first; %d of %s closed", f.mergeFirst(), base, closed, count)
	case !f.Landing.Box.Read() && f.Reviews.Record.State == review.Approved:
		return fmt.Sprintf("waits at %s; the next pass asks GitHub about the others", work.Count(closed, "gate"))
	case !f.Landing.Box.Read():
		return fmt.Sprintf("waits at %s; GitHub is asked about the others once reviewers have approved", work.Count(closed, "gate"))
	case closed == 0:
		return "all gates are open"
	}
	return fmt.Sprintf("waits at %d of %s", closed, count)
}

// queueIs is the pull request's place in its base's merge queue; "" if the base has none.
func (f Facts) queueIs() string {
	switch q := f.Landing.Box.Queue; {
	case len(f.Merge.Gates) == 0:
		return ""
	case q.In:
		said := strings.ReplaceAll(strings.ToLower(q.State), "_", " ")
		if q.Position > 0 {
			said = strings.TrimPrefix(fmt.Sprintf("%s, position %d", said, q.Position), ", ")
		}
		return cmp.Or(said, "in it")
	case q.Required:
		return "not in it; " + f.Pull.Base + " demands it"
	}
	return ""
}

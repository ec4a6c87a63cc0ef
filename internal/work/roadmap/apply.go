package roadmap

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// Merged is a document that was merged, or that the default branch has.
type Merged struct {
	Document string // path
	Hash     string // of the file
	Pull     int    // that merged it; 0: not one of ours
	Commit   string // at which it was read
	Goal     string
	Nodes    []Child // in its order
	Faults   []Fault // because of which nothing of it is applied
}

// WhyFaults is why a roadmap is stopped whose merged document has faults.
func WhyFaults(path string, faults []Fault) work.Reason {
	return work.Reason{Kind: work.WhyRoadmapFaults, Name: path, Names: document.Strings(faults)}
}

// Apply gives a roadmap a merged document: only the difference to the one before changes. A document
// with faults stops the roadmap, and its nodes stay as they are. The same document changes nothing but its path.
func (r Record) Apply(known []Child, m Merged) (after Record, moves []Move) {
	if after = r; m.Hash == r.Hash {
		after.Document = m.Document
		return after, nil
	}
	event, faults := EventMerged, m.Faults
	if len(faults) == 0 {
		moves, faults = difference(r.ItemID, known, m.Nodes)
	}
	if len(faults) > 0 {
		event, moves = EventFaulty, nil
	}
	to, ok := r.State.After(event)
	if !ok {
		return r, nil
	}
	after.State, after.Why, after.Hash, after.Commit, after.Pull = to, work.Reason{}, m.Hash, m.Commit, m.Pull
	after.Document = m.Document
	if event == EventFaulty {
		after.Why = WhyFaults(m.Document, faults)
		return after, nil
	}
	after.Goal = m.Goal
	after.Revision++
	return after, moves
}

// difference returns the moves from the nodes that are known to those of a document. An id that was
// removed does not come back, and a sub-issue keeps its flow: both would begin work a second time.
func difference(item int64, known []Child, nodes []Child) (moves []Move, faults []Fault) {
	for _, c := range nodes {
		c.ItemID = item
		i := slices.IndexFunc(known, func(k Child) bool { return k.Node == c.Node })
		if i < 0 {
			moves = append(moves, Move{Child{}, c})
			continue
		}
		before := known[i]
		switch {
		case before.Step == Gone: // it stays away until people put it back
		case before.Step == Removed:
			faults = append(faults, Fault{Line: 0, Says: fmt.Sprintf("node %q was removed before%s: give it another id", c.Node, inBrackets(before))})
		case c.Number != 0 && c.Number != before.Number:
			faults = append(faults, Fault{Line: 0, Says: fmt.Sprintf("node %q is there already%s: to adopt #%d, give it another id", c.Node, inBrackets(before), c.Number)})
		case before.Number != 0 && before.Flow != "" && before.Flow != c.Flow:
			faults = append(faults, Fault{Line: 0, Says: fmt.Sprintf("node %q has a sub-issue%s with the flow %s: leave that, and change the label there, or give the node another id", c.Node, numbered(before), before.Flow)})
		}
		after := before
		after.Position, after.Title, after.Flow, after.Needs, after.Hash, after.Body = c.Position, c.Title, c.Flow, c.Needs, c.Hash, c.Body
		if after.Position != before.Position || after.Flow != before.Flow || after.Hash != before.Hash || !slices.Equal(after.Needs, before.Needs) {
			moves = append(moves, Move{before, after})
		}
	}
	for _, before := range known {
		if before.Step == Removed || before.Step == Gone && before.Hash == "" || slices.ContainsFunc(nodes, func(c Child) bool { return c.Node == before.Node }) {
			continue
		}
		after := before
		if after.Step = Removed; before.Step == Gone { // if people put it back, they added it
			after.Step, after.Hash, after.Applied, after.Needs = Gone, "", "", nil
		}
		moves = append(moves, Move{before, after})
	}
	return moves, faults
}

// inBrackets names the sub-issue of a node behind a verb, if it has one.
func inBrackets(c Child) string {
	if c.Number == 0 {
		return ""
	}
	return fmt.Sprintf(" (#%d)", c.Number)
}

// numbered names the sub-issue of a node, if it has one.
func numbered(c Child) string {
	if c.Number == 0 {
		return ""
	}
	return fmt.Sprintf(", #%d,", c.Number)
}

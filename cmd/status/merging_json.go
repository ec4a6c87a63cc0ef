package status

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// mergeView is the merge of a pull request by gh mergexo; null if it is not ours to merge and never
// was.
type mergeView struct {
	Gates  []gateView  `json:"gates"`  // all of them in GitHub's order; none once it is merged or closed
	Ask    string      `json:"ask"`    // merge, enqueue, dequeue, update: what is to be done, were it alone; empty: it waits
	Method string      `json:"method"` // squash, merge, rebase
	Due    bool        `json:"due"`    // the next pass does it
	First  int         `json:"first"`  // the pull request that is merged before it; 0: none
	Next   string      `json:"next"`   // what happens to it, in words
	Queue  *queueView  `json:"queue"`  // null: the base has no merge queue, as far as is known
	Merged *mergedView `json:"merged"` // null: no request to merge this head was made
}

// gateView is one condition of a merge.
type gateView struct {
	Code   string `json:"code"`       // what has to be so: [merging.md](../merging.md#gates)
	Open   bool   `json:"open"`       // whether it is so
	Stop   bool   `json:"stop"`       // nobody here opens it: a person has to act
	Kind   string `json:"reasonCode"` // of `reason`, for programs
	Reason string `json:"reason"`     // why it is closed
	Opens  string `json:"opens"`      // what opens the gate
}

// queueView is its place in the merge queue of its base.
type queueView struct {
	In       bool   `json:"in"`       // whether it is in the base's merge queue
	State    string `json:"state"`    // GitHub's word
	Position int    `json:"position"` // its place there
}

// mergedView is our request to merge and its result.
type mergedView struct {
	Stage    string     `json:"stage"`        // intended, queued, half, landed, void
	Method   string     `json:"method"`       // `squash`, `merge` or `rebase`
	Head     string     `json:"head"`         // that was approved
	Base     string     `json:"base"`         // the branch that it was merged into
	Commit   string     `json:"commit"`       // that landed
	Parent   string     `json:"parent"`       // on which it landed
	At       *time.Time `json:"at"`           // when it was meant
	LandedAt *time.Time `json:"landedAt"`     // when it landed; null: not yet
	Compared bool       `json:"compared"`     // whether the landed commit was compared with the approved one
	Same     bool       `json:"same"`         // whether it is the same
	Differs  string     `json:"differs"`      // how it differs
	Watched  *time.Time `json:"watchedUntil"` // until when checks of the base are watched; null: they are not
	Red      []string   `json:"red"`          // checks of the base that turned red after it
}

func viewMerge(s Story) *mergeView {
	if len(s.Merge.Gates) == 0 && s.merged == nil {
		return nil
	}
	v := &mergeView{
		Gates: terminal.Each(s.gates(), viewGate), Ask: string(s.Merge.Ask), Method: string(s.Merge.Method),
		Due: s.MergeDue, First: s.mergeFirst(), Next: s.mergeIs(),
	}
	if q := s.Landing.Box.Queue; len(s.Merge.Gates) > 0 && (q.In || q.Required) {
		v.Queue = &queueView{q.In, q.State, q.Position}
	}
	if m := s.merged; m != nil {
		v.Merged = viewMerged(*m)
	}
	return v
}

func viewGate(g gate) gateView {
	return gateView{Code: string(g.code), Open: g.is == gateOpen, Stop: g.is == gateStop, Kind: string(g.kind), Reason: g.why, Opens: g.opens}
}

func viewMerged(m merging.Merge) *mergedView {
	is := m.Stage == merging.Landed && (m.Landed != "" || m.Differs != "")
	return &mergedView{
		Stage: string(m.Stage), Method: string(m.Method), Head: m.Head, Base: m.Base, Commit: m.Commit, Parent: m.Parent,
		At: terminal.Stamp(m.At), LandedAt: terminal.Stamp(m.LandedAt), Compared: is, Same: is && m.Differs == "", Differs: m.Differs,
		Watched: terminal.Stamp(m.WatchUntil), Red: terminal.OrEmpty(m.Red),
	}
}

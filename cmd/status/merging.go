package status

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// Merge is the merge of a pull request by gh mergexo.
type Merge struct {
	Gates  []Gate         `json:"gates"`  // all gates, in the order of GitHub's merge box; none once it is merged or closed
	Ask    merging.Ask    `json:"ask"`    // the request that is next, if no other pull request is merged first: `merge`, `enqueue`, `dequeue`, `update` (of its branch); empty: none
	Method merging.Method `json:"method"` // squash, merge, rebase
	Due    bool           `json:"due"`    // whether the next pass sends that request
	First  int            `json:"first"`  // the pull request that is merged before it; 0: none
	Next   string         `json:"next"`   // what happens to it, in words
	Queue  *Queue         `json:"queue"`  // its place in the merge queue of its base; null: the base has none, or that is not known
	Merged *Merged        `json:"merged"` // our request to merge this head; null: none was sent
}

// Gate is one condition of a merge.
type Gate struct {
	Code   merging.Code    `json:"code"`       // the gate: [all gates](gates.md)
	Open   bool            `json:"open"`       // whether the gate is open
	Stop   bool            `json:"stop"`       // whether only a person can open it
	Kind   work.ReasonKind `json:"reasonCode"` // of `reason`, for programs
	Reason string          `json:"reason"`     // why it is closed
	Opens  string          `json:"opens"`      // what opens the gate

	unknown bool // GitHub was not asked yet
}

// Queue is its place in the merge queue of its base.
type Queue struct {
	In       bool   `json:"in"`       // whether it is in the base's merge queue
	State    string `json:"state"`    // state of the entry, in GitHub's word
	Position int    `json:"position"` // position in the queue

	base string
}

// Merged is our request to merge and its result.
type Merged struct {
	Stage    merging.Stage  `json:"stage"`    // intended, queued, half, landed, void
	Method   merging.Method `json:"method"`   // `squash`, `merge` or `rebase`
	Head     string         `json:"head"`     // the approved commit
	Base     string         `json:"base"`     // the branch that it was merged into
	Commit   string         `json:"commit"`   // the commit that landed on the base
	Parent   string         `json:"parent"`   // the base's commit on which it landed
	At       terminal.Time  `json:"at"`       // when the merge was requested
	LandedAt terminal.Time  `json:"landedAt"` // when it landed; null: not yet
	Compared bool           `json:"compared"` // whether the landed commit was compared with the approved one
	Same     bool           `json:"same"`     // whether their changes are the same
	Differs  string         `json:"differs"`  // how the landed commit differs from the approved one
}

// merge returns the merge of the pull request; nil: it is not ours to merge and never was.
func (f ItemFacts) merge(merged *Merged) *Merge {
	if f.Pull.State == work.PullMerged || f.Pull.State == work.PullClosed { // nothing opens a gate any more
		f.Merge.Gates = nil
	}
	if len(f.Merge.Gates) == 0 && merged == nil {
		return nil
	}
	m := &Merge{Gates: terminal.Each(f.Merge.Gates, f.gate), Ask: f.Merge.Ask, Method: f.Merge.Method, Due: f.MergeDue, Merged: merged}
	for _, r := range f.Waits {
		if r.Kind == work.WhyMergeNext {
			m.First = r.Count
			break
		}
	}
	if q := f.Landing.Box.Queue; len(m.Gates) > 0 && (q.In || q.Required) {
		m.Queue = &Queue{q.In, q.State, q.Position, f.Pull.Base}
	}
	m.Next = f.mergeSummary(*m)
	return m
}

func (f ItemFacts) gate(g merging.Gate) Gate {
	if !f.Landing.Box.Read() && (g.Code.FromBox() || g.Open && g.Code.ByPaths()) {
		return Gate{Code: g.Code, Kind: work.WhyMergeNotRead, unknown: true}
	}
	if g.Open {
		return Gate{Code: g.Code, Open: true}
	}
	w := explain.Reason(g.Why, f.Place)
	return Gate{Code: g.Code, Stop: g.Stop, Kind: g.Why.Kind, Reason: terminal.OneLine(w.Here()), Opens: terminal.OneLine(w.Next())}
}

// mergeSummary sums up the state of the merge; "" if it is not ours to merge.
func (f ItemFacts) mergeSummary(m Merge) string {
	count, stop := 0, false
	for _, g := range m.Gates {
		if !g.Open && !g.unknown {
			count++
		}
		stop = stop || g.Stop
	}
	base, closed := f.Pull.Base, work.Count(count, "gate")
	switch {
	case len(m.Gates) == 0:
		return ""
	case stop:
		return fmt.Sprintf("stopped, a person has to act; %s closed", closed)
	case m.Due && m.Ask == merging.AskUpdate:
		return fmt.Sprintf("the next pass brings it up to date with %s; %s closed", base, closed)
	case m.Due && m.Ask == merging.AskDequeue:
		return fmt.Sprintf("the next pass takes it out of the merge queue of %s; %s closed", base, closed)
	case m.Due && m.Ask == merging.AskEnqueue:
		return "the next pass puts it into the merge queue of " + base
	case m.Due:
		return fmt.Sprintf("the next pass merges it into %s (%s)", base, m.Method)
	case m.First != 0:
		return fmt.Sprintf("waits for #%d, which is merged into %s first; %s closed", m.First, base, closed)
	case !f.Landing.Box.Read() && f.Reviews.Record.State == review.Approved:
		return fmt.Sprintf("waits at %s; the next pass reads the other gates from GitHub", closed)
	case !f.Landing.Box.Read():
		return fmt.Sprintf("waits at %s; the other gates are read from GitHub once reviewers have approved", closed)
	case count == 0:
		return "all gates are open"
	}
	return "waits at " + closed
}

// loadMerged reads our request to merge a pull request's head; nil: there was none.
func loadMerged(ctx context.Context, tx *store.Tx, pull work.PullRequest) (*Merged, error) {
	if pull.ID == 0 {
		return nil, nil
	}
	m, found, err := tx.FindMerge(ctx, pull.ID, pull.HeadOID)
	if err != nil || !found {
		return nil, err
	}
	return mergedOf(m), nil
}

func mergedOf(m merging.Merge) *Merged {
	is := m.Stage == merging.Landed && (m.Landed != "" || m.Differs != "")
	return &Merged{
		Stage: m.Stage, Method: m.Method, Head: m.Head, Base: m.Base, Commit: m.Commit, Parent: m.Parent,
		At: terminal.Stamp(m.At), LandedAt: terminal.Stamp(m.LandedAt), Compared: is, Same: is && m.Differs == "", Differs: m.Differs,
	}
}

// landed returns our merge if it landed; nil: it did not.
func (m *Merge) landed() *Merged {
	if m == nil || m.Merged == nil || m.Merged.Stage != merging.Landed {
		return nil
	}
	return m.Merged
}

// head are the lines about the merge above its gates.
func (m *Merge) head(out terminal.Output, now time.Time) [][2]string {
	if m == nil {
		return nil
	}
	lines := [][2]string{{"merge", m.Next}, {"merge queue", m.Queue.says()}}
	if l := m.landed(); l != nil {
		lines = append(lines, [2]string{"merged", l.says() + ", " + out.When(l.LandedAt.Time, now)}, [2]string{"what landed", l.compared()})
	}
	return lines
}

// says is its place in the merge queue; "" if the base has none.
func (q *Queue) says() string {
	switch {
	case q == nil:
		return ""
	case !q.In:
		return "not in it; " + q.base + " demands it"
	}
	said := strings.ReplaceAll(strings.ToLower(q.State), "_", " ")
	if q.Position > 0 {
		said = strings.TrimPrefix(fmt.Sprintf("%s, position %d", said, q.Position), ", ")
	}
	return cmp.Or(said, "in it")
}

// says is the method of the merge and its commit.
func (m Merged) says() string {
	return fmt.Sprintf("%s as %s into %s", cmp.Or(string(m.Method), "by the merge queue"), short(m.Commit), m.Base)
}

// compared tells whether the landed commit is the approved one.
func (m Merged) compared() string {
	switch {
	case m.Differs != "":
		return fmt.Sprintf("NOT what was approved as %s: %s", short(m.Head), m.Differs)
	case !m.Compared:
		return "not compared with what was approved"
	}
	return "compared: the same as what was approved as " + short(m.Head)
}

// printGates prints the merge gates, the closed ones with what opens them.
func (s Story) printGates(out terminal.Output) error {
	if s.Merge == nil || len(s.Merge.Gates) == 0 {
		return nil
	}
	if !out.TTY {
		return out.Table(nil, terminal.Each(s.Merge.Gates, func(g Gate) []string {
			is, _ := g.is()
			return []string{"gate", string(g.Code), is, g.Reason, g.Opens}
		}))
	}
	for _, g := range s.Merge.Gates {
		_, mark := g.is()
		line := mark + " " + string(g.Code) + "\n"
		if g.Reason != "" {
			said := strings.TrimSuffix(g.Reason+" → "+g.Opens, " → ")
			line = out.Labelled("", fmt.Sprintf("%s %-18s", mark, g.Code), out.LocalTimes(said))
		}
		if _, err := fmt.Fprint(out.W, line); err != nil {
			return err
		}
	}
	return nil
}

// is returns the state of a gate, as a word and as a mark.
func (g Gate) is() (word, mark string) {
	switch {
	case g.Open:
		return "open", "✓"
	case g.unknown:
		return "unknown", "?"
	case g.Stop:
		return "stop", "✗"
	}
	return "closed", "✗"
}

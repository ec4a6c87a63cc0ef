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
	"github.com/mergexo/gh-mergexo/store"
)

// Merge is the merge of a pull request by gh mergexo.
type Merge struct {
	Gates  []Gate         `json:"gates"`  // none once it is merged or closed
	Method merging.Method `json:"method"` // `squash`, `merge` or `rebase`
	Queue  *Queue         `json:"queue"`  // null: its base has none, or that is not known
	Merged *Merged        `json:"merged"` // our request to merge this head; null: none was sent

	base string
}

// Gate is one condition of a merge.
type Gate struct {
	Code   merging.Code    `json:"code"` // [all gates](gates.md)
	Open   bool            `json:"open"`
	Stop   bool            `json:"stop"` // only a person can open it
	Kind   work.ReasonKind `json:"reasonCode"`
	Reason string          `json:"reason"`
	Opens  string          `json:"nextStep"`

	unknown bool // GitHub was not asked yet
}

// Queue is its place in the merge queue of its base.
type Queue struct {
	In       bool   `json:"in"`    // it is in it
	State    string `json:"state"` // in GitHub's word
	Position int    `json:"position"`

	base string
}

// Merged is our request to merge and its result.
type Merged struct {
	Stage    merging.Stage  `json:"stage"`    // `intended`, `queued`, `half`, `landed` or `void`
	Method   merging.Method `json:"method"`   // empty: the merge queue chose it
	Head     string         `json:"head"`     // that was approved
	Base     string         `json:"base"`     // the branch
	Commit   string         `json:"commit"`   // that landed
	LandedAt terminal.Time  `json:"landedAt"` // null: not yet
	Compared bool           `json:"compared"` // with what was approved
	Differs  string         `json:"differs"`  // how what landed differs from what was approved
}

// merge returns the merge of the pull request; nil: it is not ours to merge and never was.
func (f ItemFacts) merge(merged *Merged) *Merge {
	if f.Pull.State == work.PullMerged || f.Pull.State == work.PullClosed { // nothing opens a gate any more
		f.Merge.Gates = nil
	}
	if len(f.Merge.Gates) == 0 && merged == nil {
		return nil
	}
	m := &Merge{Gates: terminal.Each(f.Merge.Gates, f.gate), Method: f.Merge.Method, Merged: merged, base: f.Pull.Base}
	if q := f.Landing.Box.Queue; len(m.Gates) > 0 && (q.In || q.Required) {
		m.Queue = &Queue{q.In, q.State, q.Position, f.Pull.Base}
	}
	return m
}

func (f ItemFacts) gate(g merging.Gate) Gate {
	head := f.NewestHead()
	if f.Landing.Box.Head != head && (g.Code.FromBox() || g.Open && g.Code.ByPaths()) || f.Pull.HeadOID != head && g.Open && g.Code.ByHead() {
		return Gate{Code: g.Code, Kind: work.WhyMergeNotRead, unknown: true}
	}
	if g.Open {
		return Gate{Code: g.Code, Open: true}
	}
	w := explain.Reason(g.Why, f.Place)
	return Gate{Code: g.Code, Stop: g.Stop, Kind: g.Why.Kind, Reason: terminal.OneLine(w.Here()), Opens: terminal.OneLine(w.Next())}
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
	return &Merged{m.Stage, m.Method, m.Head, m.Base, m.Commit, terminal.Stamp(m.LandedAt), is, m.Differs}
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
	lines := [][2]string{{"merge queue", m.Queue.says()}}
	if len(m.Gates) > 0 {
		lines = append(lines, [2]string{"merge", strings.TrimSpace(string(m.Method) + " into " + m.base)})
	}
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
			line = out.Labelled("", fmt.Sprintf("%s %-18s", mark, g.Code), out.Ours(said))
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

package prompts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// DiffFile is one changed file, as a reviewer may be shown it.
type DiffFile struct {
	Path      string
	Text      string // its part of the diff; empty: it cannot be shown
	Size      int64  // of its content in bytes
	Lines     int    // added and removed
	Generated bool
}

// DiffShare is the part of a change that one run of a reviewer is shown.
type DiffShare struct {
	Text  string
	Cut   []string // the files that are not shown whole, each with its size
	Paths []string
}

// Limits of what a reviewer is shown of a change, in characters.
const (
	maxDiff   = 200000 // in one run
	cutDiff   = 5000   // of a file that is cut
	maxShares = 6      // runs
)

// diffPiece is a file with what is shown of it.
type diffPiece struct {
	DiffFile
	shown int // characters
	whole bool
	last  bool
}

// ShareDiff divides a change among as few runs of a reviewer as it takes, at most maxShares. Small
// files are shown whole. Generated files and lock files come last and are cut first, then the
// largest files. unread are the paths of the files that are not shown whole.
func ShareDiff(files []DiffFile) (shares []DiffShare, unread []string) {
	all := make([]diffPiece, len(files))
	for i, f := range files {
		f.Text = public.Visible(f.Text)
		p := diffPiece{DiffFile: f, shown: utf8.RuneCountInString(f.Text), whole: f.Text != "", last: f.Generated || work.IsLockFile(f.Path)}
		if p.last && p.shown > cutDiff || p.shown > maxDiff {
			p.cut()
		}
		all[i] = p
	}
	sorted.By(all, func(a, b diffPiece) int {
		switch {
		case a.last && !b.last:
			return 1
		case b.last && !a.last:
			return -1
		}
		return cmp.Or(cmp.Compare(path.Dir(a.Path), path.Dir(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	fitTotal(all)
	runs := packDiff(all, true)
	for len(runs) > maxShares {
		if runs = packDiff(all, false); len(runs) > maxShares {
			cutLargest(all)
		}
	}
	for _, run := range runs {
		var s DiffShare
		var text strings.Builder
		for _, p := range run {
			shown := p.text()
			text.WriteString(shown)
			s.Paths = append(s.Paths, p.Path)
			if !p.whole {
				s.Cut, unread = append(s.Cut, p.note()), append(unread, p.Path)
			}
		}
		s.Text = text.String()
		shares = append(shares, s)
	}
	return shares, unread
}

// cut shows less of a file: its beginning, and then nothing.
func (p *diffPiece) cut() {
	if p.shown <= cutDiff {
		p.Text = ""
	}
	p.whole = false
	p.shown = utf8.RuneCountInString(p.text())
}

// text returns what is shown of a file.
func (p diffPiece) text() string {
	if p.whole || p.Text == "" {
		return p.Text
	}
	const note = "[… the rest of this file is left out]\n"
	begin := public.FirstRunes(p.Text, cutDiff-utf8.RuneCountInString(note))
	return begin[:strings.LastIndexByte(begin, '\n')+1] + note
}

// note says how much of a file is shown.
func (p diffPiece) note() string {
	what := fmt.Sprintf("%s (%s, %s changed): ", p.Path, work.SizeText(p.Size), work.Count(p.Lines, "line"))
	switch {
	case p.shown > 0:
		return what + "only its beginning is shown"
	case p.Lines > 1 || p.Text != "":
		return what + "not shown"
	}
	return fmt.Sprintf("%s (%s): not shown, it is binary, too large, a submodule or in LFS", p.Path, work.SizeText(p.Size))
}

// packDiff fills runs in the order of the files. With whole, a folder that fits into one run is not
// divided.
func packDiff(all []diffPiece, whole bool) (runs [][]diffPiece) {
	used := 0
	begin := func() { runs, used = append(runs, nil), 0 }
	for at := 0; at < len(all); {
		end, size := at, 0
		for end < len(all) && (end == at || whole && path.Dir(all[end].Path) == path.Dir(all[at].Path) && all[end].last == all[at].last) {
			size += all[end].shown
			end++
		}
		if len(runs) == 0 || size <= maxDiff && used+size > maxDiff {
			begin()
		}
		for ; at < end; at++ {
			if used > 0 && used+all[at].shown > maxDiff {
				begin()
			}
			used += all[at].shown
			runs[len(runs)-1] = append(runs[len(runs)-1], all[at])
		}
	}
	return runs
}

// fitTotal cuts the largest files until all runs together have room for the rest: first to their
// beginnings, then to nothing. A change may have a hundred thousand files.
func fitTotal(all []diffPiece) {
	total := 0
	order := make([]int, len(all))
	for i, p := range all {
		total += p.shown
		order[i] = i
	}
	for _, most := range []int{cutDiff, 0} {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].shown, all[a].shown) })
		for _, i := range order {
			p := &all[i]
			if total <= maxShares*maxDiff || p.shown <= most {
				break
			}
			total -= p.shown
			p.cut()
			total += p.shown
		}
	}
}

// cutLargest cuts the file of which most is shown.
func cutLargest(all []diffPiece) {
	most := 0
	for i := range all {
		if all[i].shown > all[most].shown {
			most = i
		}
	}
	all[most].cut()
}

// Split returns the contexts of a turn's runs: of a review of a large change one for each share of
// it, else the context itself. A finding is judged in the run that shows its file, or else in the
// first one.
func Split(c Context) []Context {
	if c.Review == nil || len(c.Review.Shares) < 2 {
		return []Context{c}
	}
	all := make([]Context, len(c.Review.Shares))
	for i, s := range c.Review.Shares {
		r := *c.Review
		r.Diff, r.Cut, r.Part, r.Shares = s.Text, s.Cut, i+1, nil
		all[i] = c
		all[i].Review, all[i].Findings = &r, nil
	}
	for _, f := range c.Findings {
		at := max(0, slices.IndexFunc(c.Review.Shares, func(s DiffShare) bool { return slices.Contains(s.Paths, f.Path) }))
		all[at].Findings = append(all[at].Findings, f)
	}
	return all
}

// verdict is the answer of a review as its schema has it.
type verdict struct {
	Decision review.Decision   `json:"decision"`
	Summary  string            `json:"summary"`
	Body     *string           `json:"body"`
	Comments []json.RawMessage `json:"comments"`
	Earlier  []json.RawMessage `json:"earlier"`
	Escalate []string          `json:"escalate"`
}

// JoinReviews makes one verdict of those of several runs: it approves only if all approve, and has
// what each run found.
func JoinReviews(answers []json.RawMessage) (json.RawMessage, error) {
	joined := verdict{Decision: review.Approve, Comments: []json.RawMessage{}, Earlier: []json.RawMessage{}, Escalate: []string{}}
	var summaries, bodies []string
	for i, raw := range answers {
		var v verdict
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("decode the answer of run %d: %w", i+1, err)
		}
		if v.Decision != review.Approve {
			joined.Decision = review.RequestChanges
		}
		if s := strings.TrimSpace(v.Summary); !slices.Contains(summaries, s) {
			summaries = append(summaries, s)
		}
		if v.Body != nil && strings.TrimSpace(*v.Body) != "" {
			bodies = append(bodies, *v.Body)
		}
		joined.Comments, joined.Earlier = append(joined.Comments, v.Comments...), append(joined.Earlier, v.Earlier...)
		for _, name := range v.Escalate {
			if !slices.Contains(joined.Escalate, name) {
				joined.Escalate = append(joined.Escalate, name)
			}
		}
	}
	joined.Summary = strings.Join(summaries, " ")
	if len(bodies) > 0 {
		body := strings.Join(bodies, "\n\n")
		joined.Body = &body
	}
	for {
		raw, err := json.Marshal(joined)
		switch n := len(joined.Comments); {
		case err != nil, len(raw) <= MaxAnswer:
			return raw, err
		case joined.Body != nil:
			joined.Body = nil
		case n > 0:
			joined.Comments = joined.Comments[:n-1]
		default:
			return nil, fmt.Errorf("the answers of %d runs have %d bytes in all", len(answers), len(raw))
		}
	}
}

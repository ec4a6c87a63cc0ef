package review

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// mark is a verdict as its review's marker stores it, for a pass whose database was lost. The
// visible text is never parsed.
type mark struct {
	Version  int         `json:"v"`
	Reviewer string      `json:"reviewer"`
	Head     string      `json:"head"`
	Base     string      `json:"merge_base,omitempty"`
	Epoch    int         `json:"epoch"`
	Cycle    int         `json:"cycle"`
	Decision Decision    `json:"decision"`
	CalledIn []string    `json:"escalate,omitempty"`
	Highest  Severity    `json:"highest,omitempty"`
	Count    int         `json:"count,omitempty"`
	Unread   []string    `json:"unread,omitempty"`
	Resolved []string    `json:"resolved,omitempty"` // earlier findings, by id
	Findings []foundMark `json:"findings,omitempty"` // those without a comment of their own
}

// foundMark is a finding in the marker of its comment or its review.
type foundMark struct {
	ID         string   `json:"id"`
	Reviewer   string   `json:"reviewer,omitempty"`
	Cycle      int      `json:"cycle"`
	Severity   Severity `json:"severity"`
	Confidence string   `json:"confidence,omitempty"`
	Path       string   `json:"path,omitempty"`
	Line       int      `json:"line,omitempty"`
	Body       string   `json:"body,omitempty"`
}

// markVersion is the version of a mark's format.
const markVersion = 1

// Mark returns the marker of a review: the verdict, the earlier findings that it resolves, and its
// own findings that have no comment.
func Mark(v Verdict, resolved []string, inBody []Finding) string {
	m := mark{
		Version: markVersion, Reviewer: v.Reviewer, Head: v.Head, Base: v.MergeBase, Epoch: v.Epoch, Cycle: v.Cycle, Decision: v.Decision,
		CalledIn: v.CalledIn, Highest: v.Highest, Count: v.Count, Unread: v.Unread, Resolved: resolved,
	}
	for _, x := range inBody {
		m.Findings = append(m.Findings, markOf(x))
	}
	return encode(m)
}

// ParseMark parses what Mark returned, with the findings in it. It returns false for anything else.
// Only the answer to a command has a verdict without a reviewer.
func ParseMark(s string) (v Verdict, resolved []string, inBody []Finding, ok bool) {
	var m mark
	if !decode(s, &m) || m.Version != markVersion || m.Head == "" || m.Decision != Approve && m.Decision != RequestChanges {
		return Verdict{}, nil, nil, false
	}
	for _, f := range m.Findings {
		x := f.finding()
		x.Reviewer, x.Cycle, x.Head = m.Reviewer, m.Cycle, m.Head
		inBody = append(inBody, x)
	}
	v = Verdict{
		Reviewer: m.Reviewer, Head: m.Head, MergeBase: m.Base, Epoch: m.Epoch, Cycle: m.Cycle, Decision: m.Decision, CalledIn: m.CalledIn,
		Highest: m.Highest, Count: m.Count, Unread: m.Unread, Validity: Counts,
	}
	return v, m.Resolved, inBody, true
}

// MarkFinding returns the marker of a finding's comment. It repeats the finding's text, because the
// comment has other text too.
func MarkFinding(x Finding) string {
	m := markOf(x)
	m.Path, m.Line = "", 0 // the comment's own position has them
	return encode(m)
}

// ParseFinding parses what MarkFinding returned. It returns false for anything else.
func ParseFinding(s string) (Finding, bool) {
	var m foundMark
	if !decode(s, &m) || m.ID == "" || m.Reviewer == "" {
		return Finding{}, false
	}
	return m.finding(), true
}

func markOf(x Finding) foundMark {
	return foundMark{x.ID, x.Reviewer, x.Cycle, x.Severity, x.Confidence, x.Path, x.Line, x.Body}
}

func (m foundMark) finding() Finding {
	return Finding{
		ID: m.ID, Reviewer: m.Reviewer, Cycle: m.Cycle, Severity: m.Severity, Confidence: m.Confidence,
		Path: m.Path, Line: m.Line, Body: m.Body,
	}
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func decode(s string, v any) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && json.Unmarshal(b, v) == nil
}

// callIn matches the line with which a person calls in another reviewer.
var callIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ {0,3}<!-- escalate: ([a-z0-9]+(?:-[a-z0-9]+)*) -->$`)
})

// CalledIn returns the reviewers that a person's review calls in. Quoted lines and lines in fenced
// code blocks do not count.
func CalledIn(body string) []string {
	var names []string
	fenced := false
	for line := range strings.SplitSeq(work.Normalise(body), "\n") {
		line = strings.TrimRight(line, " \t")
		if at := strings.TrimLeft(line, " "); strings.HasPrefix(at, "```") || strings.HasPrefix(at, "~~~") {
			fenced = !fenced
		}
		if found := callIn().FindStringSubmatch(line); found != nil && !fenced {
			names = append(names, found[1])
		}
	}
	return names
}

// This file reads and writes design documents: Markdown with front matter, which people
// edit.

package prompts

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// DocumentFields are the parts of a design document.
type DocumentFields struct {
	Issue         int
	IssueURL      string
	Priority      int // 1 to 5; 0 if the document has none
	TouchPaths    []string
	DependsOn     []string
	EstimatedSize string // S, M or L; empty if the document has none
	GeneratedAt   time.Time

	Status        string // "implemented" once its implementation is merged
	ImplementedAt time.Time

	Title   string
	Summary string
	Body    string // Markdown without front matter, title and summary
}

// Implemented is the status of a document whose implementation is merged.
const Implemented = "implemented"

// Bounds of a design's front matter.
var designBounds = document.Bounds{Bytes: 64 << 10, Entries: maxPaths, Depth: 2}

// RenderDocument writes a design document: front matter, title, issue link, Summary, body. Every
// string of the front matter is quoted.
func RenderDocument(f DocumentFields) []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	fmt.Fprintf(&b, "issue: %d\npriority: %d\n", f.Issue, f.Priority)
	writeList(&b, "touch_paths", f.TouchPaths)
	writeList(&b, "depends_on", f.DependsOn)
	fmt.Fprintf(&b, "estimated_size: %s\ngenerated_at: %s\n", scalar(f.EstimatedSize), scalar(seconds(f.GeneratedAt)))
	if f.Status != "" {
		fmt.Fprintf(&b, "status: %s\n", scalar(f.Status))
	}
	if !f.ImplementedAt.IsZero() {
		fmt.Fprintf(&b, "implemented_at: %s\n", scalar(seconds(f.ImplementedAt)))
	}
	b.WriteString("---\n\n# " + titleOf(f) + "\n\n")
	fmt.Fprintf(&b, "Issue: [#%d](%s)\n\n## Summary\n\n", f.Issue, public.OneLine(f.IssueURL))
	b.WriteString(public.Balanced(paragraph(f.Summary)) + "\n\n" + paragraph(f.Body) + "\n")
	return b.Bytes()
}

func titleOf(f DocumentFields) string {
	if title := public.Title(f.Title); title != "" {
		return title
	}
	return fmt.Sprintf("Design for #%d", f.Issue)
}

func paragraph(s string) string { return strings.TrimSpace(work.Normalise(s)) }

func writeList(b *bytes.Buffer, key string, list []string) {
	if len(list) == 0 {
		fmt.Fprintf(b, "%s: []\n", key)
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, s := range list {
		fmt.Fprintf(b, "  - %s\n", scalar(s))
	}
}

// scalar quotes one line of text for YAML.
func scalar(s string) string { return document.Scalar(public.OneLine(s)) }

// ParseDocument reads a design document and returns the faults of its front matter. People edit it:
// keys that it does not know are ignored, and people may remove the front matter as a whole.
func ParseDocument(doc []byte) (f DocumentFields, faults []document.Fault) {
	fault := func(line int, format string, args ...any) {
		faults = append(faults, document.Fault{Line: line, Says: fmt.Sprintf(format, args...)})
	}
	head, rest, err := document.Front(doc)
	switch {
	case errors.Is(err, document.ErrNoFront) && !document.Opens(doc):
		f.Title, f.Body = splitTitle(paragraph(string(doc)))
		return f, nil
	case err != nil:
		fault(1, "%s", err)
		return f, faults
	}
	f.Title, f.Body = splitTitle(rest)
	top, broken := document.ReadFront(head, designBounds)
	if broken != nil {
		return f, []document.Fault{*broken}
	}
	if top.Kind != document.Mapping && top.Kind != document.Empty {
		fault(top.Line, "the front matter is %s, and should be keys with values", top.Kind)
	}
	r := designReader{f: f, faults: faults}
	for _, k := range top.Keys {
		r.key(k)
	}
	return r.f, r.faults
}

// FaultsOf returns the faults of a design's front matter.
func FaultsOf(doc []byte) []document.Fault {
	_, faults := ParseDocument(doc)
	return faults
}

// designReader reads the keys of a design's front matter. What has a fault counts as absent.
type designReader struct {
	f      DocumentFields
	faults []document.Fault
}

func (r *designReader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, document.Fault{Line: line, Says: fmt.Sprintf(format, args...)})
}

func (r *designReader) key(k document.Key) {
	switch k.Name {
	case "issue":
		r.f.Issue = r.number(k, "the number of an issue", math.MaxInt32)
	case "priority":
		r.f.Priority = r.number(k, "a number from 1 to 5", 5)
	case "estimated_size":
		if r.f.EstimatedSize = r.text(k); !slices.Contains([]string{"", "S", "M", "L"}, r.f.EstimatedSize) {
			r.f.EstimatedSize = ""
			r.fault(k.Line, "%s is none of S, M and L", k.Name)
		}
	case "touch_paths":
		r.f.TouchPaths = r.list(k, PathProblem)
	case "depends_on":
		r.f.DependsOn = r.list(k, func(string) string { return "" })
	case "generated_at":
		r.f.GeneratedAt = parseStamp(r.text(k))
	case "status":
		r.f.Status = r.text(k)
	case "implemented_at":
		r.f.ImplementedAt = parseStamp(r.text(k))
	}
}

func (r *designReader) text(k document.Key) string {
	if k.Value.Kind != document.Text && k.Value.Kind != document.Empty {
		r.fault(k.Line, "%s is %s, and should be a text", k.Name, k.Value.Kind)
	}
	return k.Value.Text
}

// number reads a number up to most; 0: there is none.
func (r *designReader) number(k document.Key, what string, most int) int {
	n, err := strconv.Atoi(r.text(k))
	if k.Value.Text != "" && (err != nil || n < 0 || n > most) {
		r.fault(k.Line, "%s is not %s", k.Name, what)
		return 0
	}
	return n
}

// list reads a list of texts about which problem has nothing to say.
func (r *designReader) list(k document.Key, problem func(string) string) (all []string) {
	if k.Value.Kind != document.List && k.Value.Kind != document.Empty {
		r.fault(k.Line, "%s is %s, and should be a list", k.Name, k.Value.Kind)
	}
	for _, entry := range k.Value.List {
		why := problem(entry.Text)
		if entry.Kind != document.Text {
			why = "is " + entry.Kind.String() + ", and should be a text"
		}
		if why != "" {
			r.fault(entry.Line, "an entry of %s %s", k.Name, why)
			continue
		}
		all = append(all, entry.Text)
	}
	return all
}

// splitTitle removes the first heading. Issue link and Summary stay in the body.
func splitTitle(rest string) (title, body string) {
	first, body, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n")
	if t, ok := strings.CutPrefix(first, "# "); ok {
		return strings.TrimSpace(t), strings.TrimSpace(body)
	}
	return "", strings.TrimSpace(rest)
}

func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func parseStamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// MarkImplemented sets status and implemented_at in a document's front matter and leaves the rest
// unchanged.
func MarkImplemented(doc []byte, at time.Time) ([]byte, error) {
	head, rest, err := document.Front(doc)
	if err != nil {
		return nil, fmt.Errorf("mark the document as implemented: %w", err)
	}
	var b strings.Builder
	b.WriteString("---\n")
	for l := range strings.Lines(head) {
		if !strings.HasPrefix(l, "status:") && !strings.HasPrefix(l, "implemented_at:") {
			b.WriteString(strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	fmt.Fprintf(&b, "status: %s\nimplemented_at: %s\n---\n%s", Implemented, scalar(seconds(at)), rest)
	return []byte(b.String()), nil
}

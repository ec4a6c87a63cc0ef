// This file reads and writes design documents: Markdown with front matter, which people
// edit.

package prompts

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

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

// front is the YAML of a document's front matter.
type front struct {
	Issue         int      `yaml:"issue"`
	Priority      int      `yaml:"priority"`
	TouchPaths    []string `yaml:"touch_paths"`
	DependsOn     []string `yaml:"depends_on"`
	EstimatedSize string   `yaml:"estimated_size"`
	GeneratedAt   string   `yaml:"generated_at"`
	Status        string   `yaml:"status"`
	ImplementedAt string   `yaml:"implemented_at"`
}

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

// ParseDocument reads a design document. People edit it: unknown keys are ignored, and invalid
// values (a priority of 9, a path outside the repository) count as absent. Invalid YAML is an
// error.
func ParseDocument(doc []byte) (f DocumentFields, err error) {
	head, rest, err := document.Front(doc)
	if err != nil {
		return DocumentFields{}, fmt.Errorf("parse design document: %w", err)
	}
	var y front
	if err := yaml.Unmarshal([]byte(head), &y); err != nil {
		return DocumentFields{}, fmt.Errorf("parse design document: %s", firstLine(err.Error()))
	}
	f = DocumentFields{Issue: y.Issue, Status: y.Status, DependsOn: y.DependsOn}
	f.GeneratedAt, f.ImplementedAt = parseStamp(y.GeneratedAt), parseStamp(y.ImplementedAt)
	if y.Priority >= 1 && y.Priority <= 5 {
		f.Priority = y.Priority
	}
	switch y.EstimatedSize {
	case "S", "M", "L":
		f.EstimatedSize = y.EstimatedSize
	}
	for _, p := range y.TouchPaths {
		if PathProblem(p) == "" {
			f.TouchPaths = append(f.TouchPaths, p)
		}
	}
	f.Title, f.Body = splitTitle(rest)
	return f, nil
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

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return public.OneLine(s)
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

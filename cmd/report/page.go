package report

import (
	"bytes"
	_ "embed" // the page and its style
	"fmt"
	"html/template"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

// HTML returns the report as one page without external resources.
func (r Report) HTML() ([]byte, error) {
	t, err := template.New("report").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	var b bytes.Buffer
	page := struct {
		document
		Style template.CSS
	}{r.document(), template.CSS(styleText)} //nolint:gosec // our own
	if err := t.Execute(&b, page); err != nil {
		return nil, fmt.Errorf("make the page: %w", err)
	}
	return b.Bytes(), nil
}

// Markdown returns the report for an issue, a comment or a workflow summary on GitHub.
func (r Report) Markdown() string {
	d := r.document()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# gh mergexo\n\n%s\n", d.Span)
	if len(d.Parts) == 0 {
		line("Nothing happened in this time, and nothing is open.")
	}
	for _, t := range d.Tiles {
		more := ""
		if t.More != "" {
			more = " (" + t.More + ")"
		}
		line("- **%s** %s%s", t.Value, t.What, more)
	}
	for _, p := range d.Parts {
		line("\n## %s\n", p.Title)
		if len(p.Rows) == 0 {
			line("None.")
			continue
		}
		head, under := "|", "|"
		for _, c := range p.Head {
			head += " " + c.Name + " |"
			if under += "---"; c.Number {
				under += ":"
			}
			under += "|"
		}
		line("%s\n%s", head, under)
		for _, row := range p.Rows {
			line("| %s |", strings.Join(terminal.Each(row, cell.markdown), " | "))
		}
		if p.More > 0 {
			line("\n%d more.", p.More)
		}
	}
	return b.String()
}

func (c cell) markdown() string {
	if c.Ref == "" {
		return plain(c.Text)
	}
	repo, number, _ := strings.Cut(c.Ref, "#") // in the text of a link GitHub makes no other of it
	return fmt.Sprintf("[%s#%s](<%s>) %s", plain(repo), number, strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(c.URL), plain(c.Text))
}

// plain escapes people's text for Markdown: no part becomes a link, a mention, an image or HTML.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '@', r == '#': // GitHub links people and issues even if these are escaped
			fmt.Fprintf(&b, "&#%d;\u200b", r)
		case strings.ContainsRune("\\`*_{}[]<>()+!|~&$", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("://", "&#58;//", "www.", "www&#46;").Replace(b.String()) // GitHub makes links of these
}

// Package document reads the parts of documents that people and agents write: Markdown with front
// matter, headings and sections. It is pure.
package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxFront bounds front matter, in bytes.
const maxFront = 256 << 10

// ErrNoFront says that a document has no front matter.
var ErrNoFront = errors.New("the document has no front matter between --- lines")

// Opens reports whether a document begins with a --- line, as front matter does.
func Opens(doc []byte) bool {
	return strings.HasPrefix(work.Normalise(strings.TrimPrefix(string(doc), "\uFEFF")), "---\n")
}

// Front splits a document into front matter and the rest. The front matter begins on line 2, and
// the rest on the line below the second ---.
func Front(doc []byte) (head, rest string, err error) {
	s := work.Normalise(strings.TrimPrefix(string(doc), "\uFEFF"))
	s, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return "", "", ErrNoFront
	}
	at := 0
	for l := range strings.Lines(s) {
		if strings.TrimRight(l, " \t\n") == "---" {
			return s[:at], s[at+len(l):], nil
		}
		if at += len(l); at > maxFront {
			return "", "", fmt.Errorf("the document's front matter is longer than %d bytes", maxFront)
		}
	}
	return "", "", ErrNoFront
}

// Scalar quotes a text for YAML as JSON, which is valid YAML.
func Scalar(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // cannot fail: it is a string
	}
	return controls.Replace(strings.TrimSpace(b.String()))
}

// controls writes as escapes the control characters that JSON leaves as they are and YAML refuses.
var controls = func() *strings.Replacer {
	var pairs []string
	for r := rune(0x7f); r <= 0x9f; r++ {
		pairs = append(pairs, string(r), fmt.Sprintf(`\u%04x`, r))
	}
	return strings.NewReplacer(pairs...)
}()

// Heading is a heading in a document. It covers the lines from First up to End, counted from 0.
type Heading struct {
	First, End int
	Level      int // 1 to 6; 7: a line in bold of its own
	Text       string
}

var (
	atxHeading  = lazy.Regexp(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*$`)
	boldHeading = lazy.Regexp(`^(?:\*\*[^*]+\*\*|__[^_]+__):?$`)
	underline   = lazy.Regexp(`^ {0,3}(?:=+|-+)$`)
	fence       = lazy.Regexp("^ {0,3}(`{3,}|~{3,})")
	listEntry   = lazy.Regexp(`^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)
)

// Lines splits a text into lines without spaces at their ends.
func Lines(text string) []string {
	lines := strings.Split(work.Normalise(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return lines
}

// Prose returns the lines with those of code blocks between fences emptied.
func Prose(lines []string) []string {
	out := slices.Clone(lines)
	open := "" // fence of the current code block
	for i, line := range lines {
		m := fence().FindStringSubmatch(line)
		switch {
		case open != "":
			if m != nil && strings.HasPrefix(m[1], open) && strings.TrimSpace(line) == m[1] {
				open = ""
			}
		case m != nil:
			open = m[1]
		default:
			continue
		}
		out[i] = ""
	}
	return out
}

// Headings returns a document's headings in all forms (#, underlined, bold), except in code. lines
// are those that Lines returns.
func Headings(lines []string) []Heading {
	var found []Heading
	paragraph := 0 // lines so far of the current paragraph
	for i, line := range Prose(lines) {
		if line == "" && lines[i] != "" { // of a code block
			paragraph = 0
			continue
		}
		text := strings.TrimSpace(line)
		switch m := atxHeading().FindStringSubmatch(line); {
		case m != nil:
			found = append(found, Heading{i, i + 1, len(m[1]), m[2]})
			paragraph = 0
		case paragraph > 0 && underline().MatchString(line):
			level := 2
			if strings.HasPrefix(text, "=") {
				level = 1
			}
			found = append(found, Heading{i - paragraph, i + 1, level, strings.Join(lines[i-paragraph:i], " ")})
			paragraph = 0
		case paragraph == 0 && boldHeading().MatchString(text) && (i+1 == len(lines) || !underline().MatchString(lines[i+1])):
			found = append(found, Heading{i, i + 1, 7, text})
		case text == "", strings.HasPrefix(text, ">"), listEntry().MatchString(text), paragraph == 0 && strings.HasPrefix(line, "    "):
			paragraph = 0
		case paragraph > 0 || i == 0 || strings.TrimSpace(lines[i-1]) == "" || found != nil && found[len(found)-1].End == i:
			paragraph++
		}
	}
	return found
}

var (
	emphasis  = strings.NewReplacer("*", "", "_", "", "`", "", "~", "")
	linked    = lazy.Regexp(`\[([^\]]*)\]\([^)]*\)`)
	numbering = lazy.Regexp(`^(?:(?:§|section|chapter|part)\s*)?(?:\(?(?:\d+(?:\.\d+)*|[a-z]|[ivx]{1,5})[.):]+|\d+(?:\.\d+)*)\s+`)
	// more matches what may follow a name: a remark or another name.
	more = lazy.Regexp(`\s*(?:[(\[:;,/&+|]|\s[-–—]+\s|\b(?:and|or|for|as|at|in this|in the first)\b).*$`)
	// between matches what separates words of a name.
	between = lazy.Regexp(`[^\pL\pN]+`)
)

// Plain returns the forms of a heading's text that are compared: the whole text, and its beginning,
// each in lower case, of letters and digits alone.
func Plain(text string) []string {
	text = strings.ToLower(emphasis.Replace(linked().ReplaceAllString(text, "$1")))
	text = numbering().ReplaceAllString(strings.TrimSpace(text), "")
	return []string{between().ReplaceAllString(text, ""), between().ReplaceAllString(more().ReplaceAllString(text, ""), "")}
}

// Is reports whether the heading has one of the names, in the form that Plain returns.
func (h Heading) Is(names []string) bool {
	return slices.ContainsFunc(Plain(h.Text), func(name string) bool { return slices.Contains(names, name) })
}

// Points returns the points below the first heading with one of the names that has any.
func Points(doc string, names []string) []string {
	lines := Lines(doc)
	all := Headings(lines)
	for i, h := range all {
		if !h.Is(names) {
			continue
		}
		end := len(lines)
		inner := slices.Clone(lines)
		for _, next := range all[i+1:] {
			if next.Level <= h.Level {
				end = next.First
				break
			}
			for at := next.First; at < next.End; at++ {
				inner[at] = ""
			}
		}
		if found := Split(strings.Join(inner[h.End:end], "\n")); len(found) > 0 {
			return found
		}
	}
	return nil
}

// Split splits a text into its list entries or paragraphs.
func Split(text string) []string {
	var all []string
	fresh := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		entry := listEntry().ReplaceAllString(line, "")
		switch {
		case line == "":
			fresh = true
		case entry != line || fresh:
			all, fresh = append(all, entry), false
		default:
			all[len(all)-1] += " " + line
		}
	}
	return all
}

package turn

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// maxSpecFiles limits the files of a specification that are read.
const maxSpecFiles = 30

// specify adds the repository's files that describe the work: the design document, and
// specification, plan and tasks below .specify. They are read from the base, as the branch may have
// changed them to fit its code.
func (p *briefs) specify(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	m := l.Repo.Git()
	base := c.Task.BaseSHA
	if !m.Has(ctx, base) {
		return nil
	}
	all, err := m.ListFiles(ctx, base)
	if err != nil {
		return fmt.Errorf("look for a specification: %w", err)
	}
	paths := specFiles(all, l.Item.Number)
	if doc := c.Task.Document; doc != "" && c.Handoff == nil && slices.Contains(all, doc) {
		paths = append([]string{doc}, paths...)
	}
	for _, path := range paths[:min(len(paths), maxSpecFiles)] {
		text, ok, err := m.ReadFile(ctx, base, path)
		if err != nil {
			return fmt.Errorf("read the specification: %w", err)
		}
		if ok {
			c.Specification = append(c.Specification, prompts.SpecFile{Path: path, Text: string(text)})
		}
	}
	return nil
}

// specFiles returns the specification files. If some are in a folder with the issue's number, only
// those: the others are of other work.
func specFiles(all []string, issue int) []string {
	var found, own []string
	for _, name := range all {
		file := path.Base(name)
		if !strings.HasPrefix(name, ".specify/") || file != "spec.md" && file != "plan.md" && file != "tasks.md" {
			continue
		}
		found = append(found, name)
		if slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return numbered(dir, issue) }) {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		return own
	}
	return found
}

// numbered reports whether a folder's name starts with the issue's number, such as 013-login.
func numbered(dir string, issue int) bool {
	digits, _, _ := strings.Cut(dir, "-")
	n, err := strconv.Atoi(digits)
	return err == nil && n == issue
}

// An implementation gets its design's non-goals and acceptance criteria as lists, found by their
// headings. The design prompt asks for certain headings; people use others, with numbers, in bold
// or underlined.

// Names of these sections, in the form that plain returns.
var (
	nonGoals = []string{"nongoals", "nongoal", "outofscope", "notinscope"}
	criteria = []string{"acceptancecriteria", "acceptancecriterion", "acceptance"}
)

// heading is a heading in a document. It covers the lines from first up to end.
type heading struct {
	first, end int
	level      int // 1 to 6; 7: a line in bold of its own
	text       string
}

var (
	atxHeading  = lazy.Regexp(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*$`)
	boldHeading = lazy.Regexp(`^(?:\*\*[^*]+\*\*|__[^_]+__):?$`)
	underline   = lazy.Regexp(`^ {0,3}(?:=+|-+)$`)
	fence       = lazy.Regexp("^ {0,3}(`{3,}|~{3,})")
	listEntry   = lazy.Regexp(`^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)
)

// headings returns a document's headings in all forms (#, underlined, bold), except in code.
func headings(lines []string) []heading {
	var found []heading
	paragraph := 0 // lines so far of the current paragraph
	open := ""     // fence of the current code block
	for i, line := range lines {
		switch m := fence().FindStringSubmatch(line); {
		case open != "":
			if m != nil && strings.HasPrefix(m[1], open) && strings.TrimSpace(line) == m[1] {
				open = ""
			}
			continue
		case m != nil:
			open, paragraph = m[1], 0
			continue
		}
		text := strings.TrimSpace(line)
		switch m := atxHeading().FindStringSubmatch(line); {
		case m != nil:
			found = append(found, heading{i, i + 1, len(m[1]), m[2]})
			paragraph = 0
		case paragraph > 0 && underline().MatchString(line):
			level := 2
			if strings.HasPrefix(text, "=") {
				level = 1
			}
			found = append(found, heading{i - paragraph, i + 1, level, strings.Join(lines[i-paragraph:i], " ")})
			paragraph = 0
		case paragraph == 0 && boldHeading().MatchString(text) && (i+1 == len(lines) || !underline().MatchString(lines[i+1])):
			found = append(found, heading{i, i + 1, 7, text})
		case text == "", strings.HasPrefix(text, ">"), listEntry().MatchString(text), paragraph == 0 && strings.HasPrefix(line, "    "):
			paragraph = 0
		case paragraph > 0 || i == 0 || strings.TrimSpace(lines[i-1]) == "" || found != nil && found[len(found)-1].end == i:
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

// plain returns the forms of a heading's text that are compared: the whole text, and its beginning.
func plain(text string) []string {
	text = strings.ToLower(emphasis.Replace(linked().ReplaceAllString(text, "$1")))
	text = numbering().ReplaceAllString(strings.TrimSpace(text), "")
	return []string{between().ReplaceAllString(text, ""), between().ReplaceAllString(more().ReplaceAllString(text, ""), "")}
}

// section returns the points below the first heading with one of the names that has any.
func section(doc string, names []string) []string {
	lines := strings.Split(strings.ReplaceAll(doc, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	all := headings(lines)
	for i, h := range all {
		if !slices.ContainsFunc(plain(h.text), func(name string) bool { return slices.Contains(names, name) }) {
			continue
		}
		end := len(lines)
		inner := slices.Clone(lines)
		for _, next := range all[i+1:] {
			if next.level <= h.level {
				end = next.first
				break
			}
			for at := next.first; at < next.end; at++ {
				inner[at] = ""
			}
		}
		if found := points(strings.Join(inner[h.end:end], "\n")); len(found) > 0 {
			return found
		}
	}
	return nil
}

// points splits a text into its list entries or paragraphs.
func points(text string) []string {
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

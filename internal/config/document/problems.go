package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Problem is one thing that is wrong in a config.
type Problem struct {
	File string
	Line int    // 0 when it concerns no line
	Key  string // the path of what is wrong, such as "repo[1].labels.design"; empty: the document
	Text string

	absent string // the path of what is not there
}

// String is the problem in one line, as editors read it: file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// InvalidError lists what is wrong in a config, one line each.
type InvalidError struct{ Problems []Problem }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// report collects the problems of one document.
type report struct {
	file     string
	lines    lineIndex
	problems []Problem
	meant    map[string]bool // paths for which misspelt keys were meant
	asked    *[]Key          // nil: nobody wants to know
}

// Add is a problem with what is at a path.
func (r *report) Add(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: r.lines.find(path), Key: path, Text: fmt.Sprintf(format, args...)})
}

// Lacks is a problem of what is at a path, with something that is not there: absent
// is the path at which it would be.
func (r *report) Lacks(path, absent, format string, args ...any) {
	r.Add(path, format, args...)
	r.problems[len(r.problems)-1].absent = absent
}

// Line is the line of what is at a path, or of the nearest table around it; 0 for
// what is not there.
func (r *report) Line(path string) int { return r.lines.find(path) }

// Err is an InvalidError with all problems so far; nil without any.
func (r *report) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &InvalidError{Problems: r.ordered()}
}

// Bad is a problem with a key's value.
func (t *Table) Bad(key, format string, args ...any) {
	t.Add(t.At(key), "%s: %s", t.called(key), fmt.Sprintf(format, args...))
}

// called names a key as people do: with its table.
func (t *Table) called(key string) string {
	if t.name == "" {
		return key
	}
	return key + " in " + t.name
}

// Meant ends a sentence about an unknown name with the nearest one, in a form such as
// "[%s]"; empty where none is near.
func Meant(name string, candidates []string, form string) string {
	if n := work.Nearest(name, candidates); n != "" {
		return "; did you mean " + fmt.Sprintf(form, n) + "?"
	}
	return ""
}

// A key that is misspelt is missing too, and so are whole tables. What follows from
// another problem is not told beside it, and what is missing comes last: read from
// the top, each line is a cause.

// Missing is a problem with a key that is not there.
func (t *Table) Missing(key, format string, args ...any) {
	t.Lacks(t.At(key), t.At(key), "%s: %s", t.called(key), fmt.Sprintf(format, args...))
}

// means notes for which key or table a misspelt one was most likely meant.
func (r *report) means(path string) {
	if r.meant == nil {
		r.meant = map[string]bool{}
	}
	r.meant[path] = true
}

// ordered are the problems as people read them: by line, without those that only
// follow from a misspelt key.
func (r *report) ordered() []Problem {
	all := slices.DeleteFunc(slices.Clone(r.problems), func(p Problem) bool { return p.absent != "" && r.meant[p.absent] })
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(boolean(a.absent != "")-boolean(b.absent != ""), cmp.Compare(a.Line, b.Line))
	})
	return all
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

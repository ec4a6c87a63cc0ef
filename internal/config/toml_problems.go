package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Problem is one problem of a config.
type Problem struct {
	File string
	Line int    // 0 if it concerns no line
	Key  string // the path of the key, such as "repo[1].labels.design"; empty: the document
	Text string

	absent string // the path of the missing key
}

// String is the problem in one line that editors understand: file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// InvalidError lists the problems of a config, one per line.
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
	lines    func() lineIndex
	problems []Problem
	meant    map[string]bool // paths of keys for which a misspelt one was meant

	belongs func(key string) []string // where keys of that name belong, in words; nil: nobody knows
}

// Add adds a problem with the value at a path.
func (r *report) Add(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: r.lines().find(path), Key: path, Text: fmt.Sprintf(format, args...)})
}

// lacks adds a problem at a path that is caused by a missing key; absent is the path of that key.
func (r *report) lacks(path, absent, format string, args ...any) {
	r.Add(path, format, args...)
	r.problems[len(r.problems)-1].absent = absent
}

// line returns the line of a path, or of the nearest table around it; 0 if there is none.
func (r *report) line(path string) int { return r.lines().find(path) }

// err returns an InvalidError with all problems so far; nil if there are none.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &InvalidError{Problems: r.ordered()}
}

// bad adds a problem with a key's value.
func (t *Table) bad(key, format string, args ...any) {
	t.Add(t.at(key), "%s: %s", t.called(key), fmt.Sprintf(format, args...))
}

// called names a key with its table, for messages.
func (t *Table) called(key string) string {
	if t.name == "" {
		return key
	}
	return key + " in " + t.name
}

// meant returns the end of a message about an unknown name: the nearest known one, in a form such
// as "[%s]". It is empty if none is near.
func meant(name string, candidates []string, form string) string {
	if n := work.Nearest(name, candidates); n != "" {
		return "; did you mean " + fmt.Sprintf(form, n) + "?"
	}
	return ""
}

// A misspelt key or table is also missing. Problems that follow from another one are not listed,
// and missing keys come last: read from the top, each line is a cause.

// missing adds a problem with a missing key.
func (t *Table) missing(key, text string) {
	t.lacks(t.at(key), t.at(key), "%s: %s", t.called(key), text)
}

// means records for which key or table a misspelt one was most likely meant.
func (r *report) means(path string) {
	if r.meant == nil {
		r.meant = map[string]bool{}
	}
	r.meant[path] = true
}

// ordered returns the problems by line, without those that only follow from a misspelt key.
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

package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Problem is one problem of a config.
type Problem struct {
	File string
	Line int    // 0 if it concerns no line
	Key  string // the path of the key, such as "repo[1].review.enabled"; empty: the document
	Text string

	absent string // the path of the missing key
	meant  string // the path of the key or table for which a misspelt one was most likely meant
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

// Problems returns the problems of an InvalidError; false for any other error.
func Problems(err error) ([]Problem, bool) {
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok {
		return nil, false
	}
	return invalid.Problems, true
}

// report collects the problems of one document.
type report struct {
	file     string
	lines    func() lineIndex
	problems []Problem
	written  map[string]bool // the paths of the keys that the document has
	wrong    map[string]bool // those with a value that is none for the key: rules have nothing to say about it
}

func newReport(file, doc string, meta toml.MetaData) *report {
	return &report{
		file: file, lines: sync.OnceValue(func() lineIndex { return indexLines(doc, meta) }),
		written: map[string]bool{}, wrong: map[string]bool{},
	}
}

// add adds a problem with the value at a path.
func (r *report) add(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: r.lines().find(path), Key: path, Text: fmt.Sprintf(format, args...)})
}

// lacks adds a problem at a path that is caused by a missing key; absent is the path of that key.
func (r *report) lacks(path, absent, format string, args ...any) {
	r.add(path, format, args...)
	r.problems[len(r.problems)-1].absent = absent
}

// err returns an InvalidError with all problems so far; nil if there are none. A misspelt key or table is
// also missing: problems that follow from another one are not listed, and missing keys come last, so that,
// read from the top, each line is a cause.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	meant := map[string]bool{"": false}
	for _, p := range r.problems {
		meant[p.meant] = p.meant != ""
	}
	all := slices.DeleteFunc(slices.Clone(r.problems), func(p Problem) bool { return meant[p.absent] })
	sorted.By(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(min(len(a.absent), 1), min(len(b.absent), 1)), cmp.Compare(a.Line, b.Line))
	})
	return &InvalidError{Problems: all}
}

// place is a table of the document, for messages about its keys.
type place struct {
	*report
	path string // such as "repo[1].review"; empty: the whole document
}

func (r *report) at(path string) place { return place{r, path} }

// to returns the path of a key.
func (t place) to(key string) string { return join(t.path, key) }

// has reports whether the document has a key.
func (t place) has(key string) bool { return t.written[t.to(key)] }

// called names a key with its table, for messages.
func (t place) called(key string) string {
	if t.path == "" {
		return key
	}
	return key + " in " + tableName(t.path)
}

// bad adds a problem with a key's value.
func (t place) bad(key, format string, args ...any) {
	if !t.wrong[t.to(key)] {
		t.add(t.to(key), "%s: %s", t.called(key), fmt.Sprintf(format, args...))
	}
}

// missing adds a problem with a missing key.
func (t place) missing(key, text string) {
	t.lacks(t.to(key), t.to(key), "%s: %s", t.called(key), text)
}

// meant returns the end of a message about an unknown name: the nearest known one, in a form such
// as "[%s]". It is empty if none is near.
func meant(name string, candidates []string, form string) string {
	if n := work.Nearest(name, candidates); n != "" {
		return "; did you mean " + fmt.Sprintf(form, n) + "?"
	}
	return ""
}

// lineIndex maps each key of a document, by its path, to its line. The TOML library knows positions only
// of syntax errors.
type lineIndex map[string]int

// find returns the line of a path, or of the nearest table around it; 0 if there is none.
func (x lineIndex) find(path string) int {
	for path != "" {
		if n, ok := x[path]; ok {
			return n
		}
		if n, ok := x[path+"[0]"]; ok { // the first of an array of tables
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// noKeys matches texts of several lines, comments, and texts of one line so that a comment in them is none.
var noKeys = lazy.Regexp(`(?s:""".*?"""|'''.*?''')|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*`)

// indexLines finds the lines of a document's keys, which the library lists in their order. It never
// fails, it only misses some lines.
func indexLines(doc string, meta toml.MetaData) lineIndex {
	text := noKeys().ReplaceAllStringFunc(doc, func(s string) string {
		if strings.HasPrefix(s, "#") || strings.Contains(s, "\n") {
			return strings.Repeat("\n", strings.Count(s, "\n"))
		}
		return s
	})
	index, arrays, forms, begin, line := lineIndex{}, map[string]int{}, map[string]*regexp.Regexp{}, 0, 1
	for _, k := range meta.Keys() {
		path := ""
		for i, part := range k {
			path = join(path, part)
			if meta.Type(k[:i+1]...) != "ArrayHash" {
				continue
			}
			if i == len(k)-1 {
				arrays[path]++
			}
			path += "[" + strconv.Itoa(arrays[path]-1) + "]"
		}
		name := k[len(k)-1]
		if forms[name] == nil {
			quoted := `["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*`
			forms[name] = regexp.MustCompile(`(?m)^[ \t]*\[\[?(?:[^\]\n]*[. \t])?` + quoted + `\]|(?:^|[{,.])[ \t]*` + quoted + `[=.]`)
		}
		if found := forms[name].FindStringIndex(text[begin:]); found != nil {
			line += strings.Count(text[begin:begin+found[1]], "\n")
			begin += found[1] - 1
		}
		if _, known := index[path]; !known {
			index[path] = line
		}
	}
	return index
}

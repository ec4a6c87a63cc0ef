package config

import (
	"cmp"
	"slices"
)

// A key that is misspelt is missing too, and so are whole tables. What follows from
// another problem is not told beside it, and what is missing comes last: read from
// the top, each line is a cause.

// missing is a problem with a key that is not there.
func (t *table) missing(key, format string, args ...any) {
	t.bad(key, format, args...)
	last := &t.problems[len(t.problems)-1]
	last.absent = t.at(key)
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

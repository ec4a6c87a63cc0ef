package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// report collects the problems of one file.
type report struct {
	file     string
	lines    lineIndex
	problems []Problem
	meant    map[string]bool // paths for which misspelt keys were meant
}

func (r *report) add(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: r.lines.find(path), Text: fmt.Sprintf(format, args...)})
}

// table is one table of the document. Its getters note which keys there are;
// done then refuses all others.
type table struct {
	*report
	path   string // as in the line index; empty for the whole document
	name   string // as people write it: [runtime], [repo.labels]
	values map[string]any
	known  []string
}

func (t *table) at(key string) string { return join(t.path, key) }

func (t *table) bad(key, format string, args ...any) {
	where := ""
	if t.name != "" {
		where = " in " + t.name
	}
	t.add(t.at(key), "%s%s: %s", key, where, fmt.Sprintf(format, args...))
}

// get fetches a key's value; false when the file does not say.
func (t *table) get(key string) (any, bool) {
	t.known = append(t.known, key)
	v, ok := t.values[key]
	return v, ok
}

// tomlName names a value's type.
func tomlName(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	case time.Time:
		return "a date"
	}
	return fmt.Sprintf("%T", v)
}

// typed fetches a key's value of one type.
func typed[T any](t *table, key, want string, fallback T) (T, bool) {
	v, ok := t.get(key)
	if !ok {
		return fallback, false
	}
	x, ok := v.(T)
	if !ok {
		t.bad(key, "want %s, got %s", want, tomlName(v))
		return fallback, false
	}
	return x, true
}

func (t *table) text(key, fallback string) string {
	s, _ := typed(t, key, "text in quotes", fallback)
	return s
}

func (t *table) flag(key string, fallback bool) bool {
	b, _ := typed(t, key, "true or false", fallback)
	return b
}

// count fetches a whole number from least to most.
func (t *table) count(key string, fallback, least, most int) int {
	n, ok := typed(t, key, "a whole number", int64(fallback))
	if ok && (n < int64(least) || n > int64(most)) {
		t.bad(key, "want %d to %d, got %d", least, most, n)
		return fallback
	}
	return int(n)
}

// number fetches a number from least to most.
func (t *table) number(key string, fallback, least, most float64) float64 {
	v, ok := t.get(key)
	if !ok {
		return fallback
	}
	n, ok := v.(float64)
	if whole, isWhole := v.(int64); isWhole {
		n, ok = float64(whole), true
	}
	switch {
	case !ok:
		t.bad(key, "want a number, got %s", tomlName(v))
	case !(n >= least && n <= most): // also what is no number at all
		t.bad(key, "want %g to %g, got %g", least, most, n)
	default:
		return n
	}
	return fallback
}

// duration fetches a time such as "90s" or "30m", from least to a week.
func (t *table) duration(key string, fallback, least time.Duration) time.Duration {
	const most = 7 * 24 * time.Hour
	s, ok := typed(t, key, `a time such as "90s" or "30m"`, "")
	if !ok {
		return fallback
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		t.bad(key, `want a time such as "90s" or "30m", got %q`, s)
	case d < least || d > most:
		t.bad(key, "want %s to %s, got %q", least, most, s)
	default:
		return d
	}
	return fallback
}

// list fetches a list of values of one type.
func list[T any](t *table, key, want string) []T {
	values, ok := typed[[]any](t, key, "a list: ["+want+", …]", nil)
	if !ok {
		return nil
	}
	out := make([]T, 0, len(values))
	for i, v := range values {
		x, ok := v.(T)
		if !ok {
			t.bad(key, "entry %d: want %s, got %s", i+1, want, tomlName(v))
			return nil
		}
		out = append(out, x)
	}
	return out
}

func (t *table) texts(key string) []string { return list[string](t, key, `"text"`) }

// sub opens a table inside; an empty one when the file has none.
func (t *table) sub(key, name string) *table {
	values, _ := typed[map[string]any](t, key, "a table: "+name, nil)
	return &table{report: t.report, path: t.at(key), name: name, values: values}
}

// all opens the tables of an array of tables.
func (t *table) all(key string) []*table {
	name := "[[" + key + "]]"
	values, _ := typed[[]map[string]any](t, key, "tables: "+name, nil)
	out := make([]*table, 0, len(values))
	for i, v := range values {
		out = append(out, &table{report: t.report, path: t.at(key) + "[" + strconv.Itoa(i) + "]", name: name, values: v})
	}
	return out
}

// later names keys of features that are planned: refused, because a setting
// that does nothing misleads.
func (t *table) later(keys ...string) {
	for _, key := range keys {
		if _, ok := t.values[key]; ok {
			t.bad(key, "not supported yet; remove the line")
		}
		t.known = append(t.known, key)
	}
}

// done refuses the keys that nobody asked for.
func (t *table) done() {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(t.known, key) {
			continue
		}
		if n := work.Nearest(key, t.known); n != "" {
			t.means(t.at(n))
		}
		_, isTable := t.values[key].(map[string]any)
		_, isTables := t.values[key].([]map[string]any)
		switch {
		case t.path == "" && (isTable || isTables):
			t.add(t.at(key), "unknown table [%s]%s", key, t.meantTable(key))
		case t.path == "":
			t.add(t.at(key), "unknown key %q outside any table%s", key, t.meantTable(key))
		default:
			t.add(t.at(key), "unknown key %q in %s%s", key, t.name, meant(key, t.known, "%q"))
		}
	}
}

// meantTable names the table that a misspelt one was meant for, with its brackets.
func (t *table) meantTable(key string) string {
	switch {
	case key == "labels" || key == "voice":
		return "; did you mean [repo." + key + "], below its [[repo]]?"
	case work.Nearest(key, t.known) == "repo":
		return "; did you mean [[repo]]?"
	}
	return meant(key, t.known, "[%s]")
}

// expandHome replaces a leading "~/" by the home folder.
func expandHome(path, home string) string {
	if home != "" && len(path) > 1 && path[0] == '~' && (path[1] == '/' || path[1] == filepath.Separator) {
		return filepath.Join(home, path[2:])
	}
	return path
}

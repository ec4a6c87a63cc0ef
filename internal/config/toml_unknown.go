package config

import (
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// later rejects keys of planned features: a setting without effect misleads.
func (t *Table) later(keys ...string) {
	for _, key := range keys {
		if _, ok := t.values[key]; ok {
			t.bad(key, "not supported yet; remove the line")
		}
		t.known = append(t.known, key)
		t.note(key, func() Key { return Key{Kind: kindLater} })
	}
}

// done rejects the keys that nobody requested.
func (t *Table) done() {
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
			t.Add(t.at(key), "unknown table [%s]%s", key, t.meantTable(key))
		case t.path == "":
			t.Add(t.at(key), "unknown key %q outside any table%s", key, t.meantTable(key))
		default:
			t.Add(t.at(key), "unknown key %q in %s%s", key, t.name, meant(key, t.known, "%q"))
		}
	}
}

// meantTable suggests the table that was probably meant.
func (t *Table) meantTable(key string) string {
	switch {
	case key == "labels" || key == "voice" || key == "review":
		return "; did you mean [repo." + key + "], below its [[repo]]?"
	case key == "reviewers":
		return "; did you mean [[repo.reviewers]], below its [[repo]]?"
	case work.Nearest(key, t.known) == "repo":
		return "; did you mean [[repo]]?"
	}
	return meant(key, t.known, "[%s]")
}

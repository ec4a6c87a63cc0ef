// This file reads one TOML document strictly. Its tables record which keys were requested
// and reject all others; every problem has a line.

package config

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// OpenTable reads a document; name is its name in problems. Invalid TOML is an InvalidError.
func OpenTable(name, text string) (*Table, error) {
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return nil, syntaxError(name, err)
	}
	return &Table{report: &report{file: name, lines: indexLines(text)}, values: values}, nil
}

func syntaxError(name string, err error) error {
	p := Problem{File: name, Text: err.Error()}
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		p.Line, p.Text = pe.Position.Line, pe.Message
		if p.Text == "" {
			p.Text = strings.TrimPrefix(pe.Error(), "toml: ")
		}
	}
	p.Text = syntaxSays(p.Text)
	return &InvalidError{Problems: []Problem{p}}
}

// Table is one table of the document. Its getters record the known keys; Done then rejects all
// others.
type Table struct {
	*report
	path   string // as in lineIndex; empty for the whole document
	name   string // as people write it: [runtime], [repo.labels]
	values map[string]any
	known  []string
}

// Path is the path of the table, as At returns it for keys.
func (t *Table) Path() string { return t.path }

// at returns the path of a key, such as "repo[1].labels.design".
func (t *Table) at(key string) string { return join(t.path, key) }

// keys returns the keys in the file, sorted.
func (t *Table) keys() []string { return slices.Sorted(maps.Keys(t.values)) }

// Get returns a key's value; false if the file does not have it.
func (t *Table) Get(key string) (any, bool) {
	if t.known == nil {
		t.known = make([]string, 0, 16)
	}
	t.known = append(t.known, key)
	t.note(key, func() Key { return Key{} })
	v, ok := t.values[key]
	return v, ok
}

// has reports whether the file has a key, without recording it: Done may still reject it, or treat
// it as misspelt.
func (t *Table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// knows reports whether a key was requested.
func (t *Table) knows(key string) bool { return slices.Contains(t.known, key) }

// sub returns a table inside; an empty one if the file has none.
func (t *Table) sub(key, name string) *Table {
	t.note(key, func() Key { return Key{Kind: kindTable} })
	values, _ := typed[map[string]any](t, key, "a table: "+name, nil)
	return &Table{report: t.report, path: t.at(key), name: name, values: values}
}

// all returns the tables of an array of tables; name is how people write it.
func (t *Table) all(key, name string) []*Table {
	t.note(key, func() Key { return Key{Kind: kindTables} })
	values, _ := typed[[]map[string]any](t, key, "tables: "+name, nil)
	out := make([]*Table, 0, len(values))
	for i, v := range values {
		out = append(out, &Table{report: t.report, path: t.at(key) + "[" + strconv.Itoa(i) + "]", name: name, values: v})
	}
	return out
}

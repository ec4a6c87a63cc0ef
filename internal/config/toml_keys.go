package config

import "strings"

// KeyKind is the kind of value of a key.
type KeyKind string

// The kinds of values.
const (
	kindText     KeyKind = "text"
	kindFlag     KeyKind = "flag"
	kindCount    KeyKind = "count"
	kindNumber   KeyKind = "number"
	kindDuration KeyKind = "duration"
	kindSize     KeyKind = "size"
	kindTexts    KeyKind = "texts"
	kindCounts   KeyKind = "counts"
	kindTable    KeyKind = "table"
	kindTables   KeyKind = "tables"
	kindAny      KeyKind = ""      // of several kinds
	kindLater    KeyKind = "later" // not supported yet
)

// Key is a key that a reader of a document asked for.
type Key struct {
	Path    string // as in At, with [] for every table of an array
	Kind    KeyKind
	Default any     // nil: none, or one that a document cannot express
	Least   float64 // bounds of counts and numbers
	Most    float64
}

// openRecorded is OpenTable with a record: once everything has been read, keys returns the
// requested keys. called maps a path to its name there; several paths may share one.
func openRecorded(name, text string, called func(path string) string) (t *Table, keys func() []Key, err error) {
	if t, err = OpenTable(name, text); err != nil {
		return nil, nil, err
	}
	t.asked = &[]Key{}
	return t, func() []Key { return merged(*t.asked, called) }, nil
}

// note records a requested key.
func (t *Table) note(key string, asked func() Key) {
	if t.asked != nil {
		k := asked()
		k.Path = everyTable(t.at(key))
		*t.asked = append(*t.asked, k)
	}
}

// everyTable removes the indexes of tables from a path.
func everyTable(path string) string {
	var b strings.Builder
	inside := false
	for _, r := range path {
		switch {
		case r == '[':
			inside = true
		case r == ']':
			inside = false
			b.WriteString("[]")
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// merged returns the keys in the order of their first request, each once. A key that was only
// tested for existence has the kind kindAny.
func merged(asked []Key, called func(string) string) []Key {
	var all []Key
	at := map[string]int{}
	for _, k := range asked {
		k.Path = called(k.Path)
		i, known := at[k.Path]
		switch {
		case !known:
			at[k.Path] = len(all)
			all = append(all, k)
		case all[i].Kind == kindAny || k.Kind == kindLater:
			all[i] = k
		}
	}
	kept := all[:0]
	for _, k := range all {
		if k.Kind != kindLater {
			kept = append(kept, k)
		}
	}
	return kept
}

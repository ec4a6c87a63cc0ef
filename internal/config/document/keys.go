package document

import "strings"

// Kind is what kind of value a key takes.
type Kind string

// The kinds of values.
const (
	KindText     Kind = "text"
	KindFlag     Kind = "flag"
	KindCount    Kind = "count"
	KindNumber   Kind = "number"
	KindDuration Kind = "duration"
	KindSize     Kind = "size"
	KindTexts    Kind = "texts"
	KindCounts   Kind = "counts"
	KindTable    Kind = "table"
	KindTables   Kind = "tables"
	KindAny      Kind = ""      // of several kinds
	kindLater    Kind = "later" // refused so far
)

// Key is one that a reader of a document asked for.
type Key struct {
	Path    string // as At has it, with [] for every table of an array
	Kind    Kind
	Default any     // nil: none, or one that a document cannot state
	Least   float64 // of counts and numbers
	Most    float64
}

// Recorded is Open for whoever wants to know what is asked for: keys gives that, once
// everything has been read. called is what a path is called there: several may be one.
func Recorded(name, text string, called func(path string) string) (t *Table, keys func() []Key, err error) {
	if t, err = Open(name, text); err != nil {
		return nil, nil, err
	}
	t.asked = &[]Key{}
	return t, func() []Key { return merged(*t.asked, called) }, nil
}

// note keeps what is asked for.
func (t *Table) note(key string, asked func() Key) {
	if t.asked != nil {
		k := asked()
		k.Path = everyTable(t.At(key))
		*t.asked = append(*t.asked, k)
	}
}

// everyTable is a path without the numbers of tables.
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

// merged are the keys, each once, in the order in which they were asked for first. One of
// which nothing more was asked than whether it is there is of any kind.
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
		case all[i].Kind == KindAny || k.Kind == kindLater:
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

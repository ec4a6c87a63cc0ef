package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// key is one row of a table of the config: its name, default, bounds and words. Reading, printing, the
// example, the schema and hints about misplaced keys are made of the rows.
type key struct {
	name string
	value
	words   string   // what it is
	sample  string   // the value in the example; empty: the default
	enum    []string // the texts that it accepts, if they are few
	musts   bool     // its table requires it
	boolean bool     // true and false are accepted beside a text
	hidden  bool     // not printed
}

// value is the destination of a key's value. A pass reads a row for each key of each repository, so
// a row is a single allocation.
type value interface {
	read(t *Table, name string)
	print() any
	form(s *jsonschema.Schema) // sets the type, and the bounds
}

func readKeys(t *Table, keys []key) {
	for _, k := range keys {
		k.read(t, k.name)
	}
}

// only prints the key only if a condition holds.
func (k key) only(holds bool) key {
	k.hidden = !holds
	return k
}

// says sets the words about a key.
func (k key) says(words string) key {
	k.words = words
	return k
}

// shown sets the value in the example.
func (k key) shown(sample string) key {
	k.sample = sample
	return k
}

// must has the table require the key.
func (k key) must() key {
	k.musts = true
	return k
}

// of sets the texts that a key accepts.
func of[T ~string](k key, choice ...T) key {
	for _, c := range choice {
		k.enum = append(k.enum, string(c))
	}
	return k
}

// orFlag accepts true and false, too.
func (k key) orFlag() key {
	k.boolean = true
	return k
}

type text[T ~string] struct {
	to       *T
	fallback T
}

func textKey[T ~string](name string, to *T, fallback T) key {
	return key{name: name, value: text[T]{to, fallback}}
}

func (v text[T]) read(t *Table, name string) { *v.to = T(t.text(name, string(v.fallback))) }
func (v text[T]) print() any                 { return string(*v.to) }
func (v text[T]) form(s *jsonschema.Schema)  { s.Type = "string" }

type flag struct {
	to       *bool
	fallback bool
}

func flagKey(name string, to *bool, fallback bool) key {
	return key{name: name, value: flag{to, fallback}}
}

func (v flag) read(t *Table, name string) { *v.to = t.flag(name, v.fallback) }
func (v flag) print() any                 { return *v.to }
func (v flag) form(s *jsonschema.Schema)  { s.Type = "boolean" }

type count[T ~int | ~int64] struct {
	to                    *T
	fallback, least, most int
}

func countKey[T ~int | ~int64](name string, to *T, fallback, least, most int) key {
	return key{name: name, value: count[T]{to, fallback, least, most}}
}

func (v count[T]) read(t *Table, name string) {
	*v.to = T(t.count(name, v.fallback, v.least, v.most))
}
func (v count[T]) print() any { return *v.to }
func (v count[T]) form(s *jsonschema.Schema) {
	s.Type, s.Minimum, s.Maximum = "integer", new(float64(v.least)), new(float64(v.most))
}

type number struct { // from 0
	to             *float64
	fallback, most float64
}

func numberKey(name string, to *float64, fallback, most float64) key {
	return key{name: name, value: number{to, fallback, most}}
}

func (v number) read(t *Table, name string) {
	*v.to = t.number(name, v.fallback, v.most)
}
func (v number) print() any { return *v.to }
func (v number) form(s *jsonschema.Schema) {
	s.Type, s.Minimum, s.Maximum = "number", new(0.0), &v.most
}

type duration struct {
	to              *time.Duration
	fallback, least time.Duration
}

func durationKey(name string, to *time.Duration, fallback, least time.Duration) key {
	return key{name: name, value: duration{to, fallback, least}}
}

func (v duration) read(t *Table, name string) {
	*v.to = t.duration(name, v.fallback, v.least)
}
func (v duration) print() any                { return short(*v.to) }
func (v duration) form(s *jsonschema.Schema) { s.Type, s.Pattern = "string", DurationForm }

type size struct {
	to              *int64
	fallback, least int64
}

func sizeKey(name string, to *int64, fallback, least int64) key {
	return key{name: name, value: size{to, fallback, least}}
}

func (v size) read(t *Table, name string) { *v.to = t.size(name, v.fallback, v.least) }
func (v size) print() any                 { return sizeText(*v.to) }
func (v size) form(s *jsonschema.Schema)  { s.Type, s.Pattern = "string", SizeForm }

type texts struct {
	to       *[]string
	fallback []string
}

func textsKey(name string, to *[]string) key { return key{name: name, value: texts{to: to}} }

// textsKeyOr is textsKey with a default: an empty list in the file means none.
func textsKeyOr(name string, to *[]string, fallback []string) key {
	return key{name: name, value: texts{to, fallback}}
}

func (v texts) read(t *Table, name string) {
	*v.to = v.fallback
	if v.fallback == nil || t.has(name) {
		*v.to = t.texts(name)
	} else {
		t.Get(name)
	}
}
func (v texts) print() any                { return orEmpty(*v.to) }
func (v texts) form(s *jsonschema.Schema) { ofTexts(s) }

func ofTexts(s *jsonschema.Schema) { s.Type, s.Items = "array", &jsonschema.Schema{Type: "string"} }

// own is the value of a key that needs its own functions to be read and printed.
type own struct {
	reads  func(*Table)
	prints func() any
}

func ownKey(name string, reads func(*Table), prints func() any) key {
	return key{name: name, value: own{reads, prints}}
}

func (v own) read(t *Table, _ string) { v.reads(t) }
func (v own) print() any              { return v.prints() }
func (v own) form(s *jsonschema.Schema) {
	if reflect.TypeOf(v.prints()).Kind() == reflect.Slice {
		ofTexts(s)
		return
	}
	s.Type = "string"
}

// orEmpty replaces a nil list, which TOML would omit, by an empty one.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// sizeText formats a size as in the config.
func sizeText(n int64) string {
	if n == 0 {
		return "0"
	}
	return strings.NewReplacer(" ", "", "bytes", "B").Replace(work.SizeText(n))
}

// short formats a duration for people: 30m, not 30m0s.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

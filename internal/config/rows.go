package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// key is one row of a table of the config: its name, how it is read, with default and bounds, and
// how it is printed. The schema is derived from what the rows read.
type key struct {
	name string
	value
	hidden bool // not printed
}

// value is the destination of a key's value. A pass reads a row for each key of each repository, so
// a row is a single allocation.
type value interface {
	read(t *Table, name string)
	print() any
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

type text[T ~string] struct {
	to       *T
	fallback T
}

func textKey[T ~string](name string, to *T, fallback T) key {
	return key{name: name, value: text[T]{to, fallback}}
}

func (v text[T]) read(t *Table, name string) { *v.to = T(t.text(name, string(v.fallback))) }
func (v text[T]) print() any                 { return string(*v.to) }

type flag struct {
	to       *bool
	fallback bool
}

func flagKey(name string, to *bool, fallback bool) key {
	return key{name: name, value: flag{to, fallback}}
}

func (v flag) read(t *Table, name string) { *v.to = t.flag(name, v.fallback) }
func (v flag) print() any                 { return *v.to }

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

type number struct {
	to                    *float64
	fallback, least, most float64
}

func numberKey(name string, to *float64, fallback, least, most float64) key {
	return key{name: name, value: number{to, fallback, least, most}}
}

func (v number) read(t *Table, name string) {
	*v.to = t.Number(name, v.fallback, v.least, v.most)
}
func (v number) print() any { return *v.to }

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
func (v duration) print() any { return short(*v.to) }

type size struct {
	to              *int64
	fallback, least int64
}

func sizeKey(name string, to *int64, fallback, least int64) key {
	return key{name: name, value: size{to, fallback, least}}
}

func (v size) read(t *Table, name string) { *v.to = t.size(name, v.fallback, v.least) }
func (v size) print() any                 { return sizeText(*v.to) }

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
func (v texts) print() any { return orEmpty(*v.to) }

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

package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// key is one row of a table of the config: what it is called, how it is read, with its default and
// its bounds, and how it is printed. The schema is made of what the rows read.
type key struct {
	name  string
	read  func(*document.Table)
	print func() any // nil from it: the key is not printed
}

func readKeys(t *document.Table, keys []key) {
	for _, k := range keys {
		k.read(t)
	}
}

func textKey[T ~string](name string, to *T, fallback T) key {
	return key{name, func(t *document.Table) { *to = T(t.Text(name, string(fallback))) }, func() any { return string(*to) }}
}

func flagKey(name string, to *bool, fallback bool) key {
	return key{name, func(t *document.Table) { *to = t.Flag(name, fallback) }, func() any { return *to }}
}

func countKey[T ~int | ~int64](name string, to *T, fallback, least, most int) key {
	return key{name, func(t *document.Table) { *to = T(t.Count(name, fallback, least, most)) }, func() any { return *to }}
}

func numberKey(name string, to *float64, fallback, least, most float64) key {
	return key{name, func(t *document.Table) { *to = t.Number(name, fallback, least, most) }, func() any { return *to }}
}

func durationKey(name string, to *time.Duration, fallback, least time.Duration) key {
	return key{name, func(t *document.Table) { *to = t.Duration(name, fallback, least) }, func() any { return short(*to) }}
}

func sizeKey(name string, to *int64, fallback, least int64) key {
	return key{name, func(t *document.Table) { *to = t.Size(name, fallback, least) }, func() any { return sizeText(*to) }}
}

func textsKey(name string, to *[]string) key {
	return key{name, func(t *document.Table) { *to = t.Texts(name) }, func() any { return orEmpty(*to) }}
}

// textsKeyOr is textsKey with a default: an empty list in the file is none.
func textsKeyOr(name string, to *[]string, fallback []string) key {
	return key{name, func(t *document.Table) {
		*to = fallback
		if _, written := t.Get(name); written {
			*to = t.Texts(name)
		}
	}, func() any { return orEmpty(*to) }}
}

// only is a key that is printed if a condition holds.
func (k key) only(holds bool) key {
	if !holds {
		k.print = func() any { return nil }
	}
	return k
}

// orEmpty makes TOML's [] of a nil list, which it would leave out.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// sizeText writes a size as the config reads it.
func sizeText(n int64) string {
	if n == 0 {
		return "0"
	}
	return strings.NewReplacer(" ", "", "bytes", "B").Replace(work.SizeText(n))
}

// short writes a duration as people do: 30m, not 30m0s.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

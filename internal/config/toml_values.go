package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// TypeName names a value's type for messages.
func TypeName(v any) string {
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

// Typed returns a key's value of one type, or fallback.
func Typed[T any](t *Table, key, want string, fallback T) (T, bool) {
	v, ok := t.Get(key)
	if !ok {
		return fallback, false
	}
	x, ok := v.(T)
	if !ok {
		t.Bad(key, "want %s, got %s", want, TypeName(v))
		return fallback, false
	}
	return x, true
}

// DurationForm and SizeForm are the regular expressions of durations and sizes in a document.
const (
	DurationForm = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`
	SizeForm     = `^(0|[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB))$`
)

// stated returns a default that a document can express; nil otherwise.
func stated(value any, can bool) any {
	if !can {
		return nil
	}
	return value
}

// shortDuration formats a duration for people: "10m", where Go writes "10m0s".
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// listKind returns the kind of a list of these values.
func listKind[T any]() KeyKind {
	var one T
	if _, is := any(one).(string); is {
		return KindTexts
	}
	return KindCounts
}

// Text returns a text.
func (t *Table) Text(key, fallback string) string {
	t.note(key, func() Key { return Key{Kind: KindText, Default: stated(fallback, fallback != "")} })
	s, _ := Typed(t, key, "text in quotes", fallback)
	return s
}

// Flag returns true or false.
func (t *Table) Flag(key string, fallback bool) bool {
	t.note(key, func() Key { return Key{Kind: KindFlag, Default: fallback} })
	b, _ := Typed(t, key, "true or false", fallback)
	return b
}

// Count returns a whole number from least to most.
func (t *Table) Count(key string, fallback, least, most int) int {
	t.note(key, func() Key { return Key{Kind: KindCount, Default: fallback, Least: float64(least), Most: float64(most)} })
	n, ok := Typed(t, key, "a whole number", int64(fallback))
	if ok && (n < int64(least) || n > int64(most)) {
		t.Bad(key, "want %d to %d, got %d", least, most, n)
		return fallback
	}
	return int(n)
}

// Number returns a number from least to most.
func (t *Table) Number(key string, fallback, least, most float64) float64 {
	t.note(key, func() Key { return Key{Kind: KindNumber, Default: fallback, Least: least, Most: most} })
	v, ok := t.Get(key)
	if !ok {
		return fallback
	}
	n, ok := v.(float64)
	if whole, isWhole := v.(int64); isWhole {
		n, ok = float64(whole), true
	}
	switch {
	case !ok:
		t.Bad(key, "want a number, got %s", TypeName(v))
	case !(n >= least && n <= most): // written so that NaN fails, too
		t.Bad(key, "want %g to %g, got %g", least, most, n)
	default:
		return n
	}
	return fallback
}

// Duration returns a duration such as "90s" or "30m", from least to a week.
func (t *Table) Duration(key string, fallback, least time.Duration) time.Duration {
	const most = 7 * 24 * time.Hour
	t.note(key, func() Key { return Key{Kind: KindDuration, Default: shortDuration(fallback)} })
	s, ok := Typed(t, key, `a time such as "90s" or "30m"`, "")
	if !ok {
		return fallback
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		t.Bad(key, `want a time such as "90s" or "30m", got %q`, s)
	case d < least || d > most:
		t.Bad(key, "want %s to %s, got %q", least, most, s)
	default:
		return d
	}
	return fallback
}

// ListOf returns a list of values of one type.
func ListOf[T any](t *Table, key, want string) []T {
	t.note(key, func() Key { return Key{Kind: listKind[T]()} })
	values, ok := Typed[[]any](t, key, "a list: ["+want+", …]", nil)
	if !ok {
		return nil
	}
	out := make([]T, 0, len(values))
	for i, v := range values {
		x, ok := v.(T)
		if !ok {
			t.Bad(key, "entry %d: want %s, got %s", i+1, want, TypeName(v))
			return nil
		}
		out = append(out, x)
	}
	return out
}

// Texts returns a list of texts.
func (t *Table) Texts(key string) []string { return ListOf[string](t, key, `"text"`) }

// units are the units of sizes, in bytes.
var units = map[string]float64{
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

var sizeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([KMGT]?i?B)$`) })

// Size returns a size such as "8GiB", of at least this many bytes. "0" means no limit.
func (t *Table) Size(key string, fallback, least int64) int64 {
	const (
		most = 1 << 50
		want = `a size such as "8GiB" or "512MiB", or "0" for no limit`
	)
	t.note(key, func() Key { return Key{Kind: KindSize, Default: strings.ReplaceAll(work.SizeText(fallback), " ", "")} })
	s, ok := Typed(t, key, want, "")
	if !ok {
		return fallback
	}
	if s == "0" {
		return 0
	}
	m := sizeForm().FindStringSubmatch(s)
	if m == nil || units[m[2]] == 0 {
		t.Bad(key, "want %s; got %q", want, s)
		return fallback
	}
	n, err := strconv.ParseFloat(m[1], 64)
	n *= units[m[2]]
	if err != nil || n > most {
		t.Bad(key, `want at most %s, or "0" for no limit; got %q`, work.SizeText(most), s)
		return fallback
	}
	if n < float64(least) {
		t.Bad(key, `want at least %s, or "0" for no limit; got %q`, work.SizeText(least), s)
		return fallback
	}
	return int64(n)
}

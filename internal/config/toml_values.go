package config

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// typeName names a value's type for messages.
func typeName(v any) string {
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

// typed returns a key's value of one type, or fallback.
func typed[T any](t *Table, key, want string, fallback T) (T, bool) {
	v, ok := t.Get(key)
	if !ok {
		return fallback, false
	}
	x, ok := v.(T)
	if !ok {
		t.bad(key, "want %s, got %s", want, typeName(v))
		return fallback, false
	}
	return x, true
}

// DurationForm and SizeForm are the regular expressions of durations and sizes in a document.
const (
	DurationForm = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`
	SizeForm     = `^(0|[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB))$`
)

// text returns a text.
func (t *Table) text(key, fallback string) string {
	s, _ := typed(t, key, "text in quotes", fallback)
	return s
}

// flag returns true or false.
func (t *Table) flag(key string, fallback bool) bool {
	b, _ := typed(t, key, "true or false", fallback)
	return b
}

// count returns a whole number from least to most.
func (t *Table) count(key string, fallback, least, most int) int {
	n, ok := typed(t, key, "a whole number", int64(fallback))
	if ok && (n < int64(least) || n > int64(most)) {
		t.bad(key, "want %d to %d, got %d", least, most, n)
		return fallback
	}
	return int(n)
}

// number returns a number from 0 to most.
func (t *Table) number(key string, fallback, most float64) float64 {
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
		t.bad(key, "want a number, got %s", typeName(v))
	case !(n >= 0 && n <= most): // written so that NaN fails, too
		text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) } // without an exponent
		t.bad(key, "want 0 to %s, got %s", text(most), text(n))
	default:
		return n
	}
	return fallback
}

// duration returns a duration such as "90s", "30m" or "24h", from least to a week.
func (t *Table) duration(key string, fallback, least time.Duration) time.Duration {
	const most = 7 * 24 * time.Hour
	s, ok := typed(t, key, `a time such as "90s", "30m" or "24h"`, "")
	if !ok {
		return fallback
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		t.bad(key, `want a time such as "90s", "30m" or "24h", got %q`, s)
	case d < least || d > most:
		t.bad(key, "want %s to %s, got %q", least, most, s)
	default:
		return d
	}
	return fallback
}

// texts returns a list of texts.
func (t *Table) texts(key string) []string {
	values, ok := typed[[]any](t, key, `a list: ["text", …]`, nil)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(values))
	for i, v := range values {
		x, ok := v.(string)
		if !ok {
			t.bad(key, `entry %d: want "text", got %s`, i+1, typeName(v))
			return nil
		}
		out = append(out, x)
	}
	return out
}

// units are the units of sizes, in bytes.
var units = map[string]float64{
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

var sizeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([KMGT]?i?B)$`) })

// size returns a size such as "8GiB", of at least this many bytes. "0" means no limit.
func (t *Table) size(key string, fallback, least int64) int64 {
	const (
		most = 1 << 50
		want = `a size such as "8GiB" or "512MiB", or "0" for no limit`
	)
	s, ok := typed(t, key, want, "")
	if !ok {
		return fallback
	}
	if s == "0" {
		return 0
	}
	m := sizeForm().FindStringSubmatch(s)
	if m == nil || units[m[2]] == 0 {
		t.bad(key, "want %s; got %q", want, s)
		return fallback
	}
	n, err := strconv.ParseFloat(m[1], 64)
	n *= units[m[2]]
	if err != nil || n > most {
		t.bad(key, `want at most %s, or "0" for no limit; got %q`, work.SizeText(most), s)
		return fallback
	}
	if n < float64(least) {
		t.bad(key, `want at least %s, or "0" for no limit; got %q`, work.SizeText(least), s)
		return fallback
	}
	return int64(n)
}

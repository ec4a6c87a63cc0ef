package config

import (
	"regexp"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What a run of an agent, or of the required tests, may take of the machine unless
// the config says otherwise.
const (
	defaultMaxMemory = 8 << 30
	leastMemory      = 64 << 20 // codex alone takes as much

	defaultMaxDisk = 10 << 30
	leastDisk      = 16 << 20
)

// units are those of sizes, in bytes.
var units = map[string]float64{
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([KMGT]?i?B)$`)

// size fetches a size such as "8GiB", of at least so many bytes. "0" is none.
func (t *table) size(key string, fallback, least int64) int64 {
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
	m := sizeForm.FindStringSubmatch(s)
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

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MissingError says that there is no config.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	begin := fmt.Sprintf(`gh mergexo config --example > "%s"`, e.Path)
	dir := filepath.Dir(e.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		begin = fmt.Sprintf(`mkdir -p "%s" && `, dir) + begin
	}
	return fmt.Sprintf(`no config at %s; to begin with one: %s (without one there is "gh mergexo demo")`, e.Path, begin)
}

// Problem is one thing that is wrong in a config.
type Problem struct {
	File string
	Line int // 0 when it concerns no line
	Text string
}

// String is the problem in one line, as editors read it: file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// InvalidError lists what is wrong in a config, one line each.
type InvalidError struct{ Problems []Problem }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Nearest is the candidate that a misspelt name most likely meant; empty when
// none is near.
func Nearest(name string, candidates []string) string {
	best, least := "", 1+max(1, len(name)/3)
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their
// neighbour to make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func meant(name string, candidates []string, form string) string {
	if n := Nearest(name, candidates); n != "" {
		return "; did you mean " + fmt.Sprintf(form, n) + "?"
	}
	return ""
}

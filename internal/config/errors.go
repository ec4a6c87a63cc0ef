package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// MissingError says that there is no config.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	begin := fmt.Sprintf(`gh mergexo config --example > "%s"`, e.Path)
	if dir := filepath.Dir(e.Path); !isFolder(dir) {
		begin = fmt.Sprintf(`mkdir -p "%s" && `, dir) + begin
	}
	return fmt.Sprintf(`no config at %s; to begin with one: %s (without one there is "gh mergexo demo")`, e.Path, begin)
}

// Problem is one thing that is wrong in a config.
type Problem struct {
	File string
	Line int // 0 when it concerns no line
	Text string

	absent string // the path of what is not there
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

func meant(name string, candidates []string, form string) string {
	if n := work.Nearest(name, candidates); n != "" {
		return "; did you mean " + fmt.Sprintf(form, n) + "?"
	}
	return ""
}

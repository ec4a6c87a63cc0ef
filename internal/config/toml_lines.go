package config

import (
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// lineIndex maps each key of a TOML document, by a path such as "repo[1].labels.design", to its
// line. The TOML library knows positions only of syntax errors. The library has already parsed the
// document, so this reader may be simple: it never fails, it only misses some lines.
type lineIndex map[string]int

// find returns the line of a path, or of the nearest table around it.
func (x lineIndex) find(path string) int {
	for path != "" {
		if n, ok := x[path]; ok {
			return n
		}
		if n, ok := x[path+"[0]"]; ok { // the first of an array of tables
			return n
		}
		i := strings.LastIndexAny(path, ".[")
		path = path[:max(i, 0)]
	}
	return 0
}

const (
	keyName = `(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)`
	keyPath = `(` + keyName + `(?:\s*\.\s*` + keyName + `)*)`
)

var (
	tableForm = lazy.Regexp(`^\s*(\[\[?)\s*` + keyPath + `\s*\]`)
	keyForm   = lazy.Regexp(`^\s*` + keyPath + `\s*=`)
	nameForm  = lazy.Regexp(keyName)
)

// indexLines reads where tables and keys begin, outside of texts of several lines.
func indexLines(doc string) lineIndex {
	index, arrays, table, inside := lineIndex{}, map[string]int{}, "", ""
	note := func(path string, line int) {
		if _, known := index[path]; !known {
			index[path] = line
		}
	}
	line := 0
	for text := range strings.Lines(doc) {
		line++
		if inside != "" {
			if strings.Contains(text, inside) {
				inside = ""
			}
			continue
		}
		if m := tableForm().FindStringSubmatch(text); m != nil {
			table = ""
			for parts := keyParts(m[2]); len(parts) > 0; parts = parts[1:] {
				table = join(table, parts[0])
				if m[1] == "[[" && len(parts) == 1 {
					arrays[table]++
				}
				if n := arrays[table]; n > 0 {
					table += "[" + strconv.Itoa(n-1) + "]"
				}
			}
			note(table, line)
		} else if m := keyForm().FindStringSubmatch(text); m != nil {
			path := table
			for _, part := range keyParts(m[1]) {
				path = join(path, part)
			}
			note(path, line)
		}
		for _, quotes := range []string{`"""`, "'''"} {
			if strings.Count(text, quotes)%2 == 1 {
				inside = quotes
			}
		}
	}
	return index
}

// keyParts splits a dotted key.
func keyParts(path string) (parts []string) {
	for _, part := range nameForm().FindAllString(path, -1) {
		parts = append(parts, strings.Trim(part, `"'`))
	}
	return parts
}

func join(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}

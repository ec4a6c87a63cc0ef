package config

import (
	"strconv"
	"strings"
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

// lineReader walks a document.
type lineReader struct {
	s      string
	pos    int
	line   int
	table  string         // path of the current table
	arrays map[string]int // number of tables so far in each array of tables
	index  lineIndex
}

func indexLines(doc string) lineIndex {
	r := lineReader{s: doc, line: 1, arrays: map[string]int{}, index: lineIndex{}}
	for r.pos < len(r.s) {
		r.statement()
	}
	return r.index
}

func (r *lineReader) peek() byte {
	if r.pos < len(r.s) {
		return r.s[r.pos]
	}
	return 0
}

func (r *lineReader) next() {
	if r.peek() == '\n' {
		r.line++
	}
	r.pos++
}

func (r *lineReader) blanks() {
	for c := r.peek(); c == ' ' || c == '\t' || c == '\r'; c = r.peek() {
		r.next()
	}
}

func (r *lineReader) restOfLine() {
	for r.pos < len(r.s) && r.peek() != '\n' {
		r.next()
	}
	r.next()
}

// statement reads one header, one key with its value, or an empty line.
func (r *lineReader) statement() {
	r.blanks()
	switch r.peek() {
	case '#', '\n', 0:
		r.restOfLine()
	case '[':
		r.header()
	default:
		line := r.line
		path := r.table
		for _, part := range r.key() {
			path = join(path, part)
		}
		r.note(path, line)
		r.value()
	}
}

func (r *lineReader) note(path string, line int) {
	if _, ok := r.index[path]; !ok {
		r.index[path] = line
	}
}

func (r *lineReader) header() {
	line := r.line
	r.next()
	array := r.peek() == '['
	if array {
		r.next()
	}
	parts := r.key()
	path := ""
	for i, part := range parts {
		path = join(path, part)
		if array && i == len(parts)-1 {
			r.arrays[path]++
		}
		if n := r.arrays[path]; n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
		}
	}
	r.table = path
	r.note(path, line)
	r.restOfLine()
}

// key reads a dotted key up to its "=" or "]".
func (r *lineReader) key() []string {
	var parts []string
	for {
		r.blanks()
		start := r.pos
		switch c := r.peek(); c {
		case '"', '\'':
			r.text(c)
			part := r.s[min(start+1, len(r.s)):max(min(r.pos, len(r.s))-1, min(start+1, len(r.s)))]
			if c == '"' {
				if s, err := strconv.Unquote(`"` + part + `"`); err == nil {
					part = s
				}
			}
			parts = append(parts, part)
		default:
			for r.pos < len(r.s) && !strings.ContainsRune(" \t\r\n.=]#\"'", rune(r.peek())) {
				r.next()
			}
			parts = append(parts, r.s[start:r.pos])
		}
		r.blanks()
		if r.peek() != '.' {
			return parts
		}
		r.next()
	}
}

// text skips a string of any kind, on one line or several.
func (r *lineReader) text(quote byte) {
	triple := strings.Repeat(string(quote), 3)
	if strings.HasPrefix(r.s[r.pos:], triple) {
		r.pos += 3
		for r.pos < len(r.s) && !strings.HasPrefix(r.s[r.pos:], triple) {
			r.escaped(quote)
		}
		r.pos = min(r.pos+3, len(r.s))
		for r.peek() == quote { // quotes before the closing ones
			r.pos++
		}
		return
	}
	for r.next(); r.pos < len(r.s) && r.peek() != quote && r.peek() != '\n'; {
		r.escaped(quote)
	}
	r.pos = min(r.pos+1, len(r.s))
}

// escaped skips one character of a string.
func (r *lineReader) escaped(quote byte) {
	if quote == '"' && r.peek() == '\\' {
		r.next()
	}
	r.next()
}

// value skips a value: to the end of its line, outside strings and brackets.
func (r *lineReader) value() {
	depth := 0
	for r.pos < len(r.s) {
		switch c := r.peek(); c {
		case '"', '\'':
			r.text(c)
			continue
		case '#':
			for r.pos < len(r.s) && r.peek() != '\n' {
				r.next()
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				r.next()
				return
			}
		}
		r.next()
	}
}

func join(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}

package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Front matter is YAML of which people and agents need little: keys, texts and lists. It is read by a
// reader of our own, because people could read the rest (tags, anchors, aliases, merges, texts over
// several lines) in two ways, and because libraries for all of YAML panic or take gigabytes for a few
// kilobytes of it. The reader's time and room grow with the length of the text.

// Bounds bound front matter.
type Bounds struct {
	Bytes   int
	Entries int // of one list or mapping
	Depth   int // of lists and mappings in one another
}

// Fault is why a document cannot be used as it is.
type Fault struct {
	Line int // from 1; 0: it is about no single line
	Says string
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.Says
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Says)
}

// Strings returns faults as texts.
func Strings(faults []Fault) []string {
	all := make([]string, 0, len(faults))
	for _, f := range faults {
		all = append(all, f.String())
	}
	return all
}

// Kind is the kind of a value.
type Kind int

// The kinds of a value.
const (
	Empty Kind = iota
	Text
	List
	Mapping
)

func (k Kind) String() string { return [...]string{"empty", "a text", "a list", "a mapping"}[k] }

// Value is a value of front matter.
type Value struct {
	Kind Kind
	Line int // of the document
	Text string
	List []Value
	Keys []Key
}

// Key is a key of a mapping.
type Key struct {
	Name  string
	Line  int
	Value Value
}

// firstOfFront is the document's line on which its front matter begins.
const firstOfFront = 2

// ReadFront reads front matter as Front returns it. It stops at the first fault.
func ReadFront(head string, b Bounds) (v Value, fault *Fault) {
	if len(head) > b.Bytes {
		return v, &Fault{1, fmt.Sprintf("its front matter has %d bytes; at most %d are read", len(head), b.Bytes)}
	}
	p := &front{bounds: b}
	defer func() {
		switch found := recover().(type) {
		case nil:
		case *Fault:
			v, fault = Value{}, found
		default:
			panic(found)
		}
	}()
	p.split(head)
	if len(p.rows) == 0 {
		return Value{Line: firstOfFront}, nil
	}
	v = p.block(1)
	if p.at < len(p.rows) {
		p.fail("it belongs to nothing above it")
	}
	return v, nil
}

// row is a line that is neither empty nor a remark.
type row struct {
	line, indent int
	text         string // from the indent on
	whole        string
}

// front reads the rows in order. A fault ends it by a panic that ReadFront takes.
type front struct {
	bounds Bounds
	rows   []row
	at     int // row that is read
}

func (p *front) split(head string) {
	for i, line := range strings.Split(head, "\n") {
		r := row{line: i + firstOfFront, text: strings.TrimLeft(line, " ")}
		r.indent, r.whole = len(line)-len(r.text), line
		p.rows, p.at = append(p.rows, r), len(p.rows)
		switch {
		case strings.HasPrefix(r.text, "\t"):
			p.fail("it begins with a tab; YAML takes spaces only")
		case strings.ContainsFunc(r.text, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }):
			p.fail("it has a control character")
		case !utf8.ValidString(r.text):
			p.fail("it is not valid UTF-8")
		case strings.TrimSpace(r.text) == "", r.text[0] == '#':
			p.rows = p.rows[:p.at]
		}
	}
	p.at = 0
}

// fail ends the reading with a fault of the row that is read, or of the last one, which it quotes.
func (p *front) fail(format string, args ...any) {
	r := p.rows[min(p.at, len(p.rows)-1)]
	panic(&Fault{r.line, fmt.Sprintf(format, args...) + ": " + shown(r.whole)})
}

// deeper checks a depth.
func (p *front) deeper(depth int) {
	if depth > p.bounds.Depth {
		p.fail("lists or mappings are nested more than %d deep", p.bounds.Depth)
	}
}

// full checks the number of entries of a list or mapping that gets another one.
func (p *front) full(n int) {
	if n >= p.bounds.Entries {
		p.fail("a list or mapping has more than %d entries", p.bounds.Entries)
	}
}

// block reads the list, mapping or value that begins at the present row. depth is what it has if it
// is a list or mapping.
func (p *front) block(depth int) Value {
	r := p.rows[p.at]
	switch {
	case isEntry(r.text):
		return p.list(r.indent, depth)
	case p.isKey(r.text):
		return p.mapping(r.indent, depth)
	}
	return p.value(r.text, depth)
}

// isEntry reports whether a row begins an entry of a list.
func isEntry(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

// isKey reports whether a row begins with a key.
func (p *front) isKey(text string) bool {
	switch text[0] {
	case '[', '{':
		return false
	case '?', '%', '!', '&', '*', '|', '>', '@', '`':
		p.refuse(text)
	}
	_, _, ok := p.key(text)
	return ok
}

// key splits a row after its key's colon.
func (p *front) key(text string) (name, rest string, ok bool) {
	if text[0] == '"' || text[0] == '\'' {
		name, rest = p.quoted(text)
		rest = strings.TrimLeft(rest, " \t")
	} else {
		at := colon(text)
		if at < 0 || remark(text[:at]) < at {
			return "", "", false
		}
		name, rest = strings.TrimRight(text[:at], " \t"), text[at:]
	}
	if rest == "" || rest[0] != ':' || len(rest) > 1 && rest[1] != ' ' && rest[1] != '\t' {
		return "", "", false
	}
	return name, strings.TrimLeft(rest[1:], " \t"), true
}

// colon returns where a colon ends a key; -1: nowhere.
func colon(text string) int {
	for i := range len(text) {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			return i
		}
	}
	return -1
}

// remark returns where a remark begins in a text; its length: nowhere.
func remark(text string) int {
	for i := range len(text) {
		if text[i] == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			return i
		}
	}
	return len(text)
}

func (p *front) list(indent, depth int) Value {
	p.deeper(depth)
	v := Value{Kind: List, Line: p.rows[p.at].line}
	for p.at < len(p.rows) && p.rows[p.at].indent == indent && isEntry(p.rows[p.at].text) {
		p.full(len(v.List))
		r := &p.rows[p.at]
		rest := strings.TrimLeft(r.text[1:], " \t")
		line := r.line
		if rest == "" || rest[0] == '#' {
			p.at++
			v.List = append(v.List, p.below(indent, line, depth, false))
			continue
		}
		r.indent, r.text = r.indent+len(r.text)-len(rest), rest // a list or mapping may begin there
		v.List = append(v.List, p.block(depth+1))
	}
	p.ended(indent)
	return v
}

func (p *front) mapping(indent, depth int) Value {
	p.deeper(depth)
	v := Value{Kind: Mapping, Line: p.rows[p.at].line}
	lines := map[string]int{}
	for p.at < len(p.rows) && p.rows[p.at].indent == indent && !isEntry(p.rows[p.at].text) {
		r := p.rows[p.at]
		if !p.isKey(r.text) {
			p.fail("it is neither a key with a value nor an entry of a list")
		}
		name, rest, _ := p.key(r.text)
		p.unique(lines, name, r.line)
		p.full(len(v.Keys))
		k := Key{Name: name, Line: r.line}
		if rest == "" || rest[0] == '#' {
			p.at++
			k.Value = p.below(indent, r.line, depth, true)
		} else {
			if isEntry(rest) {
				p.fail("a list begins on the line of its key")
			}
			k.Value = p.value(rest, depth+1)
		}
		v.Keys = append(v.Keys, k)
	}
	p.ended(indent)
	return v
}

// unique refuses a key that a mapping has already, and one that merges another mapping.
func (p *front) unique(lines map[string]int, name string, line int) {
	if name == "<<" {
		p.fail("it merges another mapping with <<; write its keys out")
	}
	if first, twice := lines[name]; twice {
		p.fail("it has the key %s twice, first on line %d", shown(name), first)
	}
	lines[name] = line
}

// below reads what an entry or key has on the rows below it. A list may stand right below its key.
func (p *front) below(indent, line, depth int, ofKey bool) Value {
	if p.at < len(p.rows) {
		if r := p.rows[p.at]; r.indent > indent || ofKey && r.indent == indent && isEntry(r.text) {
			return p.block(depth + 1)
		}
	}
	return Value{Line: line}
}

// ended checks that the next row belongs to what is above it.
func (p *front) ended(indent int) {
	if p.at < len(p.rows) && p.rows[p.at].indent > indent {
		p.fail("it is indented unlike the lines above it")
	}
}

// value reads a value that begins in the present row, up to the end of its last row.
func (p *front) value(text string, depth int) (v Value) {
	line := p.rows[p.at].line
	switch text[0] {
	case '[', '{':
		p.rows[p.at].text = text
		v = p.flow(depth)
		if rest := p.rows[p.at].text; remark(rest) > len(rest)-len(strings.TrimLeft(rest, " \t")) {
			p.fail("something stands behind a list or mapping")
		}
	case '"', '\'':
		said, rest := p.quoted(text)
		if trimmed := strings.TrimLeft(rest, " \t"); trimmed != "" && (trimmed == rest || trimmed[0] != '#') {
			p.fail("something stands behind a text in quotes")
		}
		v = Value{Kind: Text, Text: said}
	default:
		p.refuse(text)
		text = strings.TrimRight(text[:remark(text)], " \t")
		if colon(text) >= 0 {
			p.fail("its text has a colon; write the text in quotes")
		}
		v = plain(text)
	}
	v.Line = line
	p.at++
	return v
}

// refuse fails at what begins a value that is not read.
func (p *front) refuse(text string) {
	what := ""
	switch text[0] {
	case '!':
		what = "a YAML tag (!)"
	case '&':
		what = "a YAML anchor (&)"
	case '*':
		what = "a YAML alias (*)"
	case '|', '>':
		what = "a text over several lines (" + text[:1] + ")"
	case '%', '@', '`', ']', '}', ',':
		what = "the sign " + text[:1]
	case '?':
		if len(text) > 1 && text[1] != ' ' && text[1] != '\t' {
			return
		}
		what = "the sign ?"
	default:
		return
	}
	p.fail("a value or key begins with %s; write the text in quotes, on one line", what)
}

// plain is a text without quotes.
func plain(text string) Value {
	if slices.Contains([]string{"", "~", "null", "Null", "NULL"}, text) {
		return Value{}
	}
	return Value{Kind: Text, Text: text}
}

// flow reads a list in [] or a mapping in {}, which may go on in the rows below, and leaves in the
// present row what follows it.
func (p *front) flow(depth int) Value {
	p.deeper(depth)
	v := Value{Kind: List, Line: p.rows[p.at].line}
	end := byte(']')
	if p.rows[p.at].text[0] == '{' {
		v.Kind, end = Mapping, '}'
	}
	lines := map[string]int{}
	p.skip(1)
	for {
		if p.next() == end {
			p.skip(1)
			return v
		}
		k := Key{Line: p.rows[p.at].line}
		if v.Kind == Mapping {
			p.full(len(v.Keys))
			k.Name = p.flowKey()
			p.unique(lines, k.Name, k.Line)
			if p.next() == ',' || p.next() == end {
				k.Value = Value{Line: k.Line}
			} else {
				k.Value = p.flowValue(depth)
			}
			v.Keys = append(v.Keys, k)
		} else {
			p.full(len(v.List))
			v.List = append(v.List, p.flowValue(depth))
		}
		switch p.next() {
		case ',':
			p.skip(1)
		case end:
		default:
			p.fail("a comma or %c is missing", end)
		}
	}
}

// skip takes bytes off the present row.
func (p *front) skip(n int) { p.rows[p.at].text = p.rows[p.at].text[n:] }

// next returns the first byte of what follows inside of brackets.
func (p *front) next() byte {
	for {
		text := strings.TrimLeft(p.rows[p.at].text, " \t")
		before := len(p.rows[p.at].text) - len(text)
		if text != "" && (text[0] != '#' || before == 0) {
			p.rows[p.at].text = text
			return text[0]
		}
		if p.at++; p.at == len(p.rows) {
			p.fail("its front matter is no YAML: a list or mapping in brackets does not end")
		}
	}
}

func (p *front) flowValue(depth int) (v Value) {
	line := p.rows[p.at].line
	switch c := p.next(); c {
	case '[', '{':
		v = p.flow(depth + 1)
	case '"', '\'':
		v = Value{Kind: Text}
		v.Text, p.rows[p.at].text = p.quoted(p.rows[p.at].text)
	default:
		v = plain(p.flowPlain())
	}
	v.Line = line
	return v
}

// flowKey reads a key inside of braces, with its colon.
func (p *front) flowKey() (name string) {
	if c := p.next(); c == '"' || c == '\'' {
		name, p.rows[p.at].text = p.quoted(p.rows[p.at].text)
	} else {
		name = p.flowPlain()
	}
	if p.next() != ':' {
		p.fail("a key has no colon")
	}
	p.skip(1)
	return name
}

// flowPlain reads a text without quotes inside of brackets.
func (p *front) flowPlain() string {
	text := p.rows[p.at].text
	p.refuse(text)
	if isEntry(text) {
		p.fail("a list with - is inside of brackets")
	}
	end := 0
	for ; end < len(text) && !strings.ContainsRune(",[]{}", rune(text[end])); end++ {
		blank := end+1 == len(text) || strings.ContainsRune(" \t,[]{}", rune(text[end+1]))
		if text[end] == ':' && blank || text[end] == '#' && end > 0 && strings.ContainsRune(" \t", rune(text[end-1])) {
			break
		}
	}
	p.skip(end)
	return strings.TrimRight(text[:end], " \t")
}

// quoted reads a text in quotes, and returns what follows it in its row.
func (p *front) quoted(text string) (said, rest string) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' && text[0] == '\'' && i+1 < len(text) && text[i+1] == '\'':
			b.WriteByte(c)
			i++
		case c == text[0]:
			return b.String(), text[i+1:]
		case c == '\\' && text[0] == '"':
			i += p.escaped(&b, text[i+1:])
		default:
			b.WriteByte(c)
		}
	}
	p.fail("a text in quotes does not end on its line")
	return "", ""
}

// escapes are what a backslash and one character stand for in double quotes.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b", ' ': " ", '"': `"`, '/': "/", '\\': `\`,
	'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escaped writes what stands behind a backslash, and returns its length.
func (p *front) escaped(b *strings.Builder, text string) int {
	if text != "" {
		if said, ok := escapes[text[0]]; ok {
			b.WriteString(said)
			return 1
		}
		if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]; digits > 0 && len(text) > digits {
			if n, err := strconv.ParseUint(text[1:1+digits], 16, 32); err == nil && n <= unicode.MaxRune && utf8.ValidRune(rune(n)) {
				b.WriteRune(rune(n))
				return 1 + digits
			}
		}
	}
	p.fail("a backslash in double quotes begins nothing that YAML knows")
	return 0
}

// maxShown is the longest text that a fault quotes, in characters.
const maxShown = 120

// shown quotes a text in one line. It cuts none: of a cut token nobody would see that it is one.
func shown(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if n := utf8.RuneCountInString(s); n > maxShown {
		return fmt.Sprintf("a text of %d characters", n)
	}
	return strconv.Quote(s)
}

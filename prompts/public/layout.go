package public

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// mdLine is a line of Markdown as GitHub will take it.
type mdLine struct {
	text   string
	start  int  // where its content begins, behind indentation, list markers and quote marks
	code   bool // of a fenced code block, its fences included
	bare   bool // in no list and no quote, and not indented
	parted bool // in a quote, or deep enough for an indented code block: it may be a world of its own
}

// layout finds the fenced code blocks of Markdown, and makes certain what is
// not. A fence that only some readings would see is made text, one that a
// list's end would close is closed, and one that a block of HTML would swallow
// gets a blank line before it. So the lines that come out as code are code for
// every reader, and nothing is left open.
type layout struct {
	out    []mdLine
	fence  string // the fence that is open, such as "```"
	indent int    // its indentation
	items  []int  // where the contents of the list items begin that surely are open
	fresh  bool   // no paragraph is open
	html   bool   // in what may be a block of HTML, which a blank line ends
}

var (
	containers = lazy.Regexp(`^(?:[ \t]+|>|(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$))*`)
	listMark   = lazy.Regexp(`^([-*+]|[0-9]{1,9}[.)])( *)`)
	fenceMark  = lazy.Regexp("^(?:(`{3,})[^`]*|(~{3,}).*)$")
	breakLine  = lazy.Regexp(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,})$`)
	tagStart   = lazy.Regexp(`^<[A-Za-z/!?]`)
)

// laidOut makes lines of Markdown; joined by line feeds they are the text.
func laidOut(s string) []mdLine {
	l := layout{fresh: true}
	for line := range strings.SplitSeq(s, "\n") {
		l.line(line)
	}
	if l.fence != "" {
		l.endFence(l.fence)
	}
	return l.out
}

func (l *layout) line(line string) {
	blank := strings.Trim(line, " \t") == ""
	if l.fence != "" && l.inFence(line, blank) {
		return
	}
	if blank {
		l.blank(line)
		return
	}
	prefix := containers().FindString(line)
	rest := line[len(prefix):]
	prefix = spaced(prefix)
	fence := fenceOf(rest)
	if fence != "" && l.html {
		l.blank("")
	}
	at := mdLine{start: len(prefix)}
	surely := l.enter(prefix, rest, &at)
	switch {
	case fence == "" || strings.Contains(prefix, ">"):
	case surely:
		at.text, at.code = prefix+rest, true
		l.out = append(l.out, at)
		l.fence, l.indent = fence, len(prefix)
		return
	default:
		rest = zeroWidth + rest
	}
	l.html = l.html || tagStart().MatchString(rest)
	l.fresh = false
	at.text = prefix + rest
	l.out = append(l.out, at)
}

func (l *layout) blank(line string) {
	l.out = append(l.out, mdLine{text: line, start: len(line)})
	l.fresh, l.html = true, false
}

// inFence takes a line of the open code block. It reports whether the line was
// one: what stands further left than the fence ends it, as it does in a list.
func (l *layout) inFence(line string, blank bool) bool {
	indent := strings.TrimLeft(line, " \t")
	column := len(spaced(line[:len(line)-len(indent)]))
	end := strings.TrimRight(indent, " \t")
	switch {
	case column <= l.indent+3 && strings.HasPrefix(end, l.fence) && strings.Trim(end, l.fence[:1]) == "":
		l.endFence(end)
	case blank || column >= l.indent:
		l.out = append(l.out, mdLine{text: line, code: true})
	default:
		l.endFence(l.fence)
		return false
	}
	return true
}

func (l *layout) endFence(fence string) {
	l.out = append(l.out, mdLine{text: strings.Repeat(" ", l.indent) + fence, code: true})
	l.fence, l.fresh, l.html = "", true, false
}

// enter follows a line into the list items that it stands in or begins. It
// reports whether a fence behind the prefix surely opens a code block.
func (l *layout) enter(prefix, rest string, at *mdLine) bool {
	indent := len(prefix) - len(strings.TrimLeft(prefix, " "))
	left := l.leave(indent)
	depth := indent - l.inner()
	at.parted = depth > 3 || strings.Contains(prefix, ">")
	at.bare = indent == len(prefix) && indent <= 3 && len(l.items) == 0
	if strings.Contains(prefix, ">") {
		return false
	}
	if indent == len(prefix) {
		return indent <= 3 || len(l.items) > 0 && depth <= 3
	}
	surely := !l.html && rest != ""
	for pos := indent; pos < len(prefix); {
		m := listMark().FindStringSubmatch(prefix[pos:])
		if m == nil {
			return false
		}
		at.parted = at.parted || len(m[2]) > 4
		opens := pos > indent || l.fresh || left || len(m[1]) == 1 || m[1][:len(m[1])-1] == "1"
		surely = surely && opens && pos-l.inner() <= 3 && len(m[2]) <= 4 && !breakLine().MatchString(prefix[pos:]+rest)
		pos += len(m[0])
		if surely {
			l.items = append(l.items, pos)
		}
	}
	return surely
}

// leave ends the items whose contents begin behind a column, and reports whether
// there was one.
func (l *layout) leave(column int) bool {
	n := len(l.items)
	for len(l.items) > 0 && l.inner() > column {
		l.items = l.items[:len(l.items)-1]
	}
	return len(l.items) < n
}

// inner is where the contents of the innermost item begin.
func (l *layout) inner() int {
	if len(l.items) == 0 {
		return 0
	}
	return l.items[len(l.items)-1]
}

// fenceOf is the fence that a line's content begins with, if it does.
func fenceOf(rest string) string {
	m := fenceMark().FindStringSubmatch(rest)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// spaced writes tabs as spaces up to the next of the stops, four columns apart.
func spaced(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if c != '\t' {
			b.WriteByte(c)
			continue
		}
		b.WriteString("    "[b.Len()%4:])
	}
	return b.String()
}

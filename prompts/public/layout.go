package public

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// mdLine is a line of Markdown as GitHub will parse it.
type mdLine struct {
	text   string
	start  int  // where its content begins, after indentation, list markers and quote marks
	code   bool // in a fenced code block, fences included
	bare   bool // in no list and no quote, and not indented
	parted bool // in a quote, or deep enough for an indented code block: possibly a separate block
}

// layout finds the fenced code blocks of Markdown and removes ambiguity. A fence that only some
// parsers would see becomes text, one that a list's end would close is closed, and one that an HTML
// block would swallow gets a blank line before it. So the lines marked as code are code for every
// parser, and no block is left open.
type layout struct {
	out    []mdLine
	fence  string // the open fence, such as "```"
	indent int    // its indentation
	items  []int  // content columns of the list items that are certainly open
	fresh  bool   // no paragraph is open
	html   bool   // possibly in an HTML block, which a blank line ends
}

var (
	containers = lazy.Regexp(`^(?:[ \t]+|>|(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$))*`)
	listMark   = lazy.Regexp(`^([-*+]|[0-9]{1,9}[.)])( *)`)
	fenceMark  = lazy.Regexp("^(?:(`{3,})[^`]*|(~{3,}).*)$")
	breakLine  = lazy.Regexp(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,})$`)
	tagStart   = lazy.Regexp(`^<[A-Za-z/!?]`)
)

// laidOut splits Markdown into lines; joined by newlines they are the text.
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

// inFence takes a line of the open code block. It reports whether the line belongs to it: a line
// left of the fence ends it, as in a list.
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

// enter follows a line into the list items that contain it or begin there. It reports whether a
// fence after the prefix certainly opens a code block.
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

// leave ends the items whose content begins right of a column, and reports whether there was one.
func (l *layout) leave(column int) bool {
	n := len(l.items)
	for len(l.items) > 0 && l.inner() > column {
		l.items = l.items[:len(l.items)-1]
	}
	return len(l.items) < n
}

// inner is the column at which the content of the innermost item begins.
func (l *layout) inner() int {
	if len(l.items) == 0 {
		return 0
	}
	return l.items[len(l.items)-1]
}

// fenceOf returns the fence with which a line's content begins, or "".
func fenceOf(rest string) string {
	m := fenceMark().FindStringSubmatch(rest)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// spaced replaces tabs by spaces, with tab stops every four columns.
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

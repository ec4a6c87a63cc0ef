package prompts

import (
	"regexp"
	"strings"
)

// span says what GitHub does with a piece of Markdown.
type span int

const (
	spanText     span = iota // mentions and commands have effect here
	spanCode                 // shown as it is
	spanComment              // an HTML comment: not shown
	spanUnclosed             // all that stands after a comment that never ends: not shown
)

// segment is a piece of Markdown of one kind.
type segment struct {
	text string
	kind span
}

// segments splits Markdown into text, code and comments. It is no Markdown
// parser: what is not surely code is text, because text is the side on which
// we neutralise. The segments joined are the input, and the work is linear.
func segments(s string) []segment {
	p := splitter{rest: s}
	for p.rest != "" {
		p.line()
	}
	return p.out
}

// splitter holds what the lines before say about the next one.
type splitter struct {
	rest string
	out  []segment

	fence   string // the fence that is open, such as "```"
	list    int    // indentation of the content of the list item that we are in
	html    bool   // in an HTML block: no Markdown until a blank line
	forever bool   // in an HTML block that a blank line does not end
	angle   bool   // a tag may be open in this paragraph: backticks may be its attribute's
	noClose bool   // no "-->" is left in this paragraph
}

var (
	fenceLine = regexp.MustCompile("^( *)(`{3,}|~{3,})(.*)$")
	listLine  = regexp.MustCompile(`^( *)([-*+]|[0-9]{1,9}[.)])( +)\S`)
	rawLine   = regexp.MustCompile(`(?i)^ *<(script|pre|style|textarea|\?|![A-Z\[])`)
	tagLine   = regexp.MustCompile(`^ *</?[A-Za-z]`)
)

const commentOpen = "<!--"

// take moves n bytes of the rest to the output.
func (p *splitter) take(n int, kind span) {
	if n == 0 {
		return
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	if last := len(p.out) - 1; last >= 0 && p.out[last].kind == kind && kind != spanComment {
		text = p.out[last].text + text
		p.out = p.out[:last]
	}
	p.out = append(p.out, segment{text, kind})
}

// lineLength is the length of the rest's first line with its line feed.
func (p *splitter) lineLength() int {
	if i := strings.IndexByte(p.rest, '\n'); i >= 0 {
		return i + 1
	}
	return len(p.rest)
}

func (p *splitter) line() {
	n := p.lineLength()
	bare := strings.TrimRight(p.rest[:n], "\n")
	blank := strings.TrimSpace(bare) == ""
	indent := len(bare) - len(strings.TrimLeft(bare, " "))
	switch {
	case p.fence != "" && (blank || indent >= p.list):
		p.take(n, spanCode)
		p.close(bare, indent)
		return
	case blank:
		p.html, p.angle, p.noClose = p.forever, p.forever, false
		p.take(n, spanText)
		return
	}
	p.fence = "" // the list item that held it has ended
	if indent < p.list {
		p.list = 0
	}
	if p.opens(bare, indent) {
		p.take(n, spanCode)
		return
	}
	if m := listLine.FindStringSubmatch(bare); m != nil && indent <= p.list+3 {
		p.list = len(m[1]) + len(m[2]) + len(m[3])
	}
	p.html = p.html || tagLine.MatchString(bare)
	p.forever = p.forever || rawLine.MatchString(bare)
	p.inline(strings.HasPrefix(bare[indent:], commentOpen))
}

// opens reports whether the line opens a fenced code block, and notes it.
func (p *splitter) opens(bare string, indent int) bool {
	m := fenceLine.FindStringSubmatch(bare)
	if m == nil || p.html || p.forever || indent < p.list || indent > p.list+3 {
		return false
	}
	if m[2][0] == '`' && strings.Contains(m[3], "`") {
		return false // an inline span that begins a line
	}
	p.fence, p.angle = m[2], false
	return true
}

// close ends the open fence if the line is its end.
func (p *splitter) close(bare string, indent int) {
	m := fenceLine.FindStringSubmatch(bare)
	if m != nil && indent <= p.list+3 && strings.HasPrefix(m[2], p.fence) && strings.TrimSpace(m[3]) == "" {
		p.fence = ""
	}
}

// inline splits one line outside fenced code at its code spans and comments. A
// code span counts when it ends on its line and no HTML tag can have begun
// before it. block says that the line begins with a comment, which then is an
// HTML block and may hold blank lines.
func (p *splitter) inline(block bool) {
	i, end := 0, p.lineLength()
	for i < end {
		switch {
		case p.rest[i] == '\\':
			i = min(i+2, end)
		case p.rest[i] == '`':
			n := runLength(p.rest[i:end])
			length := -1
			if !p.html && !p.forever && !p.angle {
				length = closingRun(p.rest[i+n:end], n)
			}
			if i += n; length >= 0 {
				p.take(i-n, spanText)
				p.take(n+length, spanCode)
				i, end = 0, p.lineLength()
				if p.ended() {
					return
				}
			}
		case p.rest[i] == '<' && strings.HasPrefix(p.rest[i:], commentOpen):
			if n, kind := p.comment(i, block); n > 0 {
				p.take(i, spanText)
				p.take(n, kind)
				i, end = 0, p.lineLength()
				if p.ended() {
					return
				}
			} else {
				i += len(commentOpen)
			}
		default:
			p.angle = p.angle || p.rest[i] == '<' && i+1 < end && tagByte(p.rest[i+1])
			i++
		}
	}
	p.take(end, spanText)
}

// ended reports whether what was taken last ended the line.
func (p *splitter) ended() bool {
	return p.rest == "" || strings.HasSuffix(p.out[len(p.out)-1].text, "\n")
}

// comment measures the comment at i of the rest; 0 when GitHub shows it as
// text because it does not end within its paragraph.
func (p *splitter) comment(i int, block bool) (int, span) {
	s := p.rest[i:]
	if block && strings.TrimLeft(p.rest[:i], " ") == "" {
		if n := commentEnd(s); n > 0 {
			return n, spanComment
		}
		return len(s), spanUnclosed
	}
	if p.noClose {
		return 0, spanText
	}
	if gap := strings.Index(s, "\n\n"); gap >= 0 {
		s = s[:gap]
	}
	n := commentEnd(s)
	p.noClose = n == 0
	return n, spanComment
}

// commentEnd is the length of the comment that s begins with; 0 when it is
// never closed. HTML lets "<!-->" and "<!--->" be whole comments.
func commentEnd(s string) int {
	for _, short := range []string{"<!-->", "<!--->"} {
		if strings.HasPrefix(s, short) {
			return len(short)
		}
	}
	if i := strings.Index(s[len(commentOpen):], "-->"); i >= 0 {
		return len(commentOpen) + i + len("-->")
	}
	return 0
}

func tagByte(c byte) bool {
	return c == '/' || c == '!' || c == '?' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// runLength counts the backticks at the beginning of s.
func runLength(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// closingRun finds the end of a run of exactly n backticks; -1 when there is none.
func closingRun(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := runLength(s[i:])
		if i += run; run == n {
			return i
		}
	}
	return -1
}

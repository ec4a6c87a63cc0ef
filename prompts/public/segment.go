package public

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// span is how GitHub treats a piece of Markdown.
type span int

const (
	spanText     span = iota // mentions and commands take effect
	spanCode                 // shown literally
	spanComment              // an HTML comment: not shown
	spanUnclosed             // everything after an unclosed comment: not shown
)

// segment is a piece of Markdown of one kind.
type segment struct {
	text string
	kind span
}

// segments splits Markdown into text, code and comments. It is not a Markdown parser: uncertain
// code is text, because text gets neutralised. The joined segments equal the input, and the time is
// linear.
func segments(s string) []segment {
	p := splitter{src: s}
	for p.pos < len(p.src) {
		p.line()
	}
	return p.out
}

// splitter holds the state that earlier lines leave for the next one.
type splitter struct {
	src   string
	pos   int // everything before it is split
	start int // where the last segment begins
	out   []segment

	fence     string // the open fence, such as "```"
	list      int    // content column of the current list item
	html      bool   // in an HTML block: no Markdown until a blank line
	forever   bool   // in an HTML block that a blank line does not end
	angle     bool   // a tag may be open in this paragraph: backticks may be part of its attribute
	noClose   bool   // this paragraph has no further "-->"
	paragraph int    // where the paragraph ends, if after pos
}

var (
	fenceLine = lazy.Regexp("^( *)(`{3,}|~{3,})(.*)$")
	listLine  = lazy.Regexp(`^( *)([-*+]|[0-9]{1,9}[.)])( +)\S`)
	rawLine   = lazy.Regexp(`(?i)^ *<(script|pre|style|textarea|\?|![A-Z\[])`)
	tagLine   = lazy.Regexp(`^ *</?[A-Za-z]`)
)

const commentOpen = "<!--"

// take makes a segment of the text before end.
func (p *splitter) take(end int, kind span) {
	if end == p.pos {
		return
	}
	last := len(p.out) - 1
	if last >= 0 && p.out[last].kind == kind && kind != spanComment {
		p.out[last].text = p.src[p.start:end]
	} else {
		p.start = p.pos
		p.out = append(p.out, segment{p.src[p.pos:end], kind})
	}
	p.pos = end
}

// lineEnd is the end of the line at pos, after its newline.
func (p *splitter) lineEnd(pos int) int {
	if i := strings.IndexByte(p.src[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(p.src)
}

func (p *splitter) line() {
	end := p.lineEnd(p.pos)
	bare := strings.TrimRight(p.src[p.pos:end], "\n")
	blank := strings.TrimSpace(bare) == ""
	indent := len(bare) - len(strings.TrimLeft(bare, " "))
	switch {
	case p.fence != "" && (blank || indent >= p.list):
		p.take(end, spanCode)
		p.close(bare, indent)
		return
	case blank:
		p.html, p.angle, p.noClose = p.forever, p.forever, false
		p.take(end, spanText)
		return
	}
	p.fence = "" // the list item that held it has ended
	if indent < p.list {
		p.list = 0
	}
	if p.opens(bare, indent) {
		p.take(end, spanCode)
		return
	}
	switch c := bare[indent]; {
	case c == '<':
		p.html = p.html || tagLine().MatchString(bare)
		p.forever = p.forever || rawLine().MatchString(bare)
	case indent <= p.list+3 && (strings.IndexByte("-*+", c) >= 0 || c >= '0' && c <= '9'):
		if m := listLine().FindStringSubmatch(bare); m != nil {
			p.list = len(m[1]) + len(m[2]) + len(m[3])
		}
	}
	p.inline(strings.HasPrefix(bare[indent:], commentOpen))
}

// opens reports whether the line opens a fenced code block, and records it.
func (p *splitter) opens(bare string, indent int) bool {
	if c := bare[indent]; c != '`' && c != '~' || p.html || p.forever || indent < p.list || indent > p.list+3 {
		return false
	}
	m := fenceLine().FindStringSubmatch(bare)
	if m == nil {
		return false
	}
	if m[2][0] == '`' && strings.Contains(m[3], "`") {
		return false // an inline span at the beginning of a line
	}
	p.fence, p.angle = m[2], false
	return true
}

// close ends the open fence if the line closes it.
func (p *splitter) close(bare string, indent int) {
	m := fenceLine().FindStringSubmatch(bare)
	if m != nil && indent <= p.list+3 && strings.HasPrefix(m[2], p.fence) && strings.TrimSpace(m[3]) == "" {
		p.fence = ""
	}
}

// inline splits one line outside fenced code at its code spans and comments. A code span counts if
// it ends on its line and no HTML tag can have begun before it. block means that the line begins
// with a comment, which is then an HTML block and may hold blank lines.
func (p *splitter) inline(block bool) {
	i, end := p.pos, p.lineEnd(p.pos)
	var single [maxRun + 1]bool // lengths of backtick runs that this line does not close
	for i < end {
		switch c := p.src[i]; {
		case c == '\\':
			i = min(i+2, end)
		case c == '`':
			i = p.code(i, end, &single)
		case c == '<' && strings.HasPrefix(p.src[i:], commentOpen):
			n, kind := p.comment(i, block)
			if block = false; n == 0 {
				i += len(commentOpen)
				continue
			}
			p.take(i, spanText)
			i += n
			p.take(i, kind)
			if i > end {
				end = p.lineEnd(i)
				single = [maxRun + 1]bool{}
			}
		default:
			p.angle = p.angle || c == '<' && i+1 < end && tagByte(p.src[i+1])
			i++
		}
	}
	p.take(max(end, p.pos), spanText)
}

// maxRun is the longest run of backticks that can delimit a code span.
const maxRun = 32

// code takes the code span at i, if there is one, and returns where to continue.
func (p *splitter) code(i, end int, single *[maxRun + 1]bool) int {
	n := runLength(p.src[i:end])
	if p.html || p.forever || p.angle || n > maxRun || single[n] {
		return i + n
	}
	length := closingRun(p.src[i+n:end], n)
	if length < 0 {
		single[n] = true
		return i + n
	}
	p.take(i, spanText)
	p.take(i+n+length, spanCode)
	return p.pos
}

// comment returns the length of the comment at i; 0 if GitHub shows it as text because it does not
// end within its paragraph.
func (p *splitter) comment(i int, block bool) (int, span) {
	if block {
		if n := commentEnd(p.src[i:]); n > 0 {
			return n, spanComment
		}
		return len(p.src) - i, spanUnclosed
	}
	if p.noClose {
		return 0, spanText
	}
	if p.paragraph <= i {
		p.paragraph = len(p.src)
		if gap := strings.Index(p.src[i:], "\n\n"); gap >= 0 {
			p.paragraph = i + gap
		}
	}
	n := commentEnd(p.src[i:p.paragraph])
	p.noClose = n == 0
	return n, spanComment
}

// commentEnd is the length of the comment at the beginning of s; 0 if it is never closed. In HTML,
// "<!-->" and "<!--->" are complete comments.
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

// closingRun finds the end of a run of exactly n backticks; -1 if there is none.
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

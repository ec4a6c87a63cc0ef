package public

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// token is a piece of Markdown outside fenced code, or a whole line of it.
type token struct {
	text string
	code bool // shown as it is
	tag  *tag // an HTML tag, if it is one
}

// tag is an HTML tag that may stay.
type tag struct {
	name   string
	closes bool
	scope  int // only a tag of the same scope is its partner
}

// inliner splits Markdown into tokens. What is not surely code is text, because
// text is the side on which mentions lose their effect; what is not surely a tag
// of a pair becomes text, because an open tag swallows what comes after it.
type inliner struct {
	tokens []token
	open   []int // tokens of tags whose ends are still to come
	scope  int   // the last scope that was begun
	notes  bool  // there are footnotes, which are shown elsewhere: no block of HTML continues behind a blank line

	// Of the paragraph, which is what stands between two blank lines:
	last   map[int]int // where the last run of so many backticks stands
	at     int         // where the line that is split begins
	unsure bool        // from here on backticks may pair otherwise than it looks
	html   bool        // in what may be a block of HTML, where they do not pair at all
	blocks bool        // in what surely is one
	first  int         // its scope
	own    int         // that of its line or cell, where that is one of its own
}

var (
	keptTag = lazy.Regexp(`^<(/?)([A-Za-z][A-Za-z0-9]*)(?:[ ]+[A-Za-z-]+(?:="[^"<>` + "`" + `]*")?)*[ ]?/?>`)
	address = lazy.Regexp(`^<(?:https?://[^\s<>` + "`" + `]*|[\w.+-]+@[\w.-]+)>`)
	// plainLink is a link's end without a title, and the whole of an image.
	plainLink  = lazy.Regexp(`^\]\([^\s()<>"'\\` + "`" + `]*\)`)
	plainImage = lazy.Regexp(`^!\[[^\[\]<>\\` + "`" + `]*\]\([^\s()<>"'\\` + "`" + `]*\)`)
	linkStart  = lazy.Regexp(`^(?:://|[wW]{3}\.)`)
	footnote   = lazy.Regexp(`^\[\^[^\]]*\]:`)
	tableRule  = lazy.Regexp(`^[ \t>|:-]*-[ \t|:-]*$`)
)

// The tags that GitHub shows and that an agent may use. Those of flow end in
// their paragraph.
var (
	flowNames = []string{
		"a", "b", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var",
	}
	blockNames = []string{
		"blockquote", "dd", "details", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "picture", "summary", "table", "tbody", "td",
		"tfoot", "th", "thead", "tr", "ul",
	}
	voidNames = []string{"br", "hr", "img", "source", "wbr"}
)

// document splits lines that were laid out.
func (n *inliner) document(lines []mdLine) {
	n.notes = slices.ContainsFunc(lines, func(l mdLine) bool { return !l.code && footnote().MatchString(l.text[l.start:]) })
	for i := 0; i < len(lines); i++ {
		if i > 0 {
			n.text("\n")
		}
		if lines[i].code || strings.Trim(lines[i].text, " \t") == "" {
			n.tokens = append(n.tokens, token{text: lines[i].text, code: lines[i].code})
			continue
		}
		end := i + 1
		for end < len(lines) && !lines[end].code && strings.Trim(lines[end].text, " \t") != "" {
			end++
		}
		n.paragraph(lines[i:end])
		i = end - 1
	}
	n.unpair(func(*tag) bool { return true })
}

// paragraph splits the lines between two blank ones.
func (n *inliner) paragraph(lines []mdLine) {
	n.scope++
	n.first = n.scope
	n.last, n.at, n.unsure, n.html, n.blocks = lastRuns(lines), 0, false, false, false
	table := slices.ContainsFunc(lines, func(l mdLine) bool { return tableRule().MatchString(l.text) })
	for i, l := range lines {
		if i > 0 {
			n.text("\n")
		}
		n.html = n.html || tagStart().MatchString(l.text[l.start:])
		n.blocks = l.bare && n.beginsBlock(l.text[l.start:]) || n.blocks
		n.text(l.text[:l.start])
		n.own = n.first
		if l.parted && (!n.blocks || strings.Contains(l.text[:l.start], ">")) {
			n.scope++
			n.own = n.scope
		}
		for j, cell := range cells(l.text[l.start:], table) {
			if j > 0 || table {
				n.scope++
				n.own = n.scope
			}
			n.cell(cell, l.start)
			l.start += len(cell)
		}
		n.at += len(l.text) + 1
	}
	n.unpair(func(t *tag) bool { return t.scope >= n.first })
}

// beginsBlock reports whether a line begins with a tag that makes a block of
// HTML of all that follows up to a blank line.
func (n *inliner) beginsBlock(s string) bool {
	m := keptTag().FindStringSubmatch(s)
	return m != nil && m[2] != "picture" && slices.Contains(blockNames, strings.ToLower(m[2]))
}

// lastRuns finds for each length the last run of that many backticks.
func lastRuns(lines []mdLine) map[int]int {
	last := map[int]int{}
	at := 0
	for _, l := range lines {
		for i := 0; i < len(l.text); {
			run := max(1, runLength(l.text[i:]))
			if l.text[i] == '`' {
				last[run] = at + i
			}
			i += run
		}
		at += len(l.text) + 1
	}
	return last
}

// cells splits a line of a table in front of its bars; others are one cell.
func cells(s string, table bool) (all []string) {
	from := 0
	for i := range len(s) {
		if table && s[i] == '|' && i > from {
			all = append(all, s[from:i])
			from = i
		}
	}
	return append(all, s[from:])
}

// cell splits a line's content, or a cell of it, that begins at offset from.
func (n *inliner) cell(s string, from int) {
	done := 0     // up to here it is split
	link := false // in a link without brackets, which swallows backticks
	upTo := func(i int) {
		n.text(s[done:i])
		done = i
	}
	for i := 0; i < len(s); {
		switch rest := s[i:]; {
		case rest[0] == '\\' && len(rest) > 1 && (!n.html || rest[1] != '<'):
			i += 2
		case rest[0] == '`':
			n.unsure = n.unsure || link
			upTo(i)
			i += n.backticks(rest, n.at+from+i)
			done = i
		case rest[0] == '<' && tagStart().MatchString(rest):
			if whole := address().FindString(rest); whole != "" && !n.unsure {
				i += len(whole)
				continue
			}
			upTo(i)
			i += n.angle(rest, i > 0 && s[i-1] == '\\') // a link continues behind it: it may yet become text
			done = i
		case rest[0] == '!' && strings.HasPrefix(rest, "!["), rest[0] == ']' && len(rest) > 1 && (rest[1] == '(' || rest[1] == ':'):
			i += n.link(rest)
		default:
			link = rest[0] != ' ' && rest[0] != '\t' && (link || linkStart().MatchString(rest))
			i++
		}
	}
	n.text(s[done:])
}

func (n *inliner) text(s string) {
	if s != "" {
		n.tokens = append(n.tokens, token{text: s})
	}
}

// backticks takes the code span that s begins with, or the backticks alone, and
// gives the length.
func (n *inliner) backticks(s string, at int) int {
	run := runLength(s)
	length := closingRun(s[run:], run)
	if length < 0 {
		n.unsure = n.unsure || n.last[run] > at
		n.text(s[:run])
		return run
	}
	span := s[:run+length]
	if n.unsure || n.html {
		n.text(openAngles().ReplaceAllString(span, "&lt;$1"))
	} else {
		n.tokens = append(n.tokens, token{text: span, code: true})
	}
	return len(span)
}

var openAngles = lazy.Regexp(`<([A-Za-z/!?])`)

// angle takes the tag that s begins with, and gives its length; what is none
// that may stay becomes text.
func (n *inliner) angle(s string, escaped bool) int {
	m := keptTag().FindStringSubmatch(s)
	if m == nil || n.unsure || escaped {
		n.text("&lt;")
		return 1
	}
	t := &tag{name: strings.ToLower(m[2]), closes: m[1] != "", scope: n.own}
	switch {
	case slices.Contains(voidNames, t.name) && !t.closes:
		n.text(m[0])
		return len(m[0])
	case slices.Contains(blockNames, t.name):
		if n.own == n.first && !n.notes {
			t.scope = 0
		}
	case !slices.Contains(flowNames, t.name):
		n.text("&lt;")
		return 1
	}
	n.tokens = append(n.tokens, token{text: m[0], tag: t})
	n.pair(len(n.tokens) - 1)
	return len(m[0])
}

// link takes what may be the end of a link, a whole image or a definition, and
// gives how much of it may be passed over. In a title, an address or an image's
// text nothing is a tag and no backtick pairs.
func (n *inliner) link(s string) int {
	for _, whole := range []*regexp.Regexp{plainLink(), plainImage()} {
		if m := whole.FindString(s); m != "" {
			return len(m)
		}
	}
	n.unsure = true
	return 1
}

// pair finds the partner of the tag that ends a pair. Without one it becomes
// text, and so do the tags between the two.
func (n *inliner) pair(at int) {
	t := n.tokens[at].tag
	if !t.closes {
		n.open = append(n.open, at)
		return
	}
	for i, from := range slices.Backward(n.open) {
		if o := n.tokens[from].tag; o.name == t.name && o.scope == t.scope {
			n.escape(n.open[i+1:]...)
			n.open = n.open[:i]
			return
		}
	}
	n.escape(at)
}

// unpair makes text of those open tags whose ends cannot come any more.
func (n *inliner) unpair(over func(*tag) bool) {
	n.open = slices.DeleteFunc(n.open, func(at int) bool {
		ended := over(n.tokens[at].tag)
		if ended {
			n.escape(at)
		}
		return ended
	})
}

func (n *inliner) escape(tokens ...int) {
	for _, at := range tokens {
		n.tokens[at].text = "&lt;" + n.tokens[at].text[1:]
	}
}

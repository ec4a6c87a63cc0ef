package public

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// token is a piece of Markdown outside fenced code, or a whole line of fenced code.
type token struct {
	text string
	code bool // shown literally
	tag  *tag // nil: not an HTML tag
}

// tag is an allowed HTML tag.
type tag struct {
	name   string
	closes bool
	scope  int // tags form a pair only within one scope
}

// inliner splits Markdown into tokens. Uncertain code is treated as text, because mentions are
// disabled in text. Uncertain tags become text, because an open tag swallows what follows.
type inliner struct {
	tokens []token
	open   []int // indexes of tokens of tags without an end so far
	scope  int   // the newest scope
	notes  bool  // there are footnotes, which are shown elsewhere: no HTML block continues after a blank line

	// Of the paragraph, which is the text between two blank lines:
	last   map[int]int // number of backticks → position of the last run of that length
	at     int         // position of the current line
	unsure bool        // from here on, backticks may pair differently
	html   bool        // possibly in an HTML block, where backticks do not pair
	blocks bool        // certainly in an HTML block
	first  int         // its scope
	own    int         // the scope of the current line or cell, if it has its own
}

var (
	keptTag = lazy.Regexp(`^<(/?)([A-Za-z][A-Za-z0-9]*)(?:[ ]+[A-Za-z-]+(?:="[^"<>` + "`" + `]*")?)*[ ]?/?>`)
	address = lazy.Regexp(`^<(?:https?://[^\s<>` + "`" + `]*|[\w.+-]+@[\w.-]+)>`)
	// plainLink matches a link's end without a title, plainImage a whole image.
	plainLink  = lazy.Regexp(`^\]\([^\s()<>"'\\` + "`" + `]*\)`)
	plainImage = lazy.Regexp(`^!\[[^\[\]<>\\` + "`" + `]*\]\([^\s()<>"'\\` + "`" + `]*\)`)
	linkStart  = lazy.Regexp(`^(?:://|[wW]{3}\.)`)
	footnote   = lazy.Regexp(`^\[\^[^\]]*\]:`)
	tableRule  = lazy.Regexp(`^[ \t>|:-]*-[ \t|:-]*$`)
)

// Tags that GitHub shows and that an agent may use. Those in flowNames end within their paragraph.
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

// document splits the lines of a layout.
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

// beginsBlock reports whether a line begins with a tag that starts an HTML block, which extends to
// the next blank line.
func (n *inliner) beginsBlock(s string) bool {
	m := keptTag().FindStringSubmatch(s)
	return m != nil && m[2] != "picture" && slices.Contains(blockNames, strings.ToLower(m[2]))
}

// lastRuns finds the last run of backticks of each length.
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

// cells splits a line of a table before each bar; any other line is one cell.
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

// cell splits a line's content, or one of its cells, which begins at offset from.
func (n *inliner) cell(s string, from int) {
	done := 0     // everything before it is split
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
			i += n.angle(rest, i > 0 && s[i-1] == '\\') // a link continues after it: it may still become text
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

// backticks takes the code span at the beginning of s, or only the backticks, and returns the
// length.
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

// angle takes the tag at the beginning of s and returns its length; anything but an allowed tag
// becomes text.
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

// link takes a possible end of a link, a whole image or a definition and returns how much to skip.
// Titles, URLs and image texts contain no HTML tags, and backticks in them start no code.
func (n *inliner) link(s string) int {
	for _, whole := range []*regexp.Regexp{plainLink(), plainImage()} {
		if m := whole.FindString(s); m != "" {
			return len(m)
		}
	}
	n.unsure = true
	return 1
}

// pair finds the opening tag of an end tag. Without one, the end tag becomes text, and so do the
// tags between the two.
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

// unpair turns open tags that can no longer be closed into text.
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

package public

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

const (
	// maxTips is how many characters are kept of all texts that GitHub shows only in place of an image,
	// or to who points at a link.
	maxTips = 200
	// maxAddress is how many characters are kept of an address that GitHub does not show, maxAddresses
	// of all of them.
	maxAddress   = 200
	maxAddresses = 20000
	// maxRead is how many characters are read: the parser's time grows with their square.
	maxRead = 1 << 18
)

// tooLong replaces what is not read.
const tooLong = "\n\n[the rest of a very long text was left out]"

// tooDeep matches a line in so many quotes that the parser takes seconds.
var tooDeep = lazy.Regexp(`(?m)^(?:[ \t]*>){101}.*$`)

// markdown reads Markdown as GitHub does, but takes emphasis and bare addresses for text: they hide
// nothing, and their readers are slow.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(extension.NewFootnoteBlockParser(), 999))...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(extension.NewFootnoteParser(), 101), util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewRawHTMLParser(), 400),
		),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0), util.Prioritized(extension.NewFootnoteASTTransformer(), 999)),
	)
})

// Shown is what GitHub shows of a text.
type Shown struct {
	Text  string
	Left  int  // how many characters were left out, other than those of HTML comments
	Drawn bool // some of it is the source of a formula or diagram, of which people see a picture
}

// AsShown returns Markdown as GitHub shows it. A parser finds its texts, which stay as they are. Of
// what is between them, white space and punctuation stay, so that markup of which nobody thought hides
// no words.
func AsShown(s string) Shown {
	s = strings.ReplaceAll(work.Normalise(s), "\f", " ") // to a browser it is a blank
	s = tooDeep().ReplaceAllString(Visible(s), "")
	if short := FirstRunes(s, maxRead); len(short) < len(s) {
		s = short + tooLong
	}
	p := page{src: s, fates: make([]fate, len(s)), after: map[int]string{}, addresses: maxAddresses, tips: maxTips}
	p.read(markdown().Parse(text.NewReader([]byte(s))))
	p.readTags()
	shown, left := p.write()
	return Shown{Text: shown, Left: left, Drawn: p.drawn || formula().MatchString(p.prose.String())}
}

// fate is what becomes of a byte of a text.
type fate byte

const (
	between fate = iota // it stays if it is white space or punctuation
	kept
	dropped
)

// page is a text on the way to a browser.
type page struct {
	src   string
	fates []fate         // of each byte of src
	after map[int]string // what is written after a byte, if that stays

	prose strings.Builder // text that is not code, in which formulas are found
	drawn bool

	html   []byte // as much of the page as its tags need: a letter stands for each byte of text
	places []int  // of the bytes of html in src, or nowhere
	at     int    // the end of the last text, tag or link that was read
	given  int    // characters that are not counted as left out: of HTML comments, and replaced

	addresses, tips int // how many more characters are kept of what people see only if they ask
}

const nowhere = -1

// read makes the page of a node and all below it.
func (p *page) read(n ast.Node) {
	p.enter(n)
	html := len(p.html)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.read(c)
	}
	switch n := n.(type) {
	case *ast.Link:
		p.link(n.Destination, n.Title, n.Reference)
	case *ast.Image:
		p.html, p.places = p.html[:html], p.places[:html] // what is below it is an attribute
		p.image(n)
	}
	p.border(n)
}

func (p *page) enter(n ast.Node) {
	p.border(n)
	switch n := n.(type) {
	case *ast.Text:
		if n.Parent().Kind() != ast.KindCodeSpan {
			p.prose.WriteString(p.src[n.Segment.Start:n.Segment.Stop])
		}
		p.text(n.Segment.Start, n.Segment.Stop)
	case *ast.CodeBlock:
		p.lines(n.Lines(), p.text)
	case *ast.FencedCodeBlock:
		p.info(n.Info)
		p.lines(n.Lines(), p.text)
	case *ast.HTMLBlock:
		p.lines(n.Lines(), p.raw)
		if n.HasClosure() {
			p.raw(n.ClosureLine.Start, n.ClosureLine.Stop)
		}
	case *ast.RawHTML:
		p.lines(n.Segments, p.raw)
	case *ast.AutoLink:
		from := n.Pos() + 1
		p.text(from, from+len(n.Label([]byte(p.src))))
	case *ast.LinkReferenceDefinition: // links have their addresses
		p.lines(n.Lines(), p.drop)
	case *ast.ListItem:
		p.mark(n.Pos(), n.Pos()+len(listNumber().FindString(p.src[n.Pos():])), kept)
	case *extended.Footnote:
		p.note(n.Pos(), n.Index)
	case *extended.FootnoteLink:
		p.note(n.Pos(), n.Index)
	case *ast.Link:
		p.at = n.Pos() + len("[")
	case *ast.Image:
		p.at = n.Pos() + len("![")
	}
}

var (
	formula    = lazy.Regexp(`\$[^$\n]*[\\%][^$\n]*\$|\$\$`)
	drawings   = lazy.Regexp(`^(?:mermaid|math|geojson|topojson|stl)$`)
	language   = lazy.Regexp(`^([\w+#./-]{1,30})(?:[^\w+#./-]|$)`)
	listNumber = lazy.Regexp(`^[0-9]{1,9}[.)]`)
	noteLabel  = lazy.Regexp(`^!?\[\^((?:[^\[\]\\]|\\.)*)\]`)
	linkTail   = lazy.Regexp(`^\([\s>]*(?:<(?:[^<>\n\\]|\\.)*>|(?:[^\s<()\\]|\\.|\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*\))(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*\))*)?` +
		`(?:[\s>]+(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\)))?[\s>]*\)`)
	linkLabel = lazy.Regexp(`^\[(?:[^\[\]\\]|\\[\s\S])*\]`)
)

func (p *page) lines(lines *text.Segments, do func(from, to int)) {
	for _, l := range lines.Sliced(0, lines.Len()) {
		do(l.Start, l.Stop)
	}
}

func (p *page) mark(from, to int, f fate) {
	for i := from; i < to; i++ {
		p.fates[i] = f
	}
}

func (p *page) drop(from, to int) { p.mark(from, to, dropped) }

// border puts a tag of Markdown's own on the page, which closes an open one. A link has an address
// in quotes, which close quotes.
func (p *page) border(n ast.Node) {
	tag := ""
	switch n.(type) {
	case *ast.Text, *ast.RawHTML, *ast.HTMLBlock:
		return
	case *ast.Link, *ast.Image, *ast.AutoLink:
		tag = `<br "">`
	default:
		tag = "<br>"
		p.prose.WriteByte('\n')
	}
	for _, c := range []byte(tag) {
		p.html, p.places = append(p.html, c), append(p.places, nowhere)
	}
}

// text puts text on the page, whose characters are no markup there.
func (p *page) text(from, to int) {
	for i := from; i < to; i++ {
		p.html, p.places = append(p.html, 'x'), append(p.places, i)
	}
	p.at = max(p.at, to)
}

// raw puts HTML on the page.
func (p *page) raw(from, to int) {
	for i := from; i < to; i++ {
		p.html, p.places = append(p.html, p.src[i]), append(p.places, i)
	}
	p.at = max(p.at, to)
}

// info keeps the language of a code block, which is the first word behind its fence.
func (p *page) info(info *ast.Text) {
	if info == nil {
		return
	}
	from, to := info.Segment.Start, info.Segment.Stop
	word := ""
	if m := language().FindStringSubmatch(p.src[from:to]); m != nil {
		word = m[1]
	}
	p.drawn = p.drawn || drawings().MatchString(word)
	p.mark(from-1, from+len(word), kept)
	p.drop(from+len(word), to)
}

// note replaces the label of a footnote by the number that people see.
func (p *page) note(at, index int) {
	if m := noteLabel().FindStringSubmatchIndex(p.src[at:]); m != nil {
		p.replace(at+m[2], at+m[3], strconv.Itoa(index))
		p.at = at + m[1]
	}
}

// link keeps the rest of a link, whose text ends at p.at, or replaces it by its address.
func (p *page) link(address, title []byte, ref *ast.ReferenceLink) {
	i := strings.IndexByte(p.src[p.at:], ']')
	if i < 0 {
		return
	}
	from := p.at + i + len("]")
	tail := ""
	switch {
	case ref == nil:
		tail = linkTail().FindString(p.src[from:])
		p.at = from + len(tail)
		if short := p.address(string(address)); short == string(address) && p.tip(string(title)) {
			p.mark(from, p.at, kept)
			return
		}
	case ref.Type != ast.ReferenceLinkShortcut:
		tail = linkLabel().FindString(p.src[from:])
	}
	p.at = from + len(tail)
	short := p.address(string(address))
	if strings.ContainsAny(short, "()") && !strings.ContainsAny(short, "<>") {
		short = "<" + short + ">"
	}
	p.replace(from, p.at, "("+short+")")
}

// replace writes something else for a part of the source.
func (p *page) replace(from, to int, s string) {
	p.drop(from, to)
	p.after[from-1] = s
	p.given += min(utf8.RuneCountInString(p.src[from:to]), utf8.RuneCountInString(s))
}

// image keeps the text in place of an image with its address.
func (p *page) image(n *ast.Image) {
	from := n.Pos() + len("![")
	to := p.at + max(0, strings.IndexByte(p.src[p.at:], ']'))
	if p.tip(p.src[from:to]) {
		p.mark(from, to, kept)
	} else {
		p.drop(from, to)
	}
	p.link(n.Destination, n.Title, n.Reference)
}

// tip reports whether a text stays that people see only if they ask.
func (p *page) tip(s string) bool {
	n := utf8.RuneCountInString(s)
	if n <= p.tips {
		p.tips -= n
		return true
	}
	return false
}

// address returns as much of an address as stays.
func (p *page) address(s string) string {
	short := s
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		short = s[:i]
	}
	short = FirstRunes(short, min(maxAddress, p.addresses))
	if len(short) < len(s) {
		short = FirstRunes(short, maxAddress-1) + "…"
	}
	p.addresses = max(0, p.addresses-utf8.RuneCountInString(short))
	return short
}

// write returns what stays of the source, and how many characters do not.
func (p *page) write() (string, int) {
	var b strings.Builder
	at, left := 0, -p.given
	for line := range strings.Lines(p.src) {
		stays, gone := p.line(at, line)
		b.WriteString(stays)
		at, left = at+len(line), left+gone
	}
	return b.String(), max(0, left)
}

// line returns what stays of a line. If it loses all its words, its marks go, too. What was parted by
// something is not joined.
func (p *page) line(at int, line string) (string, int) {
	var b strings.Builder
	gone, last, words := 0, -1, false
	for i, c := range []byte(line) {
		fate, after := p.fates[at+i], p.after[at+i]
		if fate == dropped && (c != '\n' || !words) || fate == between && (c >= utf8.RuneSelf || wordByte(c)) {
			if utf8.RuneStart(c) {
				gone++
			}
			continue
		}
		if last >= 0 && last < i-1 && line[last] > ' ' && c > ' ' && c != ']' && p.after[at+last] == "" {
			b.WriteByte(' ')
		}
		b.WriteByte(c)
		b.WriteString(after)
		last, words = i, words || fate == kept || after != ""
	}
	if gone > 0 && !words {
		return "", utf8.RuneCountInString(line)
	}
	return b.String(), gone
}

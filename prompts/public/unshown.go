package public

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// maxTip is how many characters of a text that GitHub shows only in place of an image, or to who
// points at a link, are kept.
const maxTip = 200

// unshownRounds bounds how often what was around removed text is looked at again.
const unshownRounds = 20

// maxDefinitions is how many bytes are searched for the ends of definitions. A text that needs more is
// made to take long: GitHub's readers do not miss its rest.
const maxDefinitions = 8 << 20

// AsShown returns Markdown as GitHub shows it, and how many characters WithoutUnshown left out.
func AsShown(s string) (shown string, left int) {
	s = WithoutComments(Visible(s), func(string) string { return HiddenTail })
	return WithoutUnshown(s)
}

// WithoutUnshown removes what GitHub does not show of Markdown outside code, other than HTML
// comments, and returns how many characters that was: definitions of links that nothing uses,
// footnotes without a reference, hidden elements, and long texts in place of images, in titles and
// in attributes.
func WithoutUnshown(s string) (shown string, left int) {
	before, budget := utf8.RuneCountInString(s), maxDefinitions
	for range unshownRounds {
		u := unshown{src: mask(s), budget: &budget}
		u.find()
		next := u.without(s)
		if next == s {
			break
		}
		s = next
	}
	return s, before - utf8.RuneCountInString(s)
}

// mask returns the text with code blanked out, at the same places.
func mask(s string) string {
	if !strings.Contains(s, "`") && !strings.Contains(s, "~~~") {
		return s
	}
	var b strings.Builder
	for _, seg := range segments(s) {
		if seg.kind != spanCode {
			b.WriteString(seg.text)
			continue
		}
		for _, line := range strings.SplitAfter(seg.text, "\n") {
			bare := strings.TrimSuffix(line, "\n")
			b.WriteString(strings.Repeat("\x00", len(bare)) + line[len(bare):])
		}
	}
	return b.String()
}

// piece is a part of a text.
type piece struct{ from, to int }

// unshown collects the pieces of a masked text that GitHub does not show.
type unshown struct {
	src    string
	defs   []piece        // definitions of links, as blocks
	labels map[string]int // of the definitions, each the first of its label, at its place in defs
	gone   []piece
	budget *int // of maxDefinitions
}

func (u *unshown) find() {
	u.blocks()
	u.links()
	u.images()
	u.tags()
}

// drop records a piece.
func (u *unshown) drop(from, to int) {
	if from < to {
		u.gone = append(u.gone, piece{from, to})
	}
}

// without returns a text without the pieces. The text around one is not joined to a new word.
func (u *unshown) without(s string) string {
	slices.SortFunc(u.gone, func(a, b piece) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var b strings.Builder
	at := 0
	for _, p := range u.gone {
		if p.to <= at {
			continue
		}
		b.WriteString(s[at:max(at, p.from)])
		at = p.to
	}
	b.WriteString(s[at:])
	return b.String()
}

var (
	linePrefix = lazy.Regexp(`^(?:[ \t]*(?:>|[-*+](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$)))*[ \t]*`)
	definition = lazy.Regexp(`^\[((?:[^\[\]\\]|\\.)+)\]:[ \t]*(?:\n[ \t>]*)?(?:<(?:[^<>\n\\]|\\.)*>|[^\s<]\S*)` +
		`(?:(?:[ \t]+|[ \t]*\n[ \t>]*)("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\)))?[ \t]*(?:\n|$)`)
	noteStart = lazy.Regexp(`^\[\^([^\]\s]+)\]:`)
	noText    = lazy.Regexp(`^(?:#{1,6}(?:\s|$)|={1,}\s*$|(?:[-*_][ \t]*){3,}$|\x00)`)
	bracketed = lazy.Regexp(`\[((?:[^\[\]\\]|\\.)+)\]`)
)

// blocks finds definitions of links and footnotes, and drops those that nothing uses. A definition
// begins where a paragraph could; within one, GitHub shows it as text.
func (u *unshown) blocks() {
	u.labels = map[string]int{}
	type note struct {
		piece
		label string
	}
	var notes []note
	var twice []piece
	paragraph, list, depth := false, false, 0
	for pos := 0; pos < len(u.src); {
		end := pos + lineLength(u.src[pos:])
		line := u.src[pos:end]
		prefix := linePrefix().FindString(line)
		text := strings.TrimRight(line[len(prefix):], "\n")
		marked, quotes := strings.ContainsAny(prefix, "-*+.)"), strings.Count(prefix, ">")
		indent := len(prefix) - len(strings.TrimLeft(prefix, " \t"))
		list = marked || list && (text == "" || indent > 0)
		begins := !paragraph || marked || quotes > depth
		code := !list && quotes == 0 && (indent > 3 || strings.HasPrefix(prefix, "\t"))
		depth = quotes
		at := pos + len(prefix)
		if m := noteStart().FindStringSubmatch(text); m != nil && !code {
			end = u.footnoteEnd(end)
			notes = append(notes, note{piece{at, end}, fold(m[1])})
			paragraph, pos = false, end
			continue
		}
		if *u.budget < 0 {
			u.drop(pos, len(u.src))
			break
		}
		if m := u.definition(at); begins && !code && m != nil {
			p := piece{at, at + m[1]}
			if label := fold(u.src[at+m[2] : at+m[3]]); u.known(label) {
				twice = append(twice, p)
			} else {
				u.labels[label] = len(u.defs)
				u.defs = append(u.defs, p)
				if m[4] >= 0 {
					u.tip(at+m[4]+1, at+m[5]-1)
				}
			}
			paragraph, pos = false, p.to
			continue
		}
		paragraph, pos = text != "" && !noText().MatchString(text), end
	}
	used := u.used()
	for label, i := range u.labels {
		if !used[label] {
			u.drop(u.defs[i].from, u.defs[i].to)
		}
	}
	for _, p := range twice {
		u.drop(p.from, p.to)
	}
	named := map[string]int{}
	for _, m := range bracketed().FindAllStringSubmatch(u.src, -1) {
		named[fold(m[1])]++
	}
	for _, n := range notes {
		if named["^"+n.label] < 2 { // its own beginning is one
			u.drop(n.from, n.to)
		}
	}
}

// definition matches a definition at a place: it ends with its paragraph.
func (u *unshown) definition(at int) []int {
	if at >= len(u.src) || u.src[at] != '[' {
		return nil
	}
	text := u.src[at:]
	if gap := strings.Index(text, "\n\n"); gap >= 0 {
		text = text[:gap+1]
	}
	*u.budget -= len(text)
	return definition().FindStringSubmatchIndex(text)
}

func (u *unshown) known(label string) bool { _, ok := u.labels[label]; return ok }

// footnoteEnd returns where a footnote ends whose first line ends at pos: its paragraph goes on
// without an indent, what follows an empty line needs one.
func (u *unshown) footnoteEnd(pos int) int {
	blank, end := false, pos
	for pos < len(u.src) {
		next := pos + lineLength(u.src[pos:])
		line := strings.TrimRight(u.src[pos:next], "\n")
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		switch {
		case strings.TrimSpace(line) == "":
			blank = true
		case indented:
			blank, end = false, next
		case blank || linePrefix().FindString(line) != "" || noText().MatchString(line) || strings.HasPrefix(line, "[^") || strings.HasPrefix(line, "<"):
			return end
		default:
			end = next
		}
		pos = next
	}
	return end
}

// used returns the labels that text outside the definitions has in brackets.
func (u *unshown) used() map[string]bool {
	used := map[string]bool{}
	at := 0
	for _, m := range bracketed().FindAllStringSubmatchIndex(u.src, -1) {
		for at < len(u.defs) && u.defs[at].to <= m[0] {
			at++
		}
		if at < len(u.defs) && u.defs[at].from <= m[0] || m[0] > 0 && u.src[m[0]-1] == '\\' {
			continue
		}
		used[fold(u.src[m[2]:m[3]])] = true
	}
	return used
}

// fold returns a label as GitHub compares it.
func fold(label string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ToUpper(label))), " ")
}

// tip drops the text of a title, or in place of an image, if it is long.
func (u *unshown) tip(from, to int) {
	if utf8.RuneCountInString(u.src[from:to]) > maxTip {
		u.drop(from, to)
	}
}

var linkTitle = lazy.Regexp(`\]\(\s*(?:<(?:[^<>\n\\]|\\.)*>|[^\s<]\S*)\s+("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\))\s*\)`)

// links drops long titles of links and images.
func (u *unshown) links() {
	for _, m := range linkTitle().FindAllStringSubmatchIndex(u.src, -1) {
		if !strings.Contains(u.src[m[0]:m[1]], "\n\n") {
			u.tip(m[2]+1, m[3]-1)
		}
	}
}

// images drops long texts in place of images.
func (u *unshown) images() {
	var open []int // brackets of the paragraph
	for i := 0; i < len(u.src); i++ {
		switch u.src[i] {
		case '\\':
			i++
		case '[':
			open = append(open, i+1)
		case '\n':
			if strings.HasPrefix(u.src[i+1:], "\n") {
				open = nil
			}
		case ']':
			if len(open) == 0 {
				continue
			}
			from := open[len(open)-1]
			open = open[:len(open)-1]
			after := u.src[i+1:]
			if from > 1 && u.src[from-2] == '!' && (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "[") || u.known(fold(u.src[from:i]))) {
				u.tip(from, i)
			}
		}
	}
}

var (
	htmlTag   = lazy.Regexp(`<(/?)([A-Za-z][A-Za-z0-9-]*)((?:[\s/]+(?:[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)?)*)>|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>`)
	attribute = lazy.Regexp(`([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+))?`)
)

// tags drops hidden elements, and of other tags the attributes that nobody sees.
func (u *unshown) tags() {
	all := htmlTag().FindAllStringSubmatchIndex(u.src, -1)
	for i := 0; i < len(all); i++ {
		m := all[i]
		switch {
		case m[4] < 0: // an instruction or CDATA
			u.drop(m[0], m[1])
			continue
		case m[2] < m[3]: // a closing tag
			continue
		}
		hidden := false
		for _, a := range attribute().FindAllStringSubmatchIndex(u.src[m[6]:m[7]], -1) {
			name := strings.ToLower(u.src[m[6]+a[2] : m[6]+a[3]])
			hidden = hidden || name == "hidden"
			switch {
			case a[4] < 0:
			case name == "srcset":
				u.drop(m[6]+a[0], m[6]+a[1])
			case name != "href" && name != "src" && utf8.RuneCountInString(u.src[m[6]+a[4]:m[6]+a[5]]) > maxTip+2:
				u.drop(m[6]+a[0], m[6]+a[1])
			}
		}
		if hidden {
			i = u.dropElement(all, i)
		}
	}
}

// dropElement drops the element that the ith tag opens, and returns its last tag. Without a closing
// tag it goes on to the end.
func (u *unshown) dropElement(all [][]int, i int) int {
	name := func(m []int) string {
		if m[4] < 0 {
			return ""
		}
		return strings.ToLower(u.src[m[4]:m[5]])
	}
	own, depth := name(all[i]), 0
	if slices.Contains([]string{"area", "br", "col", "hr", "img", "input", "source", "wbr"}, own) {
		u.drop(all[i][0], all[i][1])
		return i
	}
	for k := i; k < len(all); k++ {
		m := all[k]
		switch {
		case name(m) != own:
		case m[2] < m[3]:
			depth--
		default:
			depth++
		}
		if depth == 0 {
			u.drop(all[i][0], m[1])
			return k
		}
	}
	u.drop(all[i][0], len(u.src))
	return len(all)
}

// lineLength is the length of the first line with its newline.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

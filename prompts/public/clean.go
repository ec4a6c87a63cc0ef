// Package public makes what an agent wrote fit for people on GitHub: it reads
// Markdown as GitHub does, so far that mentions, commands, references that close
// issues, markers and tags without a partner lose their effect, and so that what
// people do not see is shown.
package public

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// BodyLimit is how many characters Body lets through. GitHub refuses
// bodies over 65,536; what is left is room for our markers.
const BodyLimit = 65536 - 2000

// zeroWidth parts an @ from a name: people read the name, GitHub does not.
const zeroWidth = "\u200B"

var (
	// mention is an @, which may be written by its number or name, before what may
	// be a name's first letter. In HTML a reference needs no semicolon.
	mention    = lazy.Regexp(`(?i)(?:@|&#0*64;|&#x0*40;|&commat;)([a-z0-9_&])|&#0*64([a-z_&])|&#x0*40([g-z_&])`)
	command    = lazy.Regexp(`^([ \t]*(?:(?:>|[-*+]|[0-9]{1,9}[.)])[ \t]+|>)*)(/[A-Za-z][^ \t\n` + "`" + `]*)`)
	ownCommand = lazy.Regexp(`(?im)^([ \t>]*)/(mergexo)`)
	ownMarker  = lazy.Regexp(`(?i)<!--(\s*mergexo)`)
)

// Body makes what an agent wrote fit for GitHub. HTML comments go, and
// nothing that is left can be taken for a marker of ours. Outside code,
// @mentions lose their effect by a zero-width space and slash commands at a
// line's beginning by backticks. The body is cut at BodyLimit with a note.
func Body(s string) string {
	s = longRun().ReplaceAllStringFunc(dropInvisible(s), func(run string) string { return run[:maxFence] })
	s = WithoutComments(s, showUnclosed)
	s = ownMarker().ReplaceAllString(s, "&lt;!--$1")
	s = neutralise(s)
	s = ownCommand().ReplaceAllString(s, "$1/"+zeroWidth+"$2")
	return Balanced(strings.TrimRight(strings.TrimLeft(Cut(s, BodyLimit), "\n"), " \t\n"))
}

// Behind is Body for what is put behind words of ours on their line,
// where no block of code or HTML can begin.
func Behind(s string) string {
	const words = "x "
	return strings.TrimPrefix(Body(words+strings.TrimSpace(s)), words)
}

// maxFence is the longest fence that is let through; longRun finds longer ones.
const maxFence = 60

var longRun = lazy.Regexp("`{60,}|~{60,}")

// Balanced closes what would swallow the text that is put after it: a fenced
// code block. HTML tags without a partner become text.
func Balanced(s string) string {
	var n inliner
	n.document(laidOut(s))
	var b strings.Builder
	for _, t := range n.tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// dropInvisible takes out what people would not see, but for the zero-width
// space that we put in ourselves.
func dropInvisible(s string) string {
	return Visible(strings.ReplaceAll(s, zeroWidth, ""))
}

// neutralise is Balanced, and takes mentions and commands out of the text
// outside code.
func neutralise(s string) string {
	lines := laidOut(s)
	for i, l := range lines {
		if !l.code {
			lines[i].text = command().ReplaceAllString(l.text, "$1`$2`")
		}
	}
	var n inliner
	n.document(lines)
	var b strings.Builder
	for _, t := range n.tokens {
		if !t.code {
			t.text = silence(t.text)
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// silence parts the mentions of a line from their names. In an address, where
// a zero-width space would break the link, the @ is written as %40; in an
// e-mail address it stays.
func silence(line string) string {
	if !strings.ContainsAny(line, "@&") {
		return line
	}
	var b strings.Builder
	at := 0
	for _, m := range mention().FindAllStringSubmatchIndex(line, -1) {
		before, plain := line[:m[0]], line[m[0]] == '@'
		b.WriteString(line[at:m[0]])
		for _, group := range m[2:] {
			at = max(at, group) // the one that took part ends with the name's first byte
		}
		at--
		switch {
		case plain && inURL(before):
			b.WriteString("%40")
		case plain && inEmail(before):
			b.WriteByte('@')
		default:
			b.WriteString("@" + zeroWidth)
		}
	}
	b.WriteString(line[at:])
	return b.String()
}

// inEmail reports whether the end of s, before an @, is the name of an e-mail
// address: letters, which are no character's name.
func inEmail(s string) bool {
	name := strings.TrimRightFunc(lastToken(s), func(r rune) bool { return r < utf8.RuneSelf && wordByte(byte(r)) })
	return s != "" && wordByte(s[len(s)-1]) && !strings.HasSuffix(name, "&") && !strings.HasSuffix(name, "&#") && !endsLink(s)
}

// endsLink reports whether a link may end with s. GitHub looks at what stands
// behind it alone, as if a word began there.
func endsLink(s string) bool {
	token := lastToken(s)
	return strings.Contains(token, "://") || strings.Contains(strings.ToLower(token), "www.")
}

// maxURL is how far back the beginning of an address is looked for, in bytes.
const maxURL = 1000

// inURL reports whether the end of s is within an address.
func inURL(s string) bool {
	token := lastToken(s)
	return strings.HasPrefix(token, "https://") || strings.HasPrefix(token, "http://")
}

func lastToken(s string) string {
	s = s[max(0, len(s)-maxURL):]
	return s[strings.LastIndexAny(s, " \t<>()[]\"'`*")+1:]
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Cut bounds Markdown to limit characters in all, with a note of how much was
// left out. A cut may part what was a pair, so the rest is cleaned again.
func Cut(s string, limit int) string {
	const room = 200 // for the note
	n := utf8.RuneCountInString(s)
	if n <= limit-room {
		return s
	}
	for keep := limit - 2*room; ; keep -= keep/8 + 1 {
		kept := FirstRunes(s, keep)
		if i := strings.LastIndexByte(kept, '\n'); i > len(kept)*9/10 {
			kept = kept[:i]
		}
		clean := neutralise(kept)
		if utf8.RuneCountInString(clean) <= limit-room || keep <= 0 {
			return clean + fmt.Sprintf("\n\n*(Cut: %d more characters did not fit into a comment.)*", n-utf8.RuneCountInString(kept))
		}
	}
}

// TitleLimit is the longest title of a pull request that GitHub takes.
const TitleLimit = 256

// Title makes a title of one line, without what people do not see or what
// switches checks off: it becomes the message of a squashed merge.
func Title(s string) string {
	s = strings.TrimSpace(withoutSkips(OneLine(strings.ReplaceAll(s, zeroWidth, ""))))
	if utf8.RuneCountInString(s) > TitleLimit {
		s = strings.TrimSpace(FirstRunes(s, TitleLimit-1)) + "…"
	}
	return s
}

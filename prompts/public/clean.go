// Package public makes an agent's text fit for GitHub. It reads Markdown as GitHub does, as far as
// needed to disable mentions, commands, references that close issues, markers and unpaired tags,
// and to show invisible text.
package public

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// BodyLimit is the limit of Body, in characters. GitHub refuses bodies over 65,536; the difference
// is room for our markers.
const BodyLimit = 65536 - 2000

// zeroWidth separates an @ from a name: people still read the name, but GitHub does not link it.
const zeroWidth = "\u200B"

var (
	// mention is an @, also as a numeric or named reference, before a possible first letter of a
	// name. In HTML a reference needs no semicolon.
	mention = lazy.Regexp(`(?i)(?:@|&#0*64;|&#x0*40;|&commat;)([a-z0-9_&])|&#0*64([a-z_&])|&#x0*40([g-z_&])`)
	// command is the first word of a line that bots obey: /word, !word or bors.
	command    = lazy.Regexp(`^([ \t\p{Zs}]*(?:(?:>|[-*+]|[0-9]{1,9}[.)])[ \t]+|>)*)([/!][A-Za-z][^ \t\n` + "`" + `]*|(?i:bors\b))`)
	ownCommand = lazy.Regexp(`(?im)^([ \t\p{Zs}>]*)/(mergexo)`)
	ownMarker  = lazy.Regexp(`(?i)<!--(\s*mergexo)`)
)

// Body makes an agent's text fit for GitHub. It removes HTML comments and anything that looks like
// one of our markers. Outside code, it disables @mentions by a zero-width space and slash commands
// at the beginning of a line by backticks. A body over BodyLimit is cut with a note.
func Body(s string) string {
	s = longRun().ReplaceAllStringFunc(dropInvisible(s), func(run string) string { return run[:maxFence] })
	s = withoutComments(s)
	s = ownMarker().ReplaceAllString(s, "&lt;!--$1")
	s = neutralise(s)
	s = ownCommand().ReplaceAllString(s, "$1/"+zeroWidth+"$2")
	return Balanced(strings.TrimRight(strings.TrimLeft(Cut(s, BodyLimit), "\n"), " \t\n"))
}

// InlineBody is Body for text that follows our own words on the same line, where no block of code
// or HTML can begin.
func InlineBody(s string) string {
	const word = "x"
	body := Body(word + " " + strings.TrimSpace(s))
	if body == word {
		return ""
	}
	return strings.TrimPrefix(body, word+" ")
}

// maxFence is the longest fence that stays; longRun matches longer ones.
const maxFence = 60

var longRun = lazy.Regexp("`{60,}|~{60,}")

// Balanced closes an open code fence, which would swallow the text appended later. Unpaired HTML
// tags become text.
func Balanced(s string) string {
	var n inliner
	n.document(laidOut(s))
	var b strings.Builder
	for _, t := range n.tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// dropInvisible shows invisible characters and removes zero-width spaces.
func dropInvisible(s string) string {
	return Visible(strings.ReplaceAll(s, zeroWidth, ""))
}

// neutralise is Balanced and disables mentions and commands outside code.
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
			t.text = breakMentions(t.text)
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// breakMentions separates the mentions of a line from their names. In a URL, where a zero-width
// space would break the link, the @ is written as %40; in an e-mail address it stays.
func breakMentions(line string) string {
	if !strings.ContainsAny(line, "@&") {
		return line
	}
	var b strings.Builder
	at := 0
	for _, m := range mention().FindAllStringSubmatchIndex(line, -1) {
		before, plain := line[:m[0]], line[m[0]] == '@'
		b.WriteString(line[at:m[0]])
		for _, group := range m[2:] {
			at = max(at, group) // the matching group ends with the name's first byte
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

// inEmail reports whether the end of s, before an @, is the local part of an e-mail address:
// letters that are not a character reference.
func inEmail(s string) bool {
	name := strings.TrimRightFunc(lastToken(s), func(r rune) bool { return r < utf8.RuneSelf && wordByte(byte(r)) })
	return s != "" && wordByte(s[len(s)-1]) && !strings.HasSuffix(name, "&") && !strings.HasSuffix(name, "&#") && !endsLink(s)
}

// endsLink reports whether a link may end with s. GitHub parses the text after a link as if a word
// began there.
func endsLink(s string) bool {
	token := lastToken(s)
	return strings.Contains(token, "://") || strings.Contains(strings.ToLower(token), "www.")
}

// maxURL is how many bytes back the beginning of a URL is searched.
const maxURL = 1000

// inURL reports whether the end of s is within a URL.
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

// Cut shortens Markdown to limit characters in all, with a note of how many were left out. A cut
// may split a pair, so the rest is cleaned again.
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

// TitleLimit is GitHub's limit for the title of a pull request.
const TitleLimit = 256

// Title returns a one-line title without invisible characters and without marks that skip checks:
// it becomes the message of a squashed merge.
func Title(s string) string {
	s = strings.TrimSpace(withoutSkips(OneLine(strings.ReplaceAll(s, zeroWidth, ""))))
	if utf8.RuneCountInString(s) > TitleLimit {
		s = strings.TrimSpace(FirstRunes(s, TitleLimit-1)) + "…"
	}
	return s
}

package prompts

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// BodyLimit is how many characters CleanBody lets through. GitHub refuses
// bodies over 65,536; what is left is room for our markers.
const BodyLimit = 65536 - 2000

// zeroWidth parts an @ from a name: people read the name, GitHub does not.
const zeroWidth = "\u200B"

var (
	mention     = regexp.MustCompile(`(?i)(?:@|&#0*64;?|&#x0*40;?|&commat;)([a-z0-9_])`)
	command     = regexp.MustCompile(`^([ \t]*(?:(?:>|[-*+]|[0-9]{1,9}[.)])[ \t]+|>)*)(/[A-Za-z][^ \t\n` + "`" + `]*)`)
	ownCommand  = regexp.MustCompile(`(?im)^([ \t>]*)/(mergexo)`)
	ownMarker   = regexp.MustCompile(`(?i)<!--(\s*mergexo)`)
	closing     = regexp.MustCompile("(?i)\\b((?:close|fix|resolve)(?:s|d|es|ed)?[\\s\\p{Zs}:]*)([\\\\\\[(<*_~\"'`]*(?:(?:[\\w.-]+/[\\w.-]+)?(?:#|&#|&num)|GH-\\d|https?:))")
	commitMarks = regexp.MustCompile(`(?im)^[ \t]*Mergexo-[A-Za-z]+[ \t]*:`)
)

// CleanBody makes what an agent wrote fit for GitHub. HTML comments go, and
// nothing that is left can be taken for a marker of ours. Outside code,
// @mentions lose their effect by a zero-width space and slash commands at a
// line's beginning by backticks. The body is cut at BodyLimit with a note.
func CleanBody(s string) string {
	s = longRun.ReplaceAllStringFunc(dropInvisible(s), func(run string) string { return run[:maxFence] })
	s = withoutComments(s, showUnclosed)
	s = ownMarker.ReplaceAllString(s, "&lt;!--$1")
	s = neutralise(s)
	s = ownCommand.ReplaceAllString(s, "$1/"+zeroWidth+"$2")
	return Balanced(strings.TrimRight(strings.TrimLeft(Cut(s, BodyLimit), "\n"), " \t\n"))
}

// maxFence is the longest fence that is let through; longRun finds longer ones.
const maxFence = 60

var longRun = regexp.MustCompile("`{60,}|~{60,}")

// Balanced closes what would swallow the text that is put after it: a fenced
// code block, a <pre>.
func Balanced(s string) string {
	p := splitter{src: s}
	for p.pos < len(p.src) {
		p.line()
	}
	if p.fence != "" {
		s += "\n" + strings.Repeat(" ", min(p.list, 20)) + p.fence
	}
	return s
}

// dropInvisible takes out what people would not see, but for the zero-width
// space that we put in ourselves.
func dropInvisible(s string) string {
	return visible(strings.ReplaceAll(s, zeroWidth, ""))
}

// neutralise takes mentions and commands out of the text outside code.
func neutralise(s string) string {
	var b strings.Builder
	lineStart := true
	s = withoutRaw(s)
	for _, seg := range segments(s) {
		if seg.kind == spanCode {
			b.WriteString(seg.text)
			lineStart = strings.HasSuffix(seg.text, "\n")
			continue
		}
		for line := range strings.Lines(plain(showUnclosed(seg.text))) {
			if lineStart && strings.Contains(line, "/") {
				line = command.ReplaceAllString(line, "$1`$2`")
			}
			b.WriteString(silence(line))
			lineStart = true
		}
		lineStart = strings.HasSuffix(seg.text, "\n")
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
	for _, m := range mention.FindAllStringSubmatchIndex(line, -1) {
		before, plain := line[:m[0]], line[m[0]] == '@'
		b.WriteString(line[at:m[0]])
		at = m[2]
		switch {
		case plain && inURL(before):
			b.WriteString("%40")
		case plain && m[0] > 0 && wordByte(line[m[0]-1]):
			b.WriteByte('@')
		default:
			b.WriteString("@" + zeroWidth)
		}
	}
	b.WriteString(line[at:])
	return b.String()
}

// maxURL is how far back the beginning of an address is looked for, in bytes.
const maxURL = 1000

// inURL reports whether the end of s is within an address.
func inURL(s string) bool {
	s = s[max(0, len(s)-maxURL):]
	token := s[strings.LastIndexAny(s, " \t<>()[]\"'`*")+1:]
	return strings.HasPrefix(token, "https://") || strings.HasPrefix(token, "http://")
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Cut bounds Markdown to limit characters in all, with a note of how much was
// left out, and closes a code block that the cut would leave open.
func Cut(s string, limit int) string {
	const room = 200 // for the note, and for what Balanced may add
	n := utf8.RuneCountInString(s)
	if n <= limit-room {
		return s
	}
	kept := firstRunes(s, limit-2*room)
	if i := strings.LastIndexByte(kept, '\n'); i > len(kept)*9/10 {
		kept = kept[:i]
	}
	return Balanced(kept) + fmt.Sprintf("\n\n*(Cut: %d more characters did not fit into a comment.)*", n-utf8.RuneCountInString(kept))
}

// TitleLimit is the longest title of a pull request that GitHub takes.
const TitleLimit = 256

// NoClosing takes their effect from words such as "Fixes #7": GitHub closes
// what an agent's text or commit names so, and only its own issue is its
// business.
func NoClosing(s string) string { return closing.ReplaceAllString(s, "${1}"+zeroWidth+"$2") }

// CleanTitle makes a title of one line, without what people do not see.
func CleanTitle(s string) string {
	s = oneLine(strings.ReplaceAll(s, zeroWidth, ""))
	if utf8.RuneCountInString(s) > TitleLimit {
		s = strings.TrimSpace(firstRunes(s, TitleLimit-1)) + "…"
	}
	return s
}

// CleanMessage makes a commit message of what an agent wrote: without lines
// that could be taken for our trailers.
func CleanMessage(s string) string {
	s = commitMarks.ReplaceAllStringFunc(dropInvisible(s), func(m string) string {
		return strings.Replace(m, ":", " -", 1)
	})
	return strings.TrimSpace(s)
}

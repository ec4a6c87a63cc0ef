package public

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Visible makes hidden content visible. It returns valid UTF-8 with uniform line endings and no
// control characters, and writes invisible characters as code points. So nobody can hide words from
// people who read an issue while its agent sees them.
func Visible(s string) string {
	s = work.Normalise(strings.ToValidUTF8(s, "\uFFFD"))
	if strings.IndexFunc(s, Hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Hidden reports whether people cannot see the character: controls, format characters (zero width,
// direction, tags), fillers, and separators that only some programs show as a line's end. Joiners
// and variation selectors are part of emoji and scripts and stay; tags do not.
func Hidden(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f: // nearly all of a log
		return false
	case r == '\n' || r == '\t' || r == '\u200D' || r == '\u200C':
		return false
	case r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0':
		return true
	case r >= 0xE0100 && r <= 0xE01EF: // variation selectors that no font uses
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Co, r)
}

// OneLine makes text a single line, for headers and lists.
func OneLine(s string) string {
	return strings.Join(strings.Fields(Visible(s)), " ")
}

// FirstRunes returns the first n characters.
func FirstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// withoutComments removes HTML comments from Markdown outside code, where GitHub shows them, and shows
// unclosed ones. Removing one may create another: after three rounds, the remaining ones are made
// visible.
func withoutComments(s string) string {
	for range 3 {
		next := stripComments(s)
		if next == s {
			return s
		}
		s = next
	}
	if hasComment(s) {
		return showUnclosed(s)
	}
	return s
}

// showUnclosed escapes comment openings, so that they hide nothing.
func showUnclosed(s string) string { return strings.ReplaceAll(s, commentOpen, "&lt;!--") }

func hasComment(s string) bool {
	for _, seg := range segments(s) {
		if seg.kind == spanComment || seg.kind == spanUnclosed {
			return true
		}
	}
	return false
}

func stripComments(s string) string {
	if !strings.Contains(s, commentOpen) {
		return s
	}
	var b strings.Builder
	gap := false // a comment was removed here: the text around it must not join to a new one
	for _, seg := range segments(s) {
		switch seg.kind {
		case spanComment:
			gap = true
			continue
		case spanUnclosed:
			seg.text = showUnclosed(seg.text)
		case spanText, spanCode:
		}
		if gap && !atLineEdge(b.String(), seg.text) {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteString(seg.text)
	}
	return b.String()
}

func atLineEdge(before, after string) bool {
	return before == "" || strings.HasSuffix(before, "\n") || after == "" || strings.HasPrefix(after, "\n")
}

package public

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var (
	// parting matches markup between two letters that GitHub shows as one word: emphasis, a tag.
	parting = "[*_~\\\\`\\x01]*"

	// closing is a keyword by which GitHub closes an issue, and the issue, in a text as people see
	// it. Anything but letters and digits may separate the two.
	closing = lazy.Regexp(`(?i)((?:` + parted("close") + `|` + parted("fix") + `|` + parted("resolve") + `)` + parting + `(?:e?` + parting + `[sd])?)` +
		`(?:([ \t\p{Zs}:]+)[^\p{L}\p{N}#]*|[^\p{L}\p{N}#]+)(?:(?:[\w.*~\x01-]+/[\w.*~\x01-]+)?#[^\p{L}\p{N}]*[0-9]|GH-[0-9]|https?:)`)

	// restOfIssue is what may follow the first digit of a number, or the scheme of an address.
	restOfIssue = lazy.Regexp(`^[\p{L}\p{N}/._-]*[\p{L}\p{N}]`)
	plainIssue  = lazy.Regexp(`^(?:#|[A-Za-z0-9])`)

	reference = lazy.Regexp(`^&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31}|)(;?)`)
)

func parted(word string) string { return strings.Join(strings.Split(word, ""), parting) }

// NoClosing disables words such as "Fixes #7": GitHub would close the issue, and an agent may close
// only its own. It looks at the text as shown: character references, tags and emphasis make no
// difference. It also disables words that skip checks or sign for somebody, because the text may
// become a commit message.
func NoClosing(s string) string { return NoNewClosing(s, "") }

// NoNewClosing is NoClosing for a text that replaces the former one, and still closes what that one closes:
// a person wrote or left it there.
func NoNewClosing(s, former string) string {
	s = noVouching(s)
	kept := Closes(former)
	var b strings.Builder
	at := 0
	for _, c := range closings(s) {
		if !slices.Contains(kept, c.issue) {
			b.WriteString(s[at:c.begins] + zeroWidth)
			at = c.begins
		}
	}
	return b.String() + s[at:]
}

// Closes returns the issues that a text closes by plain words outside code, in small letters: "#7",
// "octo/lib#7".
func Closes(s string) (issues []string) {
	for _, c := range closings(withoutCode(s)) {
		if c.plain {
			issues = append(issues, c.issue)
		}
	}
	return issues
}

// withoutCode blanks out code, in which nothing is closed.
func withoutCode(s string) string {
	var b strings.Builder
	for _, seg := range segments(s) {
		if seg.kind == spanCode {
			seg.text = strings.Repeat("\x00", len(seg.text))
		}
		b.WriteString(seg.text)
	}
	return b.String()
}

// closed is an issue that a text closes, or may close.
type closed struct {
	issue  string // as shown
	begins int    // where it begins in the source
	plain  bool   // nothing but white space and a colon parts it from its keyword, as GitHub wants it
}

func closings(s string) (all []closed) {
	seen, from := shown(s)
	for _, m := range closing().FindAllStringSubmatchIndex(seen, -1) {
		if last, _ := utf8.DecodeLastRuneInString(seen[:m[0]]); m[0] > 0 && (unicode.IsLetter(last) || unicode.IsDigit(last)) && !endsLink(s[:from[m[0]]]) {
			continue // "prefixes #7"
		}
		begins := max(m[3], m[5]) // after the white space
		issue := seen[begins:m[1]] + restOfIssue().FindString(seen[m[1]:])
		all = append(all, closed{strings.ToLower(issue), from[begins], m[5] > 0 && plainIssue().MatchString(issue)})
	}
	return all
}

// shown resolves character references in Markdown and replaces each tag by a control character;
// from maps each byte to its place in the source.
func shown(s string) (seen string, from []int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		piece, length := s[i:i+1], 1
		switch s[i] {
		case '&':
			if ref := reference().FindString(s[i:]); len(ref) > 1 {
				if seen := html.UnescapeString(ref); seen != ref {
					piece, length = seen, len(ref)
				}
			}
		case '<':
			if t := keptTag().FindString(s[i:]); t != "" {
				piece, length = "\x01", len(t)
			}
		}
		b.WriteString(piece)
		for range len(piece) {
			from = append(from, i)
		}
		i += length
	}
	return b.String(), from
}

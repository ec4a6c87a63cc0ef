package public

import (
	"html"
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

	reference = lazy.Regexp(`^&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31}|)(;?)`)
)

func parted(word string) string { return strings.Join(strings.Split(word, ""), parting) }

// NoClosing disables words such as "Fixes #7": GitHub would close the issue, and an agent may close
// only its own. It looks at the text as shown: character references, tags and emphasis make no
// difference. It also disables words that skip checks or sign for somebody, because the text may
// become a commit message.
func NoClosing(s string) string {
	s = noVouching(s)
	seen, from := shown(s)
	var b strings.Builder
	at := 0
	for _, m := range closing().FindAllStringSubmatchIndex(seen, -1) {
		word, end := from[m[0]], m[3]
		if m[5] > end {
			end = m[5] // after the white space
		}
		if last, _ := utf8.DecodeLastRuneInString(seen[:m[0]]); m[0] > 0 && (unicode.IsLetter(last) || unicode.IsDigit(last)) && !endsLink(s[:word]) {
			continue // "prefixes #7"
		}
		b.WriteString(s[at:from[end]] + zeroWidth)
		at = from[end]
	}
	return b.String() + s[at:]
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

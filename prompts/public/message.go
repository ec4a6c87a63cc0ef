package public

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

const checkSystems = `(?:ci|cd|ci/cd|actions?|checks?|workflows?|pipelines?|builds?|tests?|deploy(?:ment)?s?|travis|circleci|circle|appveyor|azp|azure[ _-]?pipelines|gitlab|` +
	`netlify|vercel|drone|buildkite|codebuild|semaphore|jenkins|bitrise|cirrus|woodpecker)`

var (
	skipMark = `(?:\[\s*(?:(?:skip|no)[\s_-]+` + checkSystems + `|` + checkSystems + `[\s_-]+skip)\s*\]|\*\*\*NO_CI\*\*\*)`

	// skips matches marks by which GitHub and others skip a commit's checks.
	skips = lazy.Regexp(`(?im)^` + skipMark + `[ \t]*|[ \t]*` + skipMark)

	// vouching matches a trailer by which somebody vouches for a commit, or that skips checks.
	vouching = lazy.Regexp(`(?i)^[ \t]*(?:[A-Za-z][A-Za-z-]*-by|on-behalf-of|skip-checks)[ \t]*:`)
	// always matches the trailers that count even in a message's first line.
	always = lazy.Regexp(`(?i)^[ \t]*(?:co-authored-by|signed-off-by|on-behalf-of|skip-checks)[ \t]*:`)

	commitMarks = lazy.Regexp(`(?im)^[ \t]*Mergexo-[A-Za-z]+[ \t]*:`)
)

// Message makes a commit message of an agent's text. It removes lines that look like our trailers,
// signatures, and marks that skip checks. An agent must not vouch for a commit.
func Message(s string) string {
	s = commitMarks().ReplaceAllStringFunc(dropInvisible(s), func(m string) string {
		return strings.Replace(m, ":", " -", 1)
	})
	return strings.TrimSpace(withoutTrailers(withoutSkips(s)))
}

// withoutSkips removes marks such as [skip ci], also those that a removal creates.
func withoutSkips(s string) string {
	for {
		next := skips().ReplaceAllString(s, "")
		if next == s {
			return s
		}
		s = next
	}
}

// withoutTrailers removes trailers and their continuation lines.
func withoutTrailers(s string) string {
	var b strings.Builder
	dropped := false
	for line := range strings.Lines(s) {
		continues := dropped && (line[0] == ' ' || line[0] == '\t')
		dropped = continues || always().MatchString(line) || b.Len() > 0 && vouching().MatchString(line)
		if !dropped {
			b.WriteString(line)
		}
	}
	return b.String()
}

// noVouching disables the same words where they must stay visible: a squashed merge uses a pull
// request's text as its message.
func noVouching(s string) string {
	s = skips().ReplaceAllStringFunc(s, func(mark string) string {
		at := strings.IndexAny(mark, "[_") + 1
		return mark[:at] + zeroWidth + mark[at:]
	})
	if !strings.Contains(s, ":") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if vouching().MatchString(line) {
			line = strings.Replace(line, ":", zeroWidth+":", 1)
		}
		b.WriteString(line)
	}
	return b.String()
}

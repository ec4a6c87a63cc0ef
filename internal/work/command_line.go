package work

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// unquoted matches what a shell reads as one word without quotes.
var unquoted = lazy.Regexp(`^[A-Za-z0-9_@%+=:,./-]+$`)

// CommandLine returns a command as typed into a shell: each argument is one word.
func CommandLine(argv []string) string {
	words := make([]string, 0, len(argv))
	for _, arg := range argv {
		if !unquoted().MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

package prompts

import (
	"fmt"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/prompts/public"
)

// cut shortens text to limit characters in all and replaces its end by a note of how many were left
// out. Text within the limit is unchanged, so cutting twice is cutting once.
func cut(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	note := fmt.Sprintf("\n[… %d characters left out]", n-limit)
	return public.FirstRunes(s, max(0, limit-utf8.RuneCountInString(note)-8)) + note
}

// cutHead cuts the beginning, for text whose end matters most.
func cutHead(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	note := fmt.Sprintf("[… %d characters left out]\n", n-limit)
	keep := max(0, limit-utf8.RuneCountInString(note)-8)
	return note + s[len(public.FirstRunes(s, n-keep)):]
}

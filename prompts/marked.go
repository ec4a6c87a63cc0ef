package prompts

import (
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// Limits of a body in characters: in all; for the keys of answered events in full; and for the keys
// once they are shortened.
const (
	MaxBody       = 65536 // GitHub's limit
	plainHandled  = 16000
	shortHandled  = 40000
	shortKeySpace = 10
)

// Bounded appends tail and marks to a text and keeps the whole within GitHub's limit: text that is
// too long is cut, with a note.
func Bounded(text, tail string, m work.Marks) string {
	m.Handled = handled(m.Handled)
	if tail != "" {
		tail = "\n\n" + tail
	}
	room := MaxBody - utf8.RuneCountInString(work.Mark(tail, m))
	return work.Mark(public.Balanced(public.Cut(text, room))+tail, m)
}

// handled returns the keys of answered events, shortened for a turn with thousands of them, so that
// its body can be sent.
func handled(keys []string) []string {
	if len(strings.Join(keys, " ")) <= plainHandled {
		return keys
	}
	short := make([]string, 0, len(keys))
	for _, key := range keys[:min(len(keys), shortHandled/shortKeySpace)] {
		short = append(short, work.ShortKey(key))
	}
	return short
}

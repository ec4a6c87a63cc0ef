package work

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Short abbreviates a commit's oid.
func Short(oid string) string {
	if len(oid) > 7 {
		return oid[:7]
	}
	return oid
}

// Count formats a number with its noun: "1 comment", "2 comments".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// JoinNames joins names: "a, b and c".
func JoinNames(names []string) string {
	switch len(names) {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	}
	var s strings.Builder
	s.WriteString(names[0])
	for _, n := range names[1 : len(names)-1] {
		s.WriteString(", " + n)
	}
	return s.String() + " and " + names[len(names)-1]
}

// Sentence adds a full stop to a text that does not end with punctuation.
func Sentence(s string) string {
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')' {
		return s + "."
	}
	return s
}

// UTC formats a time as comments on GitHub show it.
func UTC(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

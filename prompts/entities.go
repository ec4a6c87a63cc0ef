package prompts

import (
	"regexp"
	"strconv"
	"strings"
)

// reference is a character that is written by its number or name: GitHub reads
// it as the character, and then finds a mention or a closing word there.
var reference = regexp.MustCompile(`&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(commat|num|sol|lowbar|colon));`)

var named = map[string]string{"commat": "@", "num": "#", "sol": "/", "lowbar": "_", "colon": ":"}

// plain writes references to letters, digits and the signs of mentions as what
// they stand for. Others, such as &#60; for "<", stay.
func plain(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		if m[3] != "" {
			return named[m[3]]
		}
		digits, base := m[2], 10
		if m[1] != "" {
			digits, base = m[1], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n > 0x7f || !wordByte(byte(n)) && !strings.ContainsRune("@#/_:", rune(n)) {
			return ref
		}
		return string(rune(n))
	})
}

var (
	rawTag  = regexp.MustCompile(`(?i)<(script|style|textarea|\?|![A-Z\[])`)
	preTag  = regexp.MustCompile(`(?i)<pre\b`)
	preOver = regexp.MustCompile(`(?i)</pre\s*>`)
)

// withoutRaw makes text of the tags that begin a block of raw HTML which only
// their own end closes: left open, it swallows all that comes after it. A <pre>
// that is closed may stay.
func withoutRaw(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	open := len(preTag.FindAllString(s, -1)) > len(preOver.FindAllString(s, -1))
	var b strings.Builder
	for _, seg := range segments(s) {
		if seg.kind != spanCode {
			seg.text = rawTag.ReplaceAllString(seg.text, "&lt;$1")
			if open {
				seg.text = preTag.ReplaceAllStringFunc(seg.text, func(tag string) string { return "&lt;" + tag[1:] })
			}
		}
		b.WriteString(seg.text)
	}
	return b.String()
}

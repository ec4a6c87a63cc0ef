package terminal

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// legible shows control characters, and characters that hide or reorder others, as code points:
// titles, branches and errors come from strangers. Newlines and tabs stay. Joiners of letters and
// emoji are removed.
func legible(s string) string {
	if !strings.ContainsFunc(s, special) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"), r == '\u200c', r == '\u200d':
		case special(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r) // also for a byte that is no character
		}
	}
	return b.String()
}

// special reports whether a character is a control or format character other than newline and tab.
func special(r rune) bool {
	if r < unicode.MaxASCII { // nearly all
		return r < ' ' && r != '\n' && r != '\t'
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// escaped is a character as a JSON escape.
func escaped(r rune) string {
	if hi, lo := surrogates(r); hi != 0 {
		return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func surrogates(r rune) (hi, lo rune) {
	if r < 0x10000 {
		return 0, 0
	}
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

// escapeJSON replaces special characters in encoded JSON by escapes, which mean the same. They only
// occur inside strings.
func escapeJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, special) {
		return b
	}
	var out strings.Builder
	for _, r := range string(b) {
		if special(r) {
			out.WriteString(escaped(r))
		} else {
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}

// legibleStrings makes every string of encoded JSON legible.
func legibleStrings(b []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(mapStrings(v, legible))
}

func mapStrings(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapStrings(v[i], change)
		}
	case map[string]any:
		for k := range v {
			v[k] = mapStrings(v[k], change)
		}
	}
	return v
}

// JSONLines returns a writer for a log of JSON lines, which people also read on terminals.
func JSONLines(to io.Writer) io.Writer { return jsonLines{to} }

type jsonLines struct{ to io.Writer }

func (w jsonLines) Write(b []byte) (int, error) {
	if _, err := w.to.Write(escapeJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Screen is the only way to standard output and standard error for text: it makes everything
// legible, and distinguishes our own colours from escape sequences in titles.
type Screen struct {
	to     io.Writer
	styled bool // colour sequences pass: the text contains no others

	mu    sync.Mutex
	held  []byte    // an incomplete character
	above io.Writer // prints above redrawn lines; nil: there are none
	err   error     // of the first failed write
}

// NewScreen returns a screen over a writer.
func NewScreen(to io.Writer) *Screen { return &Screen{to: to} }

// paintMark replaces the beginning of our own escape sequences until they are written. Nobody can
// guess it.
var paintMark = rand.Text() + "["

// colours matches escape sequences for colours and weights.
var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

func (w *Screen) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.held, b...)
	n := len(all) - incomplete(all)
	text := string(all[:n])
	w.held = append([]byte(nil), all[n:]...)
	if err := w.print(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (w *Screen) print(text string) error {
	if w.styled {
		text = colours().ReplaceAllStringFunc(text, func(s string) string { return paintMark + strings.TrimPrefix(s, "\x1b[") })
	}
	text = painted(text)
	if w.above != nil {
		if _, err := io.WriteString(w.above, text); err == nil {
			return nil
		}
	}
	_, err := io.WriteString(w.to, text)
	if w.err == nil {
		w.err = err
	}
	return err
}

// Err returns the error of the first failed write, so that callers need not check each line.
func (w *Screen) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// divert prints output above redrawn lines; nil ends that.
func (w *Screen) divert(above io.Writer) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.above = above
}

// Flush writes what is held, at the end of the output.
func (w *Screen) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) > 0 {
		_ = w.print(string(w.held)) // an incomplete character; Err has the error
	}
	w.held = nil
}

// incomplete returns how many bytes at the end are an incomplete character.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

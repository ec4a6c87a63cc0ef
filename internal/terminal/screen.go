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

// legible shows the characters that a terminal obeys, or that hide and reorder
// others, by their numbers: titles, branches and errors come from strangers. Line
// ends and tabs stay. What joins letters and emoji is dropped.
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

// special reports whether a character is a control or format character, line
// ends and tabs excepted.
func special(r rune) bool {
	if r < unicode.MaxASCII { // nearly all
		return r < ' ' && r != '\n' && r != '\t'
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// escaped is a character as JSON writes it.
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

// escapeJSON writes the special characters of encoded JSON as JSON can, so that
// it means the same and shows nothing else. Of the others JSON has none.
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

// JSONLines writes a log of JSON, which people read on terminals too.
func JSONLines(to io.Writer) io.Writer { return jsonLines{to} }

type jsonLines struct{ to io.Writer }

func (w jsonLines) Write(b []byte) (int, error) {
	if _, err := w.to.Write(escapeJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Screen is the one way to standard output and standard error for what people
// read: it makes everything legible, and knows our own colours from those that
// somebody wrote into a title.
type Screen struct {
	to     io.Writer
	styled bool // sequences of colours pass: what is written holds no others

	mu    sync.Mutex
	held  []byte    // the beginning of a character whose rest has not come
	above io.Writer // what prints above lines that are drawn again; nil: there are none
}

// NewScreen is the screen over a writer.
func NewScreen(to io.Writer) *Screen { return &Screen{to: to} }

// paintMark stands for the beginning of a sequence of our own until it is
// written. Nobody can guess it.
var paintMark = rand.Text() + "["

// colours are the sequences for colours and weights.
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
	return err
}

// divert has what is printed stand above lines that are drawn again; nil ends that.
func (w *Screen) divert(above io.Writer) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.above = above
}

// Flush writes what is held, when nothing more will come.
func (w *Screen) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) > 0 {
		_ = w.print(string(w.held)) // half a character; who wrote it cannot be told
	}
	w.held = nil
}

// incomplete is how many bytes at the end begin a character that is not whole.
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

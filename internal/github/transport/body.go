package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// For JSON bodies, go-gh's client inspects every rune for control characters that a terminal would
// obey, and allocates a table for each one found: a page of comments full of them took longer than
// a pass has. So bodies are read beneath go-gh, sanitized as go-gh would do it, and passed to the
// sender. Bodies that are not JSON or not UTF-8 take go-gh's way.

// plainBody receives the body of one answer without control characters.
type plainBody struct {
	is   bool
	text []byte
}

type plainBodyKey struct{}

// wantPlain requests that an answer's body is read before go-gh does.
func wantPlain(req *http.Request) (*http.Request, *plainBody) {
	b := &plainBody{}
	return req.WithContext(context.WithValue(req.Context(), plainBodyKey{}, b)), b
}

// bodyReader reads whole bodies for requests of wantPlain.
type bodyReader struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r bodyReader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	into, wanted := req.Context().Value(plainBodyKey{}).(*plainBody)
	if !wanted {
		return resp, nil
	}
	text, err := readBody(resp)
	_ = resp.Body.Close() // it was read
	// A body that is too long is refused, so its characters do not matter.
	into.is, into.text = err == nil && (len(text) > MaxBody || isPlain(text)), text
	if err == nil && !into.is && isJSON(resp.Header.Get("Content-Type")) && utf8.Valid(text) {
		into.is, into.text = true, withoutControls(text)
	}
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), failing{err}))
	return resp, nil
}

// readBody reads at most one byte more than MaxBody.
func readBody(resp *http.Response) ([]byte, error) {
	b := takeBuffer()
	defer putBuffer(b)
	_, err := b.ReadFrom(io.LimitReader(resp.Body, MaxBody+1))
	return bytes.Clone(b.Bytes()), err
}

// buffers are reused for reading bodies. Few answers declare their length, and a buffer that grows
// by doubling leaves three times its length as garbage. The garbage collector never frees these, so
// there are few, and none is large: parallel reads wait for GitHub, not for buffers.
var buffers = make(chan *bytes.Buffer, 2)

const largeBuffer = 512 << 10

func takeBuffer() *bytes.Buffer {
	select {
	case b := <-buffers:
		return b
	default:
		return new(bytes.Buffer)
	}
}

func putBuffer(b *bytes.Buffer) {
	if b.Cap() > largeBuffer {
		return
	}
	b.Reset()
	select {
	case buffers <- b:
	default:
	}
}

// isPlain reports whether go-gh would not change a body: it is ASCII without control characters,
// escaped ones included.
func isPlain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c > unicode.MaxASCII || c == 0x7f {
			return false
		}
	}
	return !bytes.Contains(text, []byte(`\u00`))
}

// isJSON reports whether go-gh takes the content type for JSON.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
}

// withoutControls replaces control characters of a JSON text, escaped ones included, as go-gh does:
// by a caret and a letter. The text must be UTF-8.
func withoutControls(text []byte) []byte {
	out := make([]byte, 0, len(text))
	escaped := false // by the previous backslash
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if caret := caretOf(r); caret != "" {
			out, text = append(out, caret...), text[size:]
			continue
		}
		if caret := caretOf(escapedRune(text)); caret != "" {
			if escaped { // or the backslash would escape the caret
				out = append(out, '\\')
			}
			out, text, escaped = append(out, caret...), text[len(`\u0000`):], false
			continue
		}
		out, text, escaped = append(out, text[:size]...), text[size:], r == '\\' && !escaped
	}
	return out
}

// escapedRune returns the character up to 255 with whose \u00 escape a text begins, or -1.
func escapedRune(text []byte) rune {
	if len(text) < len(`\u0000`) || !bytes.HasPrefix(text, []byte(`\u00`)) {
		return -1
	}
	n, err := strconv.ParseUint(string(text[4:6]), 16, 8)
	if err != nil {
		return -1
	}
	return rune(n)
}

// caretOf returns the replacement of a control character, "" for other characters.
func caretOf(r rune) string {
	switch {
	case r == '\t', r == '\n', r == '\v', r == '\r', r < 0, r >= ' ' && r < 0x80, r > 0x9f:
		return ""
	case r&0x1f == 0x1c:
		return `^\\`
	}
	return "^" + string('@'+r&0x1f)
}

// failing ends a body with an error, or with io.EOF if err is nil.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

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

// go-gh's client looks at every rune of what comes as JSON, for control characters that a
// terminal would obey, and for each of those it makes a table: a page of comments that are
// full of them took longer than a pass has. So a body is read beneath go-gh, becomes what
// go-gh would make of it, and is given to whoever sent the request. What is no JSON, or no
// UTF-8, takes go-gh's way.

// plainBody is where the body of one answer is put, without control characters.
type plainBody struct {
	is   bool
	text []byte
}

type plainBodyKey struct{}

// wantPlain asks for the body of an answer ahead of go-gh.
func wantPlain(req *http.Request) (*http.Request, *plainBody) {
	b := &plainBody{}
	return req.WithContext(context.WithValue(req.Context(), plainBodyKey{}, b)), b
}

// bodyReader reads whole bodies for whom they are wanted.
type bodyReader struct{ http.RoundTripper }

// RoundTrip sends a request.
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
	// One that is too long is refused, and its characters do not matter.
	into.is, into.text = err == nil && (len(text) > MaxBody || isPlain(text)), text
	if err == nil && !into.is && isJSON(resp.Header.Get("Content-Type")) && utf8.Valid(text) {
		into.is, into.text = true, withoutControls(text)
	}
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), failing{err}))
	return resp, nil
}

// readBody reads one byte more than may be, at most.
func readBody(resp *http.Response) ([]byte, error) {
	b := takeBuffer()
	defer putBuffer(b)
	_, err := b.ReadFrom(io.LimitReader(resp.Body, MaxBody+1))
	return bytes.Clone(b.Bytes()), err
}

// buffers are what bodies are read into: few say how long they are, and one that grows by
// doubling leaves three times its length to the collector. These the collector leaves alone,
// so there are few and none is large: what reads side by side waits for GitHub, not for them.
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

// isPlain reports whether go-gh would leave a body as it is: it is ASCII, and has no
// control character, not even an escaped one.
func isPlain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c > unicode.MaxASCII || c == 0x7f {
			return false
		}
	}
	return !bytes.Contains(text, []byte(`\u00`))
}

// isJSON reports whether go-gh takes an answer of this type for JSON.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
}

// withoutControls writes control characters of a JSON text, also escaped ones, as go-gh does:
// as a caret and a letter. The text is UTF-8.
func withoutControls(text []byte) []byte {
	out := make([]byte, 0, len(text))
	escaped := false // by the backslash before
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if caret := caretOf(r); caret != "" {
			out, text = append(out, caret...), text[size:]
			continue
		}
		if caret := caretOf(escapedRune(text)); caret != "" {
			if escaped { // else the caret would be what is escaped
				out = append(out, '\\')
			}
			out, text, escaped = append(out, caret...), text[len(`\u0000`):], false
			continue
		}
		out, text, escaped = append(out, text[:size]...), text[size:], r == '\\' && !escaped
	}
	return out
}

// escapedRune is the character with whose escape a text begins, up to 255; there is none: -1.
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

// caretOf is how a control character is written; empty: it is none that a terminal obeys.
func caretOf(r rune) string {
	switch {
	case r == '\t', r == '\n', r == '\v', r == '\r', r < 0, r >= ' ' && r < 0x80, r > 0x9f:
		return ""
	case r&0x1f == 0x1c:
		return `^\\`
	}
	return "^" + string('@'+r&0x1f)
}

// failing ends a body as it ended: with an error, or well.
type failing struct{ err error }

// Read never gives anything.
func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

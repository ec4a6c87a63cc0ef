package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"unicode"
)

// go-gh's client looks at every rune of what comes as JSON, for control characters that a
// terminal would obey. Nearly all that GitHub sends is plain and has none, and to see that
// takes a fraction of the time: such a body is read beneath go-gh and given to whoever sent
// the request. All others take go-gh's way.

// plainBody is where the body of one answer is put, if it is plain.
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
	into.is, into.text = err == nil && isPlain(text), text
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

// failing ends a body as it ended: with an error, or well.
type failing struct{ err error }

// Read never gives anything.
func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

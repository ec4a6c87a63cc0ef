package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cli/go-gh/v2/pkg/asciisanitizer"
	"golang.org/x/text/transform"
	"pgregory.net/rapid"
)

// What is taken for plain go-gh would leave as it is.
func TestPlainIsWhatGoGhLeaves(t *testing.T) {
	part := rapid.SampledFrom([]string{`{"a":"`, `"}`, `\u001b`, `\u00e9`, `\u2028`, `\\u001b`, `\n`, `\\`, "\x1b", "\x7f", "\x9b", "é", "\u009b", "\xff", "\t", " ", "x", `\U0`, `\u00`, "\r\n"})
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), ""))
		if !isPlain(text) {
			return
		}
		plain++
		left, _, err := transform.Bytes(&asciisanitizer.Sanitizer{JSON: true}, text)
		if err != nil || !bytes.Equal(left, text) {
			t.Fatalf("%q becomes %q, %v", text, left, err)
		}
	})
	if plain == 0 {
		t.Error("nothing is plain")
	}
}

type respond func() *http.Response

func (f respond) RoundTrip(*http.Request) (*http.Response, error) { return f(), nil }

// A body comes whole to whoever wanted it, and to go-gh too: an end that is an error stays one.
func TestBodiesAreReadOnce(t *testing.T) {
	broken := errors.New("broken off")
	for _, c := range []struct {
		text  string
		ends  error
		plain bool
	}{
		{text: `{"a":"b"}`, plain: true},
		{text: `{"a":"\u001b[2J"}`},
		{text: `{"a":"é"}`},
		{text: `{"a`, ends: broken},
	} {
		r := bodyReader{respond(func() *http.Response {
			return &http.Response{Body: io.NopCloser(io.MultiReader(strings.NewReader(c.text), failing{c.ends}))}
		})}
		req, into := wantPlain((&http.Request{}).WithContext(t.Context()))
		resp, err := r.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if into.is != c.plain || string(into.text) != c.text {
			t.Errorf("%s: %v, %s", c.text, into.is, into.text)
		}
		again, err := io.ReadAll(resp.Body)
		if string(again) != c.text || !errors.Is(err, c.ends) {
			t.Errorf("%s: go-gh reads %s, %v", c.text, again, err)
		}
	}
}

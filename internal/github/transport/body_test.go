package transport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cli/go-gh/v2/pkg/asciisanitizer"
	"golang.org/x/text/transform"
	"pgregory.net/rapid"
)

// go-gh leaves bodies unchanged for which isPlain is true.
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

// Control characters become what go-gh makes of them.
func TestControlsAreWrittenAsGoGhDoes(t *testing.T) {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{`{"a":"`, `"}`, `\`, `\\`, `\u001b`, `\u009B`, `\u0009`, `\u00`, `\u00zz`, `\U001b`, "\x7f", "é", "x"}),
		rapid.Map(rapid.Int32Range(0, 0xa0), func(r int32) string { return string(r) }),
		rapid.Map(rapid.IntRange(0, 0xa0), func(r int) string { return fmt.Sprintf(`\u%04x`, r) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), ""))
		want, _, err := transform.Bytes(&asciisanitizer.Sanitizer{JSON: true}, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := withoutControls(text); !bytes.Equal(got, want) {
			t.Fatalf("%q becomes %q, and not %q", text, got, want)
		}
	})
}

// A page full of control characters does not allocate for each of them.
func TestControlsTakeLittle(t *testing.T) {
	text := []byte(`"` + strings.Repeat(`\u001b[2J`, 10_000) + `"`)
	if n := testing.AllocsPerRun(1, func() { withoutControls(text) }); n > 20_000 {
		t.Errorf("%v allocations for 10,000 control characters", n)
	}
}

type respond func() *http.Response

func (f respond) RoundTrip(*http.Request) (*http.Response, error) { return f(), nil }

// A body reaches the sender and go-gh completely; a read error stays one.
func TestBodiesAreReadOnce(t *testing.T) {
	broken := errors.New("broken off")
	for _, c := range []struct {
		text  string
		of    string // Content-Type
		ends  error
		plain bool
		want  string // if different from text
	}{
		{text: `{"a":"b"}`, plain: true},
		{text: `{"a":"\u001b[2J"}`},
		{text: `{"a":"\u001b[2J"}`, of: "application/json; charset=utf-8", plain: true, want: `{"a":"^[[2J"}`},
		{text: `{"a":"é"}`},
		{text: `{"a":"é"}`, of: "application/json", plain: true},
		{text: "{\"a\":\"\xff\"}", of: "application/json"},
		{text: `{"a`, ends: broken, of: "application/json"},
	} {
		r := bodyReader{respond(func() *http.Response {
			return &http.Response{Header: http.Header{"Content-Type": {c.of}}, Body: io.NopCloser(io.MultiReader(strings.NewReader(c.text), failing{c.ends}))}
		})}
		req, into := wantPlain((&http.Request{}).WithContext(t.Context()))
		resp, err := r.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if into.is != c.plain || string(into.text) != cmp.Or(c.want, c.text) {
			t.Errorf("%s: %v, %s", c.text, into.is, into.text)
		}
		again, err := io.ReadAll(resp.Body)
		if string(again) != c.text || !errors.Is(err, c.ends) {
			t.Errorf("%s: go-gh reads %s, %v", c.text, again, err)
		}
	}
}

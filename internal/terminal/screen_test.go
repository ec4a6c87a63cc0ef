package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// hostile is text that would paint, hide, reorder and write over a terminal.
const hostile = "a\x1b[31mred\u009b31m \u202egnp\u2066.\u200b\u00ad\ufeff\x07\b\r\x7f\u2028\U000e0041 \x1b]0;title\x07\xe9\x9b"

// harmless reports whether a terminal shows all of a text as it stands.
func harmless(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
}

func TestLegible(t *testing.T) {
	for in, want := range map[string]string{
		"plain – text, 漢字 and é\n\tas is\n": "plain – text, 漢字 and é\n\tas is\n",
		"a\x1b[31mb":              `a\u001b[31mb`,
		"a\u009b31mb":             `a\u009b31mb`,
		"\u202egnp.exe":           `\u202egnp.exe`,
		"zero\u200bwidth\ufeff":   `zero\u200bwidth\ufeff`,
		"a line\r\nanother\rover": "a line\nanother" + `\u000dover`,
		"\U0001f469\u200d\U0001f4bb, \u0645\u06cc\u200c\u062e": "\U0001f469\U0001f4bb, \u0645\u06cc\u062e",
		"tag \U000e0041":  `tag \udb40\udc41`,
		"latin-1 \x9b31m": "latin-1 \ufffd31m",
	} {
		if got := legible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := legible(hostile); !harmless(got) || !strings.Contains(got, "red") {
		t.Errorf("%q", got)
	}
}

// Whatever is written, and in whatever pieces, only our own colours come through.
func TestOnlyOurColoursComeThrough(t *testing.T) {
	o := Output{Color: true}
	all := hostile + o.Bold("ours: "+hostile) + "é漢"
	var want bytes.Buffer
	whole := &Screen{to: &want}
	_, _ = whole.Write([]byte(all))
	if n := strings.Count(want.String(), "\x1b["); n != 2 || !harmless(colours().ReplaceAllString(want.String(), "")) {
		t.Errorf("%d sequences in %q", n, want.String())
	}
	for _, size := range []int{40, 50, 63} {
		var got bytes.Buffer
		w := &Screen{to: &got}
		for rest := []byte("漢é" + strings.Repeat("x漢", 50)); len(rest) > 0; {
			n, err := w.Write(rest[:min(size, len(rest))])
			if err != nil || n != min(size, len(rest)) {
				t.Fatalf("%d, %v", n, err)
			}
			rest = rest[n:]
		}
		w.Flush()
		if strings.Contains(got.String(), "\ufffd") || got.String() != "漢é"+strings.Repeat("x漢", 50) {
			t.Errorf("in pieces of %d: %q", size, got.String())
		}
	}
	var cut bytes.Buffer
	w := &Screen{to: &cut}
	_, _ = w.Write([]byte("half \xe6\xbc"))
	w.Flush()
	if cut.String() != "half \ufffd\ufffd" && cut.String() != "half \ufffd" {
		t.Errorf("half a character: %q", cut.String())
	}
}

// JSON is exact for programs, and shows nothing but colours on a terminal.
func TestJSONOnATerminal(t *testing.T) {
	object := map[string]any{"name": hostile}
	for _, tty := range []bool{false, true} {
		for name, j := range map[string]JSON{
			"plain": {Fields: []string{"name"}},
			"jq":    {Fields: []string{"name"}, JQ: ".name"},
		} {
			var b bytes.Buffer
			if err := j.Write(Output{Bare: &b, TTY: tty, Color: tty, Width: 80}, object); err != nil {
				t.Fatal(err)
			}
			got := colours().ReplaceAllString(b.String(), "")
			if wantExact := !tty && name != "plain"; harmless(got) == wantExact {
				t.Errorf("tty %v, %s: %q", tty, name, b.String())
			}
			var back map[string]string
			exact := strings.ToValidUTF8(hostile, "\ufffd")
			if name == "plain" && (json.Unmarshal([]byte(got), &back) != nil || strings.ReplaceAll(back["name"], "\ufffd\ufffd", "\ufffd") != exact) {
				t.Errorf("tty %v: it does not mean the same: %q, %q", tty, got, back["name"])
			}
		}
	}
}

func TestTablesAreLegible(t *testing.T) {
	var b bytes.Buffer
	for _, o := range []Output{{W: &Screen{to: &b}}, {W: &Screen{to: &b}, TTY: true, Width: 60}} {
		if err := o.Table([]string{"ITEM", "TITLE", "LAST"}, [][]string{{"1", hostile, hostile}}); err != nil {
			t.Fatal(err)
		}
	}
	if !harmless(b.String()) || strings.Count(b.String(), "red") < 2 {
		t.Errorf("%q", b.String())
	}
}

// A log is read on terminals, and by programs that must find what was logged.
func TestLogLinesAreLegible(t *testing.T) {
	var b bytes.Buffer
	line, err := json.Marshal(map[string]string{"title": "\u009b31m \u202e \U000e0041"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(JSONLines(&b), string(line))
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["title"] != "\u009b31m \u202e \U000e0041" || !harmless(b.String()) {
		t.Errorf("%q: %v", b.String(), err)
	}
}

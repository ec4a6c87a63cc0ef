package secrets

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A known value is found whole, in base64 of anything that holds it, and split by line breaks, and
// nothing else is taken out.
func TestFormsOfAKnownValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.StringMatching(`[!-~]{8,48}`).Draw(t, "value")
		var s Redactor
		s.Add(known, "the value of X")
		form := rapid.SampledFrom([]string{known, known + known, "é" + known}).Draw(t, "form")
		if rapid.Bool().Draw(t, "base64") {
			whole := rapid.StringN(0, 9, -1).Draw(t, "before") + known + rapid.StringN(0, 9, -1).Draw(t, "after")
			form = rapid.SampledFrom([]*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding}).Draw(t, "alphabet").EncodeToString([]byte(whole))
		}
		var b strings.Builder
		every := rapid.IntRange(1, 90).Draw(t, "every")
		split := rapid.SampledFrom([]string{"", "\n", "\r\n", "\n    ", " \n\n\t"}).Draw(t, "break")
		for i, c := range form {
			if i > 0 && i%every == 0 {
				b.WriteString(split)
			}
			b.WriteRune(c)
		}
		text := "before: " + b.String() + "\nafter it\n"
		if found := s.Find(text); found[known] != "the value of X" {
			t.Fatalf("%q is not found in %q: %v", known, text, found)
		}
		got := s.Redact(text)
		if !strings.HasPrefix(got, "before: ") || !strings.HasSuffix(got, "\nafter it\n") || !strings.Contains(got, "[redacted: the value of X]") || len(s.Find(got)) > 0 {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestVariablesOfOtherPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		known []string
		plain []string
	}{
		"MINE":            {"open sesame", []string{"open sesame"}, nil},
		"PASSPHRASE":      {"abcdefgh", []string{"abcdefgh"}, nil},
		"A_KEY":           {"/abc/def+ghi==", []string{"/abc/def+ghi=="}, nil},
		"SHORT":           {"abcdefg", nil, []string{"abcdefg"}},
		"HTTPS_PROXY":     {"http://me:correcthorse1@proxy.example:3128", []string{"correcthorse1"}, []string{"proxy.example:3128"}},
		"OPENAI_BASE_URL": {"https://api.example/v1", nil, []string{"https://api.example/v1"}},
		"AWS_REGION":      {"eu-central-1", nil, []string{"eu-central-1"}},
		"NODE_ENV":        {"production", nil, []string{"production"}},
		"CODEX_HOME":      {"/home/me/.codex", nil, []string{"/home/me/.codex"}},
	} {
		var s Redactor
		s.AddVariable(name, c.value)
		for _, k := range c.known {
			if s.Find("x " + k + " y")[k] != "the value of "+name {
				t.Errorf("%s: %q is not known", name, k)
			}
		}
		for _, p := range c.plain {
			if found := s.Find("x " + p + " y"); len(found) > 0 {
				t.Errorf("%s: %q is taken for %v", name, p, found)
			}
		}
	}
}

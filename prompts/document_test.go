package prompts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/prompts/public"
)

var midday = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestDocumentIsAsTheDesignSays(t *testing.T) {
	got := string(RenderDocument(DocumentFields{
		Issue: 12, IssueURL: "https://github.com/o/n/issues/12", Priority: 4, TouchPaths: []string{"internal/**", "a: b"},
		EstimatedSize: "M", GeneratedAt: midday, Title: "Better things", Summary: "We do it.\n", Body: "## How\n\nSo.",
	}))
	want := `---
issue: 12
priority: 4
touch_paths:
  - "internal/**"
  - "a: b"
depends_on: []
estimated_size: "M"
generated_at: "2026-11-20T12:00:00Z"
---

# Better things

Issue: [#12](https://github.com/o/n/issues/12)

## Summary

We do it.

## How

So.
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	f, err := ParseDocument([]byte(got))
	if err != nil || f.Issue != 12 || f.Priority != 4 || !slices.Equal(f.TouchPaths, []string{"internal/**", "a: b"}) || f.EstimatedSize != "M" || !f.GeneratedAt.Equal(midday) || f.Title != "Better things" || f.Status != "" {
		t.Errorf("parsed %+v, %v", f, err)
	}
	if !strings.HasPrefix(f.Body, "Issue: [#12]") || !strings.HasSuffix(f.Body, "So.") {
		t.Errorf("body %q", f.Body)
	}
}

func TestDocumentsThatPeopleEdited(t *testing.T) {
	f, err := ParseDocument([]byte("\uFEFF---\r\nissue: 3\r\npriority: 9\r\nestimated_size: huge\r\ntouch_paths: [../x, ok, /abs]\r\ngenerated_at: yesterday\r\nowner: me\r\n---  \r\nText without a title.\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Issue != 3 || f.Priority != 0 || f.EstimatedSize != "" || !slices.Equal(f.TouchPaths, []string{"ok"}) || !f.GeneratedAt.IsZero() || f.Title != "" || f.Body != "Text without a title." {
		t.Errorf("got %+v", f)
	}
	for name, doc := range map[string]string{
		"none": "# Title\n", "not closed": "---\nissue: 1\n", "no YAML": "---\n: [\n---\n", "wrong type": "---\nissue: many\n---\n",
		"huge": "---\n" + strings.Repeat("x: 1\n", 20000) + "---\n", "empty": "",
	} {
		if _, err := ParseDocument([]byte(doc)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestMarkImplementedChangesTwoLinesOnly(t *testing.T) {
	doc := "---\nissue: 3\n# a person's remark\nstatus: \"draft\"\npriority: 2\n---\n\n# T\n\nstatus: stays\n"
	got, err := MarkImplemented([]byte(doc), midday)
	if err != nil {
		t.Fatal(err)
	}
	want := "---\nissue: 3\n# a person's remark\npriority: 2\nstatus: implemented\nimplemented_at: \"2026-11-20T12:00:00Z\"\n---\n\n# T\n\nstatus: stays\n"
	if string(got) != want {
		t.Errorf("got %q", got)
	}
	f, err := ParseDocument(got)
	if err != nil || f.Status != Implemented || !f.ImplementedAt.Equal(midday) || f.Priority != 2 {
		t.Errorf("parsed %+v, %v", f, err)
	}
	if again, err := MarkImplemented(got, midday); err != nil || string(again) != want {
		t.Errorf("marked twice: %q, %v", again, err)
	}
	if _, err := MarkImplemented([]byte("no front matter"), midday); err == nil {
		t.Error("accepted")
	}
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"plain", "? x", "a: b", "---", "\n---\nissue: 99\n", "'", "\"", "\\", "# c", "- x", "\u2028", "\t", "{{x}}", "*a &b !c", "\U0001F600", "null", "...", "\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, title, text string) {
		in := DocumentFields{Issue: 7, IssueURL: "u", Priority: 2, TouchPaths: []string{text, "z"}, DependsOn: []string{text}, EstimatedSize: "S", GeneratedAt: time.Unix(1e9, 0), Title: title, Summary: text, Body: text}
		out, err := ParseDocument(RenderDocument(in))
		if err != nil {
			t.Fatalf("%v in\n%s", err, RenderDocument(in))
		}
		if out.Issue != 7 || out.Priority != 2 || out.EstimatedSize != "S" || out.Status != "" || !out.GeneratedAt.Equal(in.GeneratedAt) {
			t.Errorf("got %+v", out)
		}
		if len(out.DependsOn) != 1 || out.DependsOn[0] != public.OneLine(text) {
			t.Errorf("depends_on %q, want %q", out.DependsOn, public.OneLine(text))
		}
		if len(out.TouchPaths) == 0 || out.TouchPaths[len(out.TouchPaths)-1] != "z" {
			t.Errorf("touch_paths %q", out.TouchPaths)
		}
		if want := public.Title(title); want != "" && out.Title != want {
			t.Errorf("title %q, want %q", out.Title, want)
		}
	})
}

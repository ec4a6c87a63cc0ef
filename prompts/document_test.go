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
	f, faults := ParseDocument([]byte(got))
	if faults != nil || f.Issue != 12 || f.Priority != 4 || !slices.Equal(f.TouchPaths, []string{"internal/**", "a: b"}) || f.EstimatedSize != "M" || !f.GeneratedAt.Equal(midday) || f.Title != "Better things" || f.Status != "" {
		t.Errorf("parsed %+v, %v", f, faults)
	}
	if !strings.HasPrefix(f.Body, "Issue: [#12]") || !strings.HasSuffix(f.Body, "So.") {
		t.Errorf("body %q", f.Body)
	}
}

// People add keys of their own, or take the front matter away.
func TestDocumentsThatPeopleEdited(t *testing.T) {
	f, faults := ParseDocument([]byte("\uFEFF---\r\nissue: 3\r\npriority:\r\ntouch_paths: [ok]\r\ngenerated_at: yesterday\r\nowner: [me]\r\n---  \r\nText without a title.\r\n"))
	if f.Issue != 3 || f.Priority != 0 || !slices.Equal(f.TouchPaths, []string{"ok"}) || !f.GeneratedAt.IsZero() || f.Title != "" || f.Body != "Text without a title." || faults != nil {
		t.Errorf("got %+v, %v", f, faults)
	}
	if f, faults := ParseDocument([]byte("# Title\n\nText.\n")); f.Title != "Title" || f.Body != "Text." || faults != nil {
		t.Errorf("got %+v, %v", f, faults)
	}
}

func TestEachFaultOfADesignHasItsLine(t *testing.T) {
	for head, want := range map[string]string{
		"priority: 9\n---\n":                      "line 2: priority is not a number from 1 to 5",
		"issue: many\n---\n":                      "line 2: issue is not the number of an issue",
		"issue: -1\n---\n":                        "line 2: issue is not the number of an issue",
		"estimated_size: huge\n---\n":             "line 2: estimated_size is none of S, M and L",
		"touch_paths: [a, ../x]\n---\n":           "line 2: an entry of touch_paths leaves the repository",
		"touch_paths:\n  - a\n  - [b]\n---\n":     "line 4: lists or mappings are nested more than 2 deep: \"- [b]\"",
		"touch_paths: a\n---\n":                   "line 2: touch_paths is a text, and should be a list",
		"depends_on: [a, ~]\n---\n":               "line 2: an entry of depends_on is empty, and should be a text",
		"issue: 1\ntouch_paths: !!str x\n---\n":   "line 3: a value or key begins with a YAML tag (!); write the text in quotes, on one line: \"touch_paths: !!str x\"",
		"depends_on: !x \n---\n":                  "line 2: a value or key begins with a YAML tag (!); write the text in quotes, on one line: \"depends_on: !x\"",
		"touch_paths: !!seq\n---\n":               "line 2: a value or key begins with a YAML tag (!); write the text in quotes, on one line: \"touch_paths: !!seq\"",
		strings.Repeat("[", 30000) + "\n---\n":    "line 2: lists or mappings are nested more than 2 deep: a text of 30000 characters",
		"- a\n---\n":                              "line 2: the front matter is a list, and should be keys with values",
		"issue: 1\n":                              "line 1: the document has no front matter between --- lines",
		strings.Repeat("x: 1\n", 14000) + "---\n": "line 1: its front matter has 70000 bytes; at most 65536 are read",
	} {
		began := time.Now()
		if _, faults := ParseDocument([]byte("---\n" + head)); len(faults) != 1 || faults[0].String() != want || time.Since(began) > 10*time.Second {
			t.Errorf("%.40q: got %v in %s, want %q", head, faults, time.Since(began), want)
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
	f, faults := ParseDocument(got)
	if faults != nil || f.Status != Implemented || !f.ImplementedAt.Equal(midday) || f.Priority != 2 {
		t.Errorf("parsed %+v, %v", f, faults)
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
		if len(text) > 300 || PathProblem(public.OneLine(text)) != "" {
			text = "text"
		}
		in := DocumentFields{Issue: 7, IssueURL: "u", Priority: 2, TouchPaths: []string{text, "z"}, DependsOn: []string{text}, EstimatedSize: "S", GeneratedAt: time.Unix(1e9, 0), Title: title, Summary: text, Body: text}
		out, faults := ParseDocument(RenderDocument(in))
		if faults != nil {
			t.Fatalf("%v in\n%s", faults, RenderDocument(in))
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

// The faults of any design are short, on lines of it, and found in a bounded time; what has none is
// written and read as it is.
func FuzzParseDocument(f *testing.F) {
	for _, doc := range []string{
		"---\nissue: 1\ntouch_paths: !!str x\n---\n", "---\ndepends_on: !x \n---\n", "---\ntouch_paths: !!seq\n---\n", "---\n" + strings.Repeat("[", 20000) + "\n---\n",
		"---\nissue: 3\npriority: 2\ntouch_paths:\n  - a\ndepends_on: ['#1', \"#2\"]\nestimated_size: \"M\"\n---\n\n# T\n", "---\na: &a [*a]\n---\n", "# T\n", "---\n",
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if len(doc) > 1<<20 {
			return
		}
		began := time.Now()
		got, faults := ParseDocument([]byte(doc))
		if took := time.Since(began); took > 10*time.Second {
			t.Fatalf("took %s", took)
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Line > 1+strings.Count(doc, "\n")+strings.Count(doc, "\r") || strings.ContainsAny(fault.Says, "\n\r") || len(fault.Says) > 1000 {
				t.Fatalf("%v is not one short line of the document", fault)
			}
		}
		if len(faults) > 0 {
			return
		}
		if marked, err := MarkImplemented([]byte(doc), midday); err == nil {
			if again, faults := ParseDocument(marked); len(faults) > 0 || again.Status != Implemented || again.Issue != got.Issue || !slices.Equal(again.DependsOn, got.DependsOn) {
				t.Fatalf("%+v is marked as\n%s\nand read as %+v, %v", got, marked, again, faults)
			}
		}
	})
}

package prompts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// folder makes a folder of overrides.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goodOverride = "{{template \"system_base\" .}}\n\nOur way.\n\n{{template \"state_summary\" .}}\n{{template \"answer\" .}}\n"

func TestOverridesReplaceOurPrompts(t *testing.T) {
	dir := folder(t, map[string]string{"bugfix_start.tmpl": goodOverride, "README.md": "notes", ".swp": "x", "old.tmpl~": "x"})
	p, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Render(work.KindBugfixStart, story())
	if err != nil || !strings.Contains(got, "\n\nOur way.\n\n## Issue #12") || strings.Contains(got, "in this order") {
		t.Errorf("%v\n%s", err, got)
	}
	if other, err := p.Render(work.KindSmallJobStart, story()); err != nil || strings.Contains(other, "Our way.") {
		t.Errorf("another prompt: %v\n%s", err, other)
	}
	if text, path, ok := p.Source("bugfix_start"); !ok || text != goodOverride || path != filepath.Join(dir, "bugfix_start.tmpl") {
		t.Errorf("source %q %q %v", text, path, ok)
	}
	if _, path, _ := p.Source("small_job_start"); path != "" {
		t.Errorf("another prompt is of %q", path)
	}
	if again, _ := render(work.KindBugfixStart, story()); strings.Contains(again, "Our way.") {
		t.Error("the built-in pack was changed")
	}
	for _, none := range []string{"", filepath.Join(dir, "none"), t.TempDir()} {
		if p, err := Load(none); err != nil || p != ours() {
			t.Errorf("Load(%q) = %v, %v", none, p, err)
		}
	}
}

// Every built-in template is a good override of itself: it is what people begin
// with.
func TestOurOwnTemplatesAreGoodOverrides(t *testing.T) {
	files := map[string]string{}
	for _, name := range Names() {
		text, _, ok := ours().Source(name)
		if !ok {
			t.Fatalf("no source of %s", name)
		}
		files[name+".tmpl"] = text
	}
	p, err := Load(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range Kinds() {
		mine, err := p.Render(kind, story())
		if built, _ := render(kind, story()); err != nil || mine != built {
			t.Errorf("%s differs: %v", kind, err)
		}
	}
}

func TestBrokenOverridesAreNamedWithFileAndLine(t *testing.T) {
	base := "{{template \"system_base\" .}}\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"syntax":                {"bugfix_start.tmpl", "a\n{{if}}\n", "bugfix_start.tmpl:2: missing value for if"},
		"unclosed":              {"bugfix_start.tmpl", "a\nb\n{{", "bugfix_start.tmpl:3: "},
		"unknown field":         {"bugfix_start.tmpl", base + "\n{{.Isue}}", "bugfix_start.tmpl:3: <.Isue>: can't evaluate field Isue"},
		"unknown part":          {"bugfix_start.tmpl", base + "{{template \"base\" .}}", "bugfix_start.tmpl:2: "},
		"nothing where null":    {"review.tmpl", base + "{{.PullRequest.Number}} {{.Diff}} {{.Persona}} {{.Findings}}", "review.tmpl:2: "},
		"empty":                 {"bugfix_start.tmpl", "", "it is empty"},
		"no issue":              {"bugfix_start.tmpl", base, `the prompt "bugfix_start" lacks the issue`},
		"no events":             {"implementation_feedback.tmpl", base + `{{template "state_summary" .}}`, "lacks what people said"},
		"no design":             {"implementation_start.tmpl", base + `{{template "state_summary" .}}`, "lacks the design"},
		"no diff":               {"review.tmpl", base, "lacks the change"},
		"no persona":            {"review.tmpl", base + "{{.Diff}} {{.Findings}}", "lacks the reviewer's own words"},
		"nothing to judge":      {"review.tmpl", base + "{{.Diff}} {{.Persona}}", "lacks the findings that must be judged"},
		"no review to fix":      {"fix.tmpl", base + "{{.Events}} {{.Checks}} {{.Findings}}", "lacks the review that asks for it"},
		"no log":                {"fix.tmpl", base + "{{.Events}}", "lacks the red checks"},
		"fences not told":       {"system_base.tmpl", "Do it.", "does not say what is people's text"},
		"part of a prompt":      {"state_summary.tmpl", "{{.Where}}\n{{.Nope}}", "state_summary.tmpl:2: "},
		"after failing tests":   {"repair_tests.tmpl", "a\n{{.Nope}}", "repair_tests.tmpl:2: "},
		"for one adapter only":  {"bugfix_start.tmpl", goodOverride + "{{if eq .Adapter \"claude\"}}\n{{.Nope}}{{end}}", "bugfix_start.tmpl:8: "},
		"of unfinished work":    {"bugfix_start.tmpl", goodOverride + "{{with .Partial}}{{.Nope}}{{end}}", "bugfix_start.tmpl:7: "},
		"repair":                {"repair.tmpl", "{{range .Wrong}}{{end}}", "repair.tmpl:1: "},
		"piece of ours":         {"bugfix_start.tmpl", goodOverride + `{{define "issue"}}x{{end}}`, `it defines "issue", which is a piece of ours`},
		"no such prompt":        {"bugfx_start.tmpl", goodOverride, "no prompt is called so; there are design_start"},
		"pieces are no prompts": {"parts.tmpl", "x", "no prompt is called so"},
		"not a template's name": {"bugfix_start.md", goodOverride, "no prompt is called so"},
		"too large":             {"bugfix_start.tmpl", strings.Repeat("x", maxOverride+1), "want a file of at most"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(folder(t, map[string]string{c.file: c.text}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if _, ok := errors.AsType[*OverrideError](err); !ok {
				t.Errorf("%T", err)
			}
			if strings.Count(err.Error(), "\n") != 0 {
				t.Errorf("not one line: %q", err)
			}
		})
	}
}

func TestPartsAreShownByName(t *testing.T) {
	for name, want := range map[string]string{partSystemBase: "Rules", partStateSummary: "Issue #12", partRepair: "could not be used"} {
		if got, err := ours().Part(name, work.KindFix, story()); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := ours().Part(partShared, work.KindFix, story()); err == nil {
		t.Error("the shared pieces are shown as a prompt")
	}
}

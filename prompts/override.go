package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxOverride bounds an operator's prompt, in bytes.
const maxOverride = 256 << 10

// templateError matches an error of package text/template: name, line, message.
var templateError = lazy.Regexp(`(?s)template: ([A-Za-z_]+):([0-9]+)(?::[0-9]+)?: (?:executing "[^"]*" at )?(.*)`)

// Load reads the operator's prompts from a folder: NAME.tmpl replaces our prompt of that name. A
// missing or empty folder replaces none. Every prompt is rendered once, to find a broken one before
// an agent is paid: the error joins one *OverrideError per file.
func Load(dir string) (*Pack, error) {
	entries, err := os.ReadDir(dir)
	if dir == "" || errors.Is(err, fs.ErrNotExist) {
		return ours(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the prompts: %w", err)
	}
	var files []source
	var wrong []error
	for _, e := range entries {
		s, ok, err := readOverride(filepath.Join(dir, e.Name()))
		if err != nil {
			wrong = append(wrong, err)
		}
		if ok {
			files = append(files, s)
		}
	}
	if len(files) == 0 && len(wrong) == 0 {
		return ours(), nil
	}
	p, err := ours().with(files)
	if wrong = append(wrong, err); errors.Join(wrong...) != nil {
		return nil, errors.Join(wrong...)
	}
	return p, p.tryOut()
}

// nameOf returns the name of the prompt that a file replaces.
func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".tmpl") }

// readOverride reads one file of the folder; false for other files: notes and editors' backups.
func readOverride(path string) (source, bool, error) {
	base := filepath.Base(path)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "README") || strings.HasSuffix(base, "~") {
		return source{}, false, nil
	}
	if name := nameOf(base); !strings.HasSuffix(base, ".tmpl") || !slices.Contains(Names(), name) {
		return source{}, false, &OverrideError{Path: path, Reason: "no prompt is called so; there are " + strings.Join(Names(), ", ") + ", each with .tmpl"}
	}
	info, err := os.Stat(path)
	if err != nil {
		return source{}, false, fmt.Errorf("read the prompts: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxOverride {
		return source{}, false, &OverrideError{Path: path, Reason: fmt.Sprintf("want a file of at most %d bytes", maxOverride)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return source{}, false, fmt.Errorf("read the prompts: %w", err)
	}
	return source{path: path, text: string(text)}, true, nil
}

// with returns a copy of the pack in which these files replace ours.
func (p *Pack) with(files []source) (*Pack, error) {
	templates := template.Must(p.templates().Clone())
	fresh := &Pack{templates: func() *template.Template { return templates }, sources: maps.Clone(p.sources)}
	var wrong []error
	for _, s := range files {
		name := nameOf(s.path)
		fresh.sources[name] = s
		own, err := template.New(name).Parse(s.text)
		if err == nil {
			err = onlyOwn(own, p, s.path)
		}
		if err == nil {
			_, err = templates.New(name).Parse(trimmed(s.text))
		}
		if err != nil {
			wrong = append(wrong, fresh.explain(err))
		}
	}
	return fresh, errors.Join(wrong...)
}

// onlyOwn rejects a file that redefines one of our parts: that would change every other prompt.
func onlyOwn(t *template.Template, p *Pack, path string) error {
	if t.Tree == nil || parse.IsEmptyTree(t.Root) { // otherwise the previous template would silently remain
		return &OverrideError{Path: path, Reason: "it is empty"}
	}
	for _, d := range t.Templates() {
		if d.Name() != t.Name() && p.templates().Lookup(d.Name()) != nil {
			return &OverrideError{Path: path, Reason: fmt.Sprintf("it defines %q, which is a piece of ours; choose another name", d.Name())}
		}
	}
	return nil
}

// tryOut renders every prompt of the pack with a full and an empty context. It reports missing
// parts without which an agent would be paid for nothing, or would take people's text for rules.
func (p *Pack) tryOut() error {
	var wrong []error
	for _, kind := range Kinds() {
		wrong = append(wrong, p.tryKind(kind))
	}
	for _, adapter := range []string{"", AdapterClaude, AdapterCodex, AdapterACP} {
		_, repairErr := p.Repair(work.KindFix, adapter, []string{"x"})
		_, testsErr := p.RepairTests(work.KindFix, adapter, "x", Unproven{Failure: "x", Output: "x"})
		_, noneErr := p.RepairTests(work.KindBugfixStart, adapter, "x", Unproven{Failure: "x", TestFiles: "x"})
		_, faultsErr := p.RepairTests(work.KindDesignFeedback, adapter, "x", Unproven{Failure: "x", Output: "x", Document: true})
		wrong = append(wrong, repairErr, testsErr, noneErr, faultsErr)
	}
	wrong = slices.DeleteFunc(wrong, func(err error) bool { return err == nil })
	return errors.Join(distinct(wrong)...)
}

// tryKind renders one prompt for each adapter.
func (p *Pack) tryKind(kind work.Kind) error {
	for _, c := range []Context{SampleFor(""), SampleFor(AdapterClaude), SampleFor(AdapterCodex), SampleFor(AdapterACP), sampleRoadmap(""), {}} {
		text, err := p.Render(kind, c)
		if err == nil && c.Task.Repository != "" {
			err = p.complete(kind, c, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// distinct keeps one error per line: a broken part breaks every prompt that includes it.
func distinct(all []error) []error {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(err error) bool {
		text := err.Error()
		if bad, ok := errors.AsType[*OverrideError](err); ok {
			text = bad.Path + ":" + bad.Line
		}
		again := seen[text]
		seen[text] = true
		return again
	})
}

// complete reports what a sample's rendered prompt lacks.
func (p *Pack) complete(kind work.Kind, c Context, text string) error {
	blame := cmp.Or(p.sources[string(kind)].path, p.sources[partStateSummary].path, p.sources[partSystemBase].path)
	for _, want := range needs(kind) {
		if !strings.Contains(text, want.mark) {
			return &OverrideError{Path: blame, Reason: fmt.Sprintf("the prompt %q lacks %s", kind, want.what)}
		}
	}
	nonce, err := nonceOf(Prepare(c))
	if err != nil {
		return err
	}
	if !strings.Contains(outsideFences(text, nonce), nonce) {
		return &OverrideError{Path: blame, Reason: fmt.Sprintf("the prompt %q does not say what is people's text: it lacks {{template \"system_base\" .}} or {{.Nonce}}", kind)}
	}
	return nil
}

// outsideFences returns the parts of a prompt that are outside data fences.
func outsideFences(text, nonce string) string {
	var b strings.Builder
	in := false
	for l := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(l, "-----BEGIN DATA "+nonce):
			in = true
		case strings.HasPrefix(l, "-----END DATA "+nonce):
			in = false
		case !in:
			b.WriteString(l)
		}
	}
	return b.String()
}

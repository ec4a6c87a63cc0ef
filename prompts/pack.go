package prompts

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

// The parts of the pack that are not a kind of turn.
const (
	partSystemBase   = "system_base"   // rules, at the beginning of every prompt
	partStateSummary = "state_summary" // the whole story so far, in every prompt: the session may be lost
	partRepair       = "repair"        // after an unusable answer
	partTests        = "repair_tests"  // after a change that fails the required tests
	partResumed      = "resumed"       // at the beginning of what a known session is told; a shared piece
	partShared       = "parts"         // shared pieces; cannot be overridden
)

// Names lists the prompts of a pack: the kinds of turn, then the parts.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return append(names, partSystemBase, partStateSummary, partRepair, partTests)
}

// Pack is a set of prompts: ours, some replaced by the operator's.
type Pack struct {
	templates func() *template.Template // parses them at the first use: most passes write no prompt
	sources   map[string]source         // by name
}

type source struct{ path, text string }

// ours is the pack without overrides.
var ours = sync.OnceValue(func() *Pack {
	p := &Pack{sources: map[string]source{}}
	for _, name := range append(Names(), partShared) {
		text, err := templateFiles.ReadFile("templates/" + name + ".tmpl")
		if err != nil {
			panic(err) // an embedded file, read by every test
		}
		p.sources[name] = source{text: string(text)}
	}
	p.templates = sync.OnceValue(func() *template.Template {
		all := template.New("prompts").Option("missingkey=error")
		for _, name := range append(Names(), partShared) {
			template.Must(all.New(name).Parse(trimmed(p.sources[name].text)))
		}
		return all
	})
	return p
})

// trimmed removes the newline at the end of a template's file: prompts are composed of several.
func trimmed(text string) string { return strings.TrimRight(text, "\r\n") }

// Source returns the template of a prompt and the path of its file; the path is empty for ours.
func (p *Pack) Source(name string) (text, path string, ok bool) {
	s, ok := p.sources[name]
	return s.text, s.path, ok && name != partShared
}

// Render returns the prompt of a turn. The context must have been through Prepare; the same kind
// and context always give the same prompt.
func (p *Pack) Render(kind work.Kind, c Context) (string, error) {
	if !Known(kind) {
		return "", fmt.Errorf("render prompt: no prompt of kind %q", kind)
	}
	text, err := p.render(string(kind), kind, c)
	if err != nil {
		return "", err
	}
	return text + attached(c.Attachments), nil
}

// Part renders a prompt or part by its name, as in a prompt of the kind.
func (p *Pack) Part(name string, kind work.Kind, c Context) (string, error) {
	switch name {
	case partRepair:
		return p.Repair(kind, c.Surroundings.Adapter, []string{"decision_summary is missing; every key must be present, null where there is nothing"})
	case partTests:
		return p.RepairTests(kind, c.Surroundings.Adapter, c.Task.TurnKey, Unproven{Failure: "the required tests fail: `make test` ended with exit code 1", Output: "sample output"})
	case partSystemBase, partStateSummary:
		return p.render(name, kind, c)
	}
	return "", fmt.Errorf("no prompt is called %q; there are %s", name, strings.Join(Names(), ", "))
}

func (p *Pack) render(name string, kind work.Kind, c Context) (string, error) {
	about, err := newPage(kind, Prepare(c))
	if err != nil {
		return "", fmt.Errorf("render prompt %q: %w", name, err)
	}
	text, err := p.execute(name, about)
	if err != nil || name != string(kind) {
		return text, err
	}
	return about.Waited + text, nil
}

func (p *Pack) execute(name string, data any) (string, error) {
	var b strings.Builder
	if err := p.templates().ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("render prompt %q: %w", name, p.explain(err))
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return "", fmt.Errorf("render prompt %q: it is empty", name)
	}
	return text + "\n", nil
}

// explain replaces the template's name in an error by file and line.
func (p *Pack) explain(err error) error {
	m := templateError().FindStringSubmatch(err.Error())
	if m == nil || p.sources[m[1]].path == "" {
		return err
	}
	return &OverrideError{Path: p.sources[m[1]].path, Line: m[2], Reason: m[3]}
}

const maxQuoted = 20

// Repair returns the prompt of the one repair turn after an unusable answer. The adapter decides
// how the next answer must be given.
func (p *Pack) Repair(kind work.Kind, adapter string, violations []string) (string, error) {
	return p.execute(partRepair, struct {
		Kind       work.Kind
		Adapter    string
		Reviews    bool
		Violations []string
	}{kind, adapter, kind == work.KindReview, Quotable(violations)})
}

// AnswerForm tells an agent how to give its answer, as each prompt of a turn does.
func AnswerForm(adapter string) (string, error) {
	return ours().execute("form", struct {
		Adapter string
		Reviews bool
	}{adapter, false})
}

// Quotable returns violations as an agent is told them: at most maxQuoted, and each of a bounded
// length.
func Quotable(violations []string) []string {
	list := make([]string, 0, len(violations))
	for i, v := range violations {
		if i == maxQuoted {
			return append(list, fmt.Sprintf("and %d more", len(violations)-i))
		}
		list = append(list, quoted(v))
	}
	return list
}

// quoted shortens a violation, which may hold pieces of the answer.
func quoted(s string) string { return public.OneLine(cut(secrets.Redact(public.OneLine(s)), 400)) }

// OverrideError is a mistake in an operator's prompt, in one line.
type OverrideError struct {
	Path   string
	Line   string // empty if it concerns the whole file
	Reason string
}

func (e *OverrideError) Error() string {
	if e.Line == "" {
		return e.Path + ": " + e.Reason
	}
	return e.Path + ":" + e.Line + ": " + e.Reason
}

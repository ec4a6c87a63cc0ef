package config

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// personas are the texts of the reviewers that are built in, a file for each.
//
//go:embed personas/*.md
var personas embed.FS

// defaultReviewer reviews pull requests if the config names no reviewer.
const defaultReviewer = "quinn"

// builtInReviewers need no table: for quality, security and the product. Callers must not modify
// them.
var builtInReviewers = sync.OnceValue(func() []Reviewer {
	var all []Reviewer
	for _, name := range []string{defaultReviewer, "sam", "priya"} {
		text, _ := personas.ReadFile("personas/" + name + ".md") // embedded, so it exists
		all = append(all, Reviewer{Name: name, Persona: strings.TrimSpace(string(text))})
	}
	all[0].CanEscalate = []string{all[1].Name}
	return all
})

// BuiltInReviewers returns the reviewers that need no table in a config.
func BuiltInReviewers() []Reviewer { return slices.Clone(builtInReviewers()) }

func builtInReviewer(name string) (Reviewer, bool) {
	all := builtInReviewers()
	if i := slices.IndexFunc(all, func(x Reviewer) bool { return x.Name == name }); i >= 0 {
		return all[i], true
	}
	return Reviewer{}, false
}

func builtInNames() (all []string) {
	for _, x := range builtInReviewers() {
		all = append(all, x.Name)
	}
	return all
}

// maxPersona bounds a persona, in bytes: it is part of every prompt of its reviewer.
const maxPersona = 64 << 10

// persona checks a reviewer's persona: a text, or the name of a built-in reviewer for theirs.
func (p *parser) persona(t place, x *Reviewer) {
	if x.Persona == "" {
		return
	}
	if why := personaProblem(x.Persona); why != "" {
		t.bad("persona", "%s", why)
	}
	if built, ok := builtInReviewer(x.Persona); ok {
		x.Persona = built.Persona
	} else if near := meant(x.Persona, builtInNames(), "%q"); near != "" && reviewerName().MatchString(x.Persona) {
		t.bad("persona", "%q is no built-in reviewer%s", x.Persona, near)
	}
}

func personaProblem(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "it is empty; say what the reviewer looks at, and how it weighs what it finds"
	case len(text) > maxPersona:
		return "it is longer than 65536 bytes"
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "it is no text in UTF-8"
	}
	return ""
}

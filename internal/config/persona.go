package config

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
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

func builtInNames() string {
	var all []string
	for _, x := range builtInReviewers() {
		all = append(all, x.Name)
	}
	return strings.Join(all, ", ")
}

// maxPersona bounds a persona, in bytes: it is part of every prompt of its reviewer.
const maxPersona = 64 << 10

// persona reads a reviewer's persona: a text, the name of a built-in reviewer for theirs, or a file
// beside the config.
func (p *parser) persona(t *Table, x *Reviewer) {
	text, file := t.text("persona", ""), t.text("persona_file", "")
	switch {
	case text != "" && file != "":
		t.bad("persona_file", "persona is set, too; keep one of the two")
	case file != "":
		x.Persona, x.PersonaFile = p.personaOf(t, file), file
	case text != "":
		x.Persona = text
		if built, ok := builtInReviewer(text); ok {
			x.Persona = built.Persona
		}
		if why := personaProblem(text); why != "" {
			t.bad("persona", "%s", why)
		}
		if _, ok := builtInReviewer(text); !ok && reviewerName().MatchString(text) {
			if meant := meant(text, strings.Split(builtInNames(), ", "), "%q"); meant != "" {
				t.bad("persona", "%q is no built-in reviewer%s", text, meant)
			}
		}
	}
}

// personaOf reads a persona's file. A folder or a pipe is an error, as a pipe might never end.
func (p *parser) personaOf(t *Table, written string) string {
	const key = "persona_file"
	path := environ.ExpandHome(written, p.env.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.config.Path), path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.bad(key, "%s is not there; write the persona into it, or name another file: a relative path begins at the config's folder", path)
		return ""
	case err == nil && !info.Mode().IsRegular():
		t.bad(key, "%s is no file", path)
		return ""
	case err == nil && info.Size() > maxPersona:
		t.bad(key, "%s has %d bytes; at most %d are read", path, info.Size(), maxPersona)
		return ""
	}
	if why := files.ChangedByOthers(path); why != "" {
		t.bad(key, "%s", why)
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.bad(key, "it cannot be read: %s", err)
		return ""
	}
	if why := personaProblem(string(text)); why != "" {
		t.bad(key, "%s: %s", path, why)
	}
	return strings.TrimSpace(string(text))
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

package reference_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/cmd/reference"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

const root = "../.."

// page is one generated file.
type page struct{ path, text string }

// generate returns what is generated, by path in the repository.
func generate(t *testing.T) (pages []page) {
	t.Helper()
	made := t.TempDir()
	if err := reference.Write(cmd.Tree(demo.Commands), root, made); err != nil {
		t.Fatal(err)
	}
	for _, path := range files(t, made) {
		text, err := os.ReadFile(filepath.Join(made, path))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page{path, string(text)})
	}
	return pages
}

// files are the paths of all generated files below a folder.
func files(t *testing.T, folder string) (all []string) {
	t.Helper()
	for _, dir := range []string{"docs/reference", "share/man/man1"} {
		err := fs.WalkDir(os.DirFS(folder), dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What is committed is what go generate makes, and nothing else stands beside it.
func TestReferenceIsUpToDate(t *testing.T) {
	var made []string
	for _, p := range generate(t) {
		made = append(made, p.path)
		text, err := os.ReadFile(filepath.Join(root, p.path))
		if err != nil || strings.ReplaceAll(string(text), "\r\n", "\n") != p.text {
			t.Errorf("%s is not what the program says: go generate ./cmd/reference (%v)", p.path, err)
		}
	}
	for _, path := range files(t, root) {
		if !slices.Contains(made, path) {
			t.Errorf("%s belongs to nothing: go generate ./cmd/reference", path)
		}
	}
}

// Every field of every command has a row, and every code of an error, a reason and a check.
func TestReferenceHasEveryFieldAndCode(t *testing.T) {
	pages := map[string]string{}
	for _, p := range generate(t) {
		pages[filepath.Base(p.path)] = p.text
	}
	fields := 0
	for _, c := range append(cmd.Tree(demo.Commands).Commands(), cmd.Tree(demo.Commands)) {
		for _, field := range cli.JSONFields(c) {
			fields++
			if !strings.Contains(pages["json.md"], "`"+field+"`") {
				t.Errorf("%s: no word of %s", c.CommandPath(), field)
			}
		}
	}
	if fields < 50 {
		t.Errorf("%d fields were looked for, which cannot be all", fields)
	}
	for _, kind := range explain.Kinds() {
		if !strings.Contains(pages["reasons.md"], "\n| `"+string(kind)+"` | ") {
			t.Errorf("no row for the reason %s", kind)
		}
	}
	for _, c := range doctor.Table() {
		if !strings.Contains(pages["doctor.md"], "\n| `"+c.Code+"` | ") {
			t.Errorf("no row for the check %s", c.Code)
		}
	}
	for _, k := range cli.ErrorKinds() {
		if !strings.Contains(pages["errors.md"], "\n| `"+string(k.Code)+"` | ") {
			t.Errorf("no row for the error %s", k.Code)
		}
	}
}

// Links of generated pages lead to pages and headings that are there.
func TestReferenceLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([a-z_/-]*\.md)?(?:#([^)]+))?\)`)
	heading := regexp.MustCompile(`(?m)^##+ (.*)$`)
	headings := map[string][]string{}
	read := func(path, text string) {
		headings[path] = []string{""}
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			headings[path] = append(headings[path], strings.ToLower(strings.ReplaceAll(m[1], " ", "-")))
		}
	}
	pages := generate(t)
	for _, p := range pages {
		read(p.path, p.text)
	}
	links := 0
	for _, p := range pages {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			to := p.path
			if m[1] != "" {
				to = path.Join(path.Dir(p.path), m[1])
			}
			links++
			if text, err := os.ReadFile(filepath.Join(root, to)); headings[to] == nil && err == nil {
				read(to, string(text)) // it is written by hand
			}
			if !slices.Contains(headings[to], m[2]) {
				t.Errorf("%s: %s leads nowhere", p.path, m[0])
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were looked at, which cannot be all", links)
	}
}

// The man pages render, and man has nothing to say about them.
func TestManPagesRender(t *testing.T) {
	testhome.OnlyLong(t)
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed (man-db)")
	}
	for _, p := range generate(t) {
		if !strings.HasSuffix(p.path, ".1") {
			continue
		}
		render := exec.CommandContext(t.Context(), "man", "--warnings", "-l", filepath.Join(root, p.path))
		render.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
		var warnings strings.Builder
		render.Stderr = &warnings
		shown, err := render.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v: %s", p.path, err, warnings.String())
		}
		for _, section := range []string{"NAME\n", "SYNOPSIS\n", "OPTIONS\n"} {
			if !strings.Contains(string(shown), section) {
				t.Errorf("%s shows no %s", p.path, section)
			}
		}
	}
}

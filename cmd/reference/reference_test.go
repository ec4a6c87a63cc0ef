package reference_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/reference"
)

const root = "../.."

func all(t *testing.T) []reference.File {
	t.Helper()
	files, err := reference.All(cmd.Tree(), root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What is committed is what go generate makes, and nothing else stands beside it.
func TestReferenceIsUpToDate(t *testing.T) {
	var made []string
	for _, f := range all(t) {
		made = append(made, filepath.Base(f.Path))
		text, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil || strings.ReplaceAll(string(text), "\r\n", "\n") != f.Text {
			t.Errorf("%s is not what the program says: go generate ./cmd/reference (%v)", f.Path, err)
		}
	}
	for _, dir := range []string{"docs/reference", "share/man/man1"} {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains(made, e.Name()) {
				t.Errorf("%s/%s belongs to nothing: go generate ./cmd/reference", dir, e.Name())
			}
		}
	}
}

// Every field of every command has a row, and every code of an error.
func TestReferenceHasEveryFieldAndCode(t *testing.T) {
	pages := map[string]string{}
	for _, f := range all(t) {
		pages[filepath.Base(f.Path)] = f.Text
	}
	fields := 0
	for _, c := range append(cmd.Tree().Commands(), cmd.Tree()) {
		for _, field := range cli.JSONFields(c) {
			fields++
			if !strings.Contains(pages["json.md"], "\n| `"+field+"` | ") {
				t.Errorf("%s: no row for %s", c.CommandPath(), field)
			}
		}
	}
	if fields < 50 {
		t.Errorf("%d fields were looked for, which cannot be all", fields)
	}
	for _, k := range cli.ErrorKinds() {
		if !strings.Contains(pages["errors.md"], "\n| `"+string(k.Code)+"` | ") {
			t.Errorf("no row for the error %s", k.Code)
		}
	}
}

// Links within the reference lead to headings that are there.
func TestReferenceLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([a-z]*\.md)?#([^)]+)\)`)
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	pages := map[string][]string{}
	for _, f := range all(t) {
		for _, m := range heading.FindAllStringSubmatch(f.Text, -1) {
			name := filepath.Base(f.Path)
			pages[name] = append(pages[name], strings.ToLower(strings.ReplaceAll(m[1], " ", "-")))
		}
	}
	for _, f := range all(t) {
		for _, m := range link.FindAllStringSubmatch(f.Text, -1) {
			page := m[1]
			if page == "" {
				page = filepath.Base(f.Path)
			}
			if !slices.Contains(pages[page], m[2]) {
				t.Errorf("%s: %s#%s leads nowhere", f.Path, page, m[2])
			}
		}
	}
}

// The man pages render, and man has nothing to say about them.
func TestManPagesRender(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders all man pages")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed (man-db)")
	}
	for _, f := range all(t) {
		if !strings.HasSuffix(f.Path, ".1") {
			continue
		}
		render := exec.CommandContext(t.Context(), "man", "--warnings", "-l", filepath.Join(root, f.Path))
		render.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
		var warnings strings.Builder
		render.Stderr = &warnings
		shown, err := render.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v: %s", f.Path, err, warnings.String())
		}
		for _, section := range []string{"NAME\n", "SYNOPSIS\n", "OPTIONS\n"} {
			if !strings.Contains(string(shown), section) {
				t.Errorf("%s shows no %s", f.Path, section)
			}
		}
	}
}

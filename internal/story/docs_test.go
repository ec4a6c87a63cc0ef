//go:build unix

package story

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inCode is what stands between backticks on one line.
var inCode = regexp.MustCompile("`([^`\n]+)`")

// testName is how tests that documents name are called.
var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w*$`)

// pages are the documents of the repository by path, as they read today.
// decisions.md is dated: what it names may be gone.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range append(found, "../../README.md", "../../CONTRIBUTING.md", "../../AGENTS.md", "../../tick/AGENTS.md", "../../SECURITY.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimPrefix(path, "../../"); name != "docs/decisions.md" {
			all[name] = string(text)
		}
	}
	return all
}

// allPages are the pages with the dated ones, the generated ones and those of folders.
func allPages(t *testing.T) map[string]string {
	t.Helper()
	all := pages(t)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "internal/config/personas/"):
			text, err := os.ReadFile(path)
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every test that a document names is there.
func TestDocsNameTestsThatExist(t *testing.T) {
	tests := testNames(t)
	for page, text := range pages(t) {
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			if testName.MatchString(m[1]) && !tests[m[1]] {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
}

// Every story that a document names is there: FOLDER/NAME, or FOLDER/* for all of them.
func TestDocsNameStoriesThatExist(t *testing.T) {
	there, folders := map[string]bool{}, map[string]bool{}
	for _, file := range scriptFiles(t) {
		name := storyName(file)
		folder := filepath.Dir(name)
		there[name], there[folder+"/*"], folders[folder] = true, true, true
	}
	story := regexp.MustCompile(`^([a-z]+)/[a-z0-9_*]+$`)
	for page, text := range pages(t) {
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			if name := story.FindStringSubmatch(m[1]); name != nil && folders[name[1]] && !there[m[1]] {
				t.Errorf("%s names the story %s, which does not exist", page, m[1])
			}
		}
	}
}

// sourceFile is how documents name a file of the repository.
var sourceFile = regexp.MustCompile(`^(actions|cmd|docs|internal|prompts|script|store|testdata|tick|\.ci|\.changes)/[\w./-]+\.\w+$`)

// ourFile is how documents name a file of the repository without its folder. Other endings are those of
// files that the program or its users make.
var ourFile = regexp.MustCompile(`^[\w./-]*\w\.(md|go|mod|sql|txtar|yml|css|svg|png)$`)

// Files that documents name are there: by their path, or by their name alone.
func TestDocsNameFilesThatExist(t *testing.T) {
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		names[d.Name()] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range allPages(t) {
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			named := strings.TrimPrefix(m[1], "./")
			_, err := os.Stat(filepath.Join("../..", named))
			_, beside := os.Stat(filepath.Join("../..", filepath.Dir(page), named))
			switch {
			case err == nil, beside == nil:
			case sourceFile.MatchString(named), ourFile.MatchString(named) && !names[filepath.Base(named)]:
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
}

// elsewhereNumber is what stands for something that readers do not have: a
// section or an entry of a document that is not in the repository.
var elsewhereNumber = regexp.MustCompile(`design §|§[0-9]|\bL[0-9]{2,3}\b|\b(Test|Fuzz|Benchmark)L[0-9]{2,3}|\b(house|lessons|style)\.md\b`)

// No comment, no name and no document refers to something that is not in the
// repository.
func TestNothingRefersElsewhere(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "tick"): // tick is being renamed
			return fs.SkipDir
		case d.IsDir(), name == "internal/story/docs_test.go", !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md"):
			return nil
		}
		text, err := os.ReadFile(path)
		for n, line := range strings.Split(string(text), "\n") {
			if found := elsewhereNumber.FindString(line); found != "" {
				t.Errorf("%s:%d: %q", name, n+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Documents link to files, and to headings, that are there.
func TestDocsLinkToWhatIsThere(t *testing.T) {
	all := allPages(t)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			path, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
			if path == "" {
				target = page
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if heading != "" && !headings(all[target])[heading] {
				t.Errorf("%s links to %s: %s has no such heading", page, m[1], target)
			}
		}
	}
}

// The README and the pages are short, and every page is in the index.
func TestPagesAreShortAndTheIndexWhole(t *testing.T) {
	all := pages(t)
	if n := strings.Count(all["README.md"], "\n"); n > 110 {
		t.Errorf("README.md has %d lines; what does not fit into 110 goes into a page of docs", n)
	}
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
	}
	if words > 20000 {
		t.Errorf("the pages of docs have %d words; a fact has one page, and what is data in the code is generated", words)
	}
	for _, path := range found {
		if name := filepath.Base(path); name != "README.md" && !strings.Contains(all["docs/README.md"], "]("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// headings are a page's headings as links name them.
func headings(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

// testNames are the names of all tests.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read tests: %w", err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

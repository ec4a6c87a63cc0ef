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
	for _, path := range append(found, "../../README.md", "../../CONTRIBUTING.md") {
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

// Each failure is shown by something: a story or a test that is there.
func TestEveryFailureHasItsStory(t *testing.T) {
	tests, rows := testNames(t), 0
	for line := range strings.Lines(pages(t)["docs/failures.md"]) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == " what happens" {
			continue
		}
		rows++
		shown := inCode.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || len(shown) == 0 {
			t.Errorf("nothing shows it: %s", line)
		}
		for _, m := range shown {
			if _, err := os.Stat(filepath.Join("../../testdata/script", m[1]+".txtar")); err != nil && !tests[m[1]] {
				t.Errorf("there is no story and no test %s", m[1])
			}
		}
	}
	if rows < 100 {
		t.Errorf("%d failures were read, which cannot be all", rows)
	}
}

// sourceFile is how documents name a file of the repository.
var sourceFile = regexp.MustCompile(`^(actions|cmd|docs|internal|prompts|script|store|testdata|tick|\.ci|\.changes)/[\w./-]+\.\w+$`)

// Files that documents name are there.
func TestDocsNameFilesThatExist(t *testing.T) {
	for page, text := range pages(t) {
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			if !sourceFile.MatchString(m[1]) {
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
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

// The design names each table of the database, and each key of an agent's answer.
func TestDesignNamesTablesAndKeys(t *testing.T) {
	page, found := pages(t)["docs/design.md"], 0
	for pattern, name := range map[string]*regexp.Regexp{
		"../../store/migrations/*.sql": regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`),
		"../../prompts/schemas/*.json": regexp.MustCompile(`(?m)^    "(\w+)": \{`),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				if found++; !strings.Contains(page, "`"+m[1]+"`") {
					t.Errorf("docs/design.md does not name %s of %s", m[1], filepath.Base(path))
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("%d names were read, which cannot be all", found)
	}
}

// The design names each package.
func TestDesignNamesEveryPackage(t *testing.T) {
	page := pages(t)["docs/design.md"]
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		if d.Name() == "testdata" || d.Name() == ".git" {
			return fs.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if len(files) > 0 && !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "`"+d.Name()+"`") && name != "cmd/gh-mergexo" {
			t.Errorf("docs/design.md does not name the package %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Documents link to files, and to headings, that are there.
func TestDocsLinkToWhatIsThere(t *testing.T) {
	all := pages(t)
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

// The README is short, and every page is in the index.
func TestReadmeIsShortAndTheIndexWhole(t *testing.T) {
	all := pages(t)
	if n := strings.Count(all["README.md"], "\n"); n > 150 {
		t.Errorf("README.md has %d lines; what does not fit into 150 goes into a page of docs", n)
	}
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
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

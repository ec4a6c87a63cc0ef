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

// The page of guarantees names tests and stories; each of them is there.
func TestGuaranteesAreTested(t *testing.T) {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	said, named := string(page), testNames(t)
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+|L\\d+_\\w+)`").FindAllStringSubmatch(said, -1) {
		if !regexp.MustCompile(`(?m)^` + m[1] + `$`).MatchString(named) {
			t.Errorf("the page names %s, which does not exist", m[1])
		}
	}
}

// testNames are the names of all tests and stories, and what stories say of
// themselves, a line each.
func testNames(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	remark := regexp.MustCompile(`(?m)^# .*$`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		story, test := strings.HasSuffix(path, ".txtar"), strings.HasSuffix(path, "_test.go")
		if err != nil || d.IsDir() || !story && !test {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			fmt.Fprintln(&out, m[1])
		}
		if story {
			fmt.Fprintln(&out, strings.TrimSuffix(d.Name(), ".txtar"))
			fmt.Fprintln(&out, strings.Join(remark.FindAllString(string(text), -1), "\n"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

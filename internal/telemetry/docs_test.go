package telemetry

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page names each attribute that the code sets, and no other.
func TestDocsNameEveryAttribute(t *testing.T) {
	key := regexp.MustCompile(`"((?:gen_ai|vcs|cicd|mergexo|error)\.[a-z_.]+)"`)
	var set []string
	for _, dir := range []string{".", "../../tick/tell", "../../tick/env", "../../tick/turn"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range key.FindAllStringSubmatch(string(text), -1) {
				if !strings.HasSuffix(file, "_test.go") {
					set = append(set, m[1])
				}
			}
		}
	}
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile("`((?:gen_ai|vcs|cicd|mergexo|error)\\.[a-z_.]+)`").FindAllStringSubmatch(string(page), -1) {
		named = append(named, m[1])
	}
	slices.Sort(set)
	slices.Sort(named)
	if set, named = slices.Compact(set), slices.Compact(named); !slices.Equal(set, named) || len(set) < 25 {
		t.Errorf("the code sets\n%s\nand docs/operating.md names\n%s", strings.Join(set, "\n"), strings.Join(named, "\n"))
	}
}

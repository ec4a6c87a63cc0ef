package work

import (
	"regexp"
	"strings"
	"testing"
)

// Folders of different repositories differ on every file system, and have plain names.
func TestRepositoryFoldersDiffer(t *testing.T) {
	plain := regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	seen := map[string]bool{}
	for _, node := range []string{"", "R_kgDOAbc", "R_kgDOabc", "MDEwOlJlcG9zaXRvcnkx", "MDEwOlJlcG9zaXRvcnkx==", "../../etc", strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		for _, host := range []string{"github.com", "ghe.example.com"} {
			r := Repo{Name: RepoName{Host: host, Owner: "octo", Name: "app"}, NodeID: node}
			f := strings.ToLower(r.Folder())
			if seen[f] || !plain.MatchString(f) || len(f) > 60 {
				t.Errorf("%s %q has the folder %q", host, node, f)
			}
			seen[f] = true
		}
	}
}

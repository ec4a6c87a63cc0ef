package git

import "testing"

func TestIsDotGit(t *testing.T) {
	for _, c := range []struct {
		name, system string
		want         bool
	}{
		{".git", "linux", true},
		{".GiT", "linux", true},
		{".gitignore", "linux", false},
		{".g\u200cit", "linux", false},
		{".g\u200cit", "darwin", true},
		{".git. ", "windows", true},
		{"GIT~1", "windows", true},
		{"git~1", "linux", false},
	} {
		if got := isDotGit(c.name, c.system); got != c.want {
			t.Errorf("isDotGit(%q, %s) = %v", c.name, c.system, got)
		}
	}
}

package arrows

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The list of changes is checked: each entry's form, and that a pull request which changes what the
// program does has one.
func TestChangesHaveEntries(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "script", "changes")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, c := range map[string]struct {
		files map[string]string
		ok    bool
	}{
		"nothing":               {nil, true},
		"a test":                {map[string]string{"tick/x_test.go": "package tick\n", "internal/story/x.go": "package story\n"}, true},
		"a page":                {map[string]string{"docs/x.md": "# X\n"}, true},
		"code":                  {map[string]string{"tick/x.go": "package tick\n"}, false},
		"a prompt":              {map[string]string{"prompts/x.tmpl": "x\n"}, false},
		"code with an entry":    {map[string]string{"tick/x.go": "package tick\n", ".changes/unreleased/x.md": "Fixed: A pass ends.\n"}, true},
		"an entry of no kind":   {map[string]string{".changes/unreleased/x.md": "A pass ends.\n"}, false},
		"an entry of two lines": {map[string]string{".changes/unreleased/x.md": "Fixed: A pass ends.\nAdded: Another.\n"}, false},
		"an entry without end":  {map[string]string{".changes/unreleased/x.md": "Fixed: A pass ends\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script, err := os.ReadFile(filepath.Join("..", "..", "script", "changes"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "script/changes", string(script))
			git(t, dir, "init", "-q")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "base")
			git(t, dir, "tag", "base")
			for path, text := range c.files {
				write(t, dir, path, text)
			}
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "--allow-empty", "-m", "change")
			out, err := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, "script", "changes"), "base").CombinedOutput()
			if (err == nil) != c.ok {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	path = filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

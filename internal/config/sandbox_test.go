package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// What is let into the sandbox may hold neither gh's login nor the state, by
// whatever name, and not the home folder.
func TestWhatTheConfigMayNotLetIn(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	for _, dir := range []string{"home/.config/gh", "home/.config/mise", "home/state", "xdg/gh", "ghdir", "data"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "xdg"), filepath.Join(root, "innocent")); err != nil {
		t.Skip("no links here: ", err)
	}
	env := environ.Of([]string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(root, "xdg"), "GH_CONFIG_DIR=" + filepath.Join(root, "ghdir")})
	for path, want := range map[string]string{
		"~/.config/mise": "", root + "/data": "", root + "/data/gone": "",
		"x": "want absolute paths", "~/": "no agent may see that", root: "no agent may see that", "/": "no agent may see that",
		"~/.config": "holds ", "~/.config/gh": "/.config/gh: no agent", "~/.config/gh/hosts.yml": "lies in ",
		root + "/xdg": "holds ", root + "/xdg/gh/hosts.yml": "lies in ", root + "/innocent": "holds ", root + "/ghdir": "no agent may see that",
		"~/state/logs": "lies in ", "~/state": "no agent may see that", "/run": "is a folder of everything", "/var": "is a folder of everything",
	} {
		for key, table := range map[string]string{"readable": "[runtime]", "writable": "[agents.codex]"} {
			doc := "[runtime]\nstate_dir = \"~/state\"\n" + strings.TrimPrefix(table, "[runtime]") + "\n" + key + " = [\"" + path + "\"]\n[[repo]]\nname = \"o/n\"\n"
			_, err := config.Parse("config.toml", []byte(doc), env, "github.com")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), key+" in "+table)) {
				t.Errorf("%s of %s: %v, want %q", key, path, err, want)
			}
		}
	}
}

func TestWhatIsLetIn(t *testing.T) {
	c, err := parse(t, "[runtime]\nsandbox = \"required\"\nreadable = [\"~/all\"]\n[agents.codex]\nwritable = [\"~/out\"]\n[[repo]]\nname = \"o/n\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.Runtime.Sandbox != work.SandboxRequired || len(c.Runtime.Readable) != 1 || filepath.Base(c.Runtime.Readable[0]) != "all" || !filepath.IsAbs(c.Runtime.Readable[0]) {
		t.Errorf("runtime %+v", c.Runtime)
	}
	if a := c.Agents["codex"]; len(a.Writable) != 1 || !filepath.IsAbs(a.Writable[0]) {
		t.Errorf("agent %+v", a)
	}
}

// What lies below a folder that an agent writes to is not named beside it: the
// agent could put a link there.
func TestNothingBelowAWritableFolderIsNamed(t *testing.T) {
	for _, c := range []struct {
		readable, writable string
		refused            bool
	}{
		{"", `"~/go", "~/go/bin"`, true},
		{`"~/go/x"`, `"~/go"`, true},
		{`"~/gone"`, `"~/go"`, false},
		{"", `"~/go", "~/go"`, false},
		{`"~/a", "~/a/b"`, "", false},
	} {
		_, err := parse(t, "[runtime]\nreadable = ["+c.readable+"]\n[agents.codex]\nwritable = ["+c.writable+"]\n[[repo]]\nname = \"o/n\"\n")
		if got := err != nil && strings.Contains(err.Error(), "lies in the writable folder"); got != c.refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

// TestTheStateFolderOfABrokenConfig: a person who must stop everything at once is
// not told first to mend a config.
func TestTheStateFolderOfABrokenConfig(t *testing.T) {
	for name, c := range map[string]struct{ text, want, trouble string }{
		"whole":                   {"[runtime]\nstate_dir = \"/srv/x\"\n[[repo]]\nname = \"octo/app\"\n", "/srv/x", ""},
		"nothing said":            {"[[repo]]\nname = \"octo/app\"\n", "/data/mergexo", ""},
		"home":                    {"[runtime]\nstate_dir = \"~/x\"\n", "/home/ann/x", ""},
		"wrong values":            {"[runtime]\nworkers = \"many\"\nstate_dir = \"/srv/x\"\n[[repo]]\nname = 7\n", "/srv/x", ""},
		"unknown keys":            {"[runtime]\nstaet_dir = \"/srv/x\"\n", "", "staet_dir"},
		"no TOML below":           {"[runtime]\nstate_dir = '/srv/x' # here\n[[repo]\nname = octo\n", "/srv/x", ""},
		"no TOML above":           {"[runtime\nstate_dir = \"/srv/x\"\n", "/srv/x", ""},
		"no TOML, nothing said":   {"[runtime\nworkers = 3\n# state_dir = \"/srv/x\"\n", "/data/mergexo", ""},
		"no TOML, dotted":         {"runtime.state_dir = \"/srv/x\"\n[[repo]\n", "/srv/x", ""},
		"no TOML, said twice":     {"[runtime]\nstate_dir = \"/srv/x\"\nstate_dir = \"/srv/y\"\n", "", "state_dir"},
		"no TOML where it stands": {"[runtime]\nstate_dir = \"/srv/x\n", "", "state_dir"},
		"in a table of one line":  {"runtime = { state_dir = \"/srv/x\", workers = }\n", "", "config.toml:1: "},
		"relative":                {"[runtime]\nstate_dir = \"x\"\n", "", "absolute"},
		"not a text":              {"[runtime]\nstate_dir = 7\n", "", "state_dir"},
		"runtime is no table":     {"runtime = 7\n", "", "runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			run, err := config.Places(environ.Env{ConfigPath: path, DataDir: "/data/mergexo", Home: "/home/ann"})
			if dir := run.StateDir; dir != filepath.FromSlash(c.want) || (err != nil) != (c.trouble != "") {
				t.Errorf("got %q, %v", run.StateDir, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.trouble) || !strings.Contains(err.Error(), "--config FILE")) {
				t.Errorf("the error does not help: %v", err)
			}
		})
	}
	_, err := config.Places(environ.Env{ConfigPath: filepath.Join(t.TempDir(), "none.toml"), DataDir: "/data/mergexo"})
	if err == nil || !strings.Contains(err.Error(), "none.toml") || !strings.Contains(err.Error(), "--config FILE") {
		t.Errorf("without a config: %v", err)
	}
}

// A broken config does not make a shared database look like a file: where it is uncertain, that is said.
func TestTheDatabaseOfABrokenConfig(t *testing.T) {
	for name, c := range map[string]struct{ text, at string }{
		"nothing said":           {"[runtime]\nworkers = \"many\"\n", "/srv/x/state.db"},
		"named":                  {"[runtime]\nworkers = \"many\"\ndatabase = \"postgres://h/d\"\n", "postgres://h/d"},
		"by a variable":          {"[runtime]\nworkers = \"many\"\ndatabase = \"$DB\"\n", "postgres://u:sesame@h/d"},
		"wrong":                  {"[runtime]\ndatabase = \"mysql://h/d\"\n", ""},
		"not a text":             {"[runtime]\ndatabase = 7\n", ""},
		"no TOML, nothing said":  {"[runtime]\n# database = \"postgres://h/d\"\n[[repo]\n", "/srv/x/state.db"},
		"no TOML, named":         {"[runtime]\ndatabase = \"postgres://h/d\"\n[[repo]\n", ""},
		"no TOML, by a variable": {"runtime.database= \"$DB\"\n[[repo]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			text := strings.Replace(c.text, "[runtime]\n", "[runtime]\nstate_dir = \"/srv/x\"\n", 1)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			env := environ.Of([]string{"MERGEXO_CONFIG=" + path, "XDG_DATA_HOME=/srv", "DB=postgres://u:sesame@h/d"})
			run, err := config.Places(env)
			if err != nil {
				t.Fatal(err)
			}
			at, err := run.DatabaseAt()
			if at != c.at || (err == nil) != (c.at != "") || run.DatabaseKey() == "" != strings.HasPrefix(c.at, "/") {
				t.Errorf("%q of %q, %v", at, run.DatabaseKey(), err)
			}
			if wrong, ok := errors.AsType[*config.DatabaseError](err); ok && !strings.HasPrefix(wrong.Do, "correct the config") {
				t.Errorf("the cure of %v is %q", err, wrong.Do)
			}
		})
	}
}

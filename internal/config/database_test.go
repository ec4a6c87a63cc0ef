package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

// The config names the database by a URL, or by a variable that holds it; otherwise it is a file.
func TestTheDatabase(t *testing.T) {
	for _, c := range []struct{ name, lines, value, at, wrong string }{
		{"a file", "", "postgres://h/d", "/s/state.db", ""},
		{"a URL", `database = "postgres://me@h/d"`, "", "postgres://me@h/d", ""},
		{"the other scheme", `database = "postgresql:///d?host=/run/postgresql"`, "", "postgresql:///d?host=/run/postgresql", ""},
		{"a variable", `database = "$DB"`, " postgres://me:hunter2@h/d\n", "postgres://me:hunter2@h/d", ""},
		{"no variable", `database = "$DB"`, "", "", "runtime.database names DB, which is not set in this environment: set it to the URL of the database"},
		{"a variable with something else", `database = "$DB"`, "hunter2", "", "DB, which runtime.database names, is no URL of a PostgreSQL database; want one like postgres://"},
		{"a variable that cannot be parsed", `database = "$DB"`, "postgres://me:hunter2%@h/d", "", "DB, which runtime.database names, cannot be read; want one like postgres://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := environ.Of([]string{"HOME=/h", "DB=" + c.value})
			doc := "[runtime]\nstate_dir = \"/s\"\n" + c.lines + "\n[[repo]]\nname = \"o/n\"\n"
			cfg, err := config.Parse(filepath.Join(t.TempDir(), "config.toml"), []byte(doc), env, "github.com")
			if err != nil {
				t.Fatal(err)
			}
			at, err := cfg.Runtime.DatabaseAt()
			if at != c.at || (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%q, %v", at, err)
			}
			if named := cfg.Runtime.DatabaseKey() != ""; named != (c.lines != "") {
				t.Errorf("named: %v", named)
			}
			var printed strings.Builder
			if err := config.Print(&printed, cfg); err != nil || strings.Contains(printed.String(), "hunter2") {
				t.Errorf("%v, printed:\n%s", err, &printed)
			}
		})
	}
}

package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// TestAKeyInAnotherTableIsToldItsPlace: every key, in every table that does not have it, is an error
// that names the tables that have it.
func TestAKeyInAnotherTableIsToldItsPlace(t *testing.T) {
	testhome.NotShort(t)
	// documents are those that end in a table, by the table.
	documents := map[string]string{
		"[runtime]": "", "[agents.NAME]": "[agents.codex]\n", "[[repo]]": "[[repo]]\nname = \"o/n\"\n",
		"[repo.voice]": "", "[repo.review]": "", "[repo.roadmap]": "",
		"[[repo.reviewers]]": "[[repo]]\nname = \"o/n\"\n[[repo.reviewers]]\nname = \"quinn\"\n", "[[notify]]": "[[notify]]\nname = \"chat\"\ncommand = [\"/bin/tell\"]\n",
	}
	has := map[string]map[string]bool{} // table, key
	for _, t := range tables() {
		if strings.HasSuffix(t.path, "usd_per_million") {
			continue
		}
		has[tableName(t.path)] = map[string]bool{}
		for _, k := range t.keys {
			has[tableName(t.path)][k.name] = true
		}
	}
	tried := 0
	for in, document := range documents {
		if document == "" && strings.HasPrefix(in, "[repo.") {
			document = "[[repo]]\nname = \"o/n\"\n"
		}
		if !strings.HasPrefix(document, "[") || strings.HasPrefix(in, "[repo.") {
			document += in + "\n"
		}
		for home, keys := range has {
			for key := range keys {
				if has[in][key] {
					continue
				}
				_, err := Parse("config.toml", []byte(document+fmt.Sprintf("%s = 1\n", key)), environ.Of([]string{"HOME=/home/you"}), "github.com")
				all, _ := Problems(err)
				said := ""
				for _, p := range all {
					if strings.HasSuffix(p.Key, "."+key) {
						said += p.Text
					}
				}
				want := home
				if home == "[[repo]]" && has["["+"repo."+key+"]"] != nil {
					want = "[repo." + key + "]" // a table of its own
				}
				if home == "[[repo]]" && has["[[repo."+key+"]]"] != nil {
					want = "[[repo." + key + "]]"
				}
				if !strings.Contains(said, want) {
					t.Errorf("%s in %s: %q does not name %s", key, in, said, want)
				}
				tried++
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d keys were tried", tried)
	}
}

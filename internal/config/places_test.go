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
	// tables are the tables of a config, with a document that ends in one.
	tables := map[string]string{
		"[runtime]": "", "[agents.NAME]": "[agents.codex]\n", "[[repo]]": "[[repo]]\nname = \"o/n\"\n",
		"[repo.voice]": "", "[repo.review]": "", "[repo.roadmap]": "",
		"[[repo.reviewers]]": "[[repo]]\nname = \"o/n\"\n[[repo.reviewers]]\nname = \"quinn\"\n", "[[notify]]": "[[notify]]\nname = \"chat\"\ncommand = [\"/bin/tell\"]\n",
	}
	has := map[string]map[string]bool{} // table, key
	known, err := keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range known {
		path := k.Path
		dot := strings.LastIndex(path, ".")
		if dot < 0 || strings.HasSuffix(path, ".*") || k.Kind == kindAny && several[path] == nil || strings.Contains(path, "usd_per_million") {
			continue
		}
		table := strings.NewReplacer("[]", "", "*", "NAME").Replace(path[:dot])
		if table = "[" + table + "]"; strings.HasSuffix(path[:dot], "[]") {
			table = "[" + table + "]"
		}
		if has[table] == nil {
			has[table] = map[string]bool{}
		}
		has[table][path[dot+1:]] = true
	}
	tried := 0
	for in, document := range tables {
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

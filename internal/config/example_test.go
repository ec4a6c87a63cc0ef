package config_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/config"
)

// noDefaults are the keys that the example states with something else than what holds
// without them, and why.
var noDefaults = map[string]string{
	"agents.claude.env_pass":       "a key that people may add",
	"agents.codex.usd_per_million": "there are no prices unless they are stated",
	"notify.name":                  "nobody is told unless somebody is named, as all of this table",
	"notify.command":               "",
	"notify.env_pass":              "",
	"repo.protected_paths":         "the usual ones are many",
}

// TestTheExampleStatesTheTrueDefaults: what is commented out in the example is what holds
// without it, for each key that the program prints of a config.
func TestTheExampleStatesTheTrueDefaults(t *testing.T) {
	as, stated := printed(t, config.Example()), printed(t, uncomment.ReplaceAllString(config.Example(), "$1"))
	for _, key := range slices.Sorted(maps.Keys(stated)) {
		_, excepted := noDefaults[key]
		if same := as[key] == stated[key]; same == excepted {
			t.Errorf("%s: %q holds, the example says %q; excepted: %v", key, as[key], stated[key], excepted)
		}
	}
	for key := range as {
		if _, there := stated[key]; !there {
			t.Errorf("%s is not printed where the example's defaults are stated", key)
		}
	}
	for key := range noDefaults {
		if _, there := stated[key]; !there {
			t.Errorf("there is no %s", key)
		}
	}
}

// printed is a config as the program prints it, by key; the values as they read.
func printed(t *testing.T, doc string) map[string]string {
	t.Helper()
	cfg, err := parse(t, doc)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := config.Print(&text, cfg); err != nil {
		t.Fatal(err)
	}
	var tables map[string]any
	if _, err := toml.Decode(text.String(), &tables); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	flatten(all, "", tables)
	return all
}

func flatten(all map[string]string, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if at == "agents.codex.usd_per_million" {
			all[at] = fmt.Sprint(v)
			return
		}
		for key, inner := range v {
			flatten(all, join(at, key), inner)
		}
	case []map[string]any:
		for _, inner := range v { // the example has one
			flatten(all, at, inner)
		}
	default:
		all[at] = fmt.Sprintf("%#v", v)
	}
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

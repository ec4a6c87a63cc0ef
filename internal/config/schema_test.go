package config_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

var uncommented = regexp.MustCompile(`(?m)^# (\[\[|[a-z_]+ = )`)

func open(t *testing.T) (*jsonschema.Schema, *jsonschema.Resolved) {
	t.Helper()
	text, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &root, resolved
}

// document parses a config for a JSON validator.
func document(t *testing.T, text string) any {
	t.Helper()
	var tables map[string]any
	if _, err := toml.Decode(text, &tables); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	b, err := json.Marshal(tables)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func parseText(t *testing.T, text string) error {
	t.Helper()
	_, err := config.Parse(filepath.Join(t.TempDir(), "config.toml"), []byte(text), environ.Of([]string{"HOME=/home/you"}), "github.com")
	return err
}

// properties collects all keys of a schema, by the parser's paths.
func properties(at string, s *jsonschema.Schema, into map[string]*jsonschema.Schema) {
	for name, p := range s.Properties {
		path := strings.TrimPrefix(at+"."+name, ".")
		into[path] = p
		properties(path, p, into)
		if p.Items != nil {
			properties(path+"[]", p.Items, into)
		}
	}
	for _, p := range s.PatternProperties {
		properties(at+".*", p, into)
	}
}

func TestTheExampleIsValid(t *testing.T) {
	_, s := open(t)
	for _, text := range []string{config.Example(), uncommented.ReplaceAllString(config.Example(), "$1")} {
		if err := s.Validate(document(t, text)); err != nil {
			t.Error(err)
		}
	}
}

// place is a document in which a key has a value, with everything else that it requires.
func place(path, value string) string {
	head := map[string]string{
		"agents.*.usd_per_million": "[agents.codex]\nusd_per_million = { input = 1, output = 1, %s }\n",
		"agents.*":                 "[agents.codex]\n%s\n",
		"notify[]":                 "[[notify]]\nname = \"chat\"\ncommand = [\"/bin/tell\"]\n%s\n",
		"repo[].reviewers[]":       "[[repo.reviewers]]\nname = \"zed\"\npersona = \"x\"\n%s\n",
	}
	dot := strings.LastIndex(path, ".")
	table, key := path[:max(dot, 0)], path[dot+1:]
	set := fmt.Sprintf("%s = %s", key, value)
	form, known := head[table]
	switch {
	case table == "repo[]":
		return withoutTwice("[[repo]]\nname = \"o/n\"\n", key) + set + "\n"
	case known:
		form = withoutTwice(form, key)
		if key == "input" || key == "output" {
			form = strings.Replace(form, key+" = 1, ", "", 1)
		}
		return "[[repo]]\nname = \"o/n\"\n" + fmt.Sprintf(form, set)
	case strings.HasPrefix(table, "repo[]."):
		return "[[repo]]\nname = \"o/n\"\n[repo." + strings.TrimPrefix(table, "repo[].") + "]\n" + set + "\n"
	}
	return "[[repo]]\nname = \"o/n\"\n[" + table + "]\n" + set + "\n"
}

// withoutTwice removes the line of a key that is about to be set.
func withoutTwice(text, key string) string {
	return regexp.MustCompile(`(?m)^`+key+` = .*\n`).ReplaceAllString(text, "")
}

// wrong returns values of types that a key does not accept.
func wrong(s *jsonschema.Schema) []string {
	values := map[string]string{"string": `"never mind"`, "boolean": "true", "integer": "7", "number": "7.5", "array": "[[1]]", "object": "{ no_such_key = 1 }"}
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	for _, name := range types {
		delete(values, name)
		if name == "number" {
			delete(values, "integer")
		}
	}
	return slices.Collect(maps.Values(values))
}

// TestWrongTypesAreRefusedByBoth: the schema refuses what the parser refuses.
func TestWrongTypesAreRefusedByBoth(t *testing.T) {
	root, s := open(t)
	all := map[string]*jsonschema.Schema{}
	properties("", root, all)
	for path, p := range all {
		if !strings.Contains(path, ".") {
			continue
		}
		for _, value := range append(wrong(p), `[[1]]`) {
			text := place(path, value)
			if s.Validate(document(t, text)) == nil {
				t.Errorf("the schema takes %s = %s", path, value)
			}
			if parseText(t, text) == nil {
				t.Errorf("the parser takes %s = %s", path, value)
			}
		}
	}
}

func TestUnknownKeysAreRefusedByBoth(t *testing.T) {
	root, s := open(t)
	all := map[string]*jsonschema.Schema{}
	properties("", root, all)
	tables := map[string]bool{}
	for path := range all {
		if dot := strings.LastIndex(path, "."); dot > 0 {
			tables[path[:dot]] = true
		}
	}
	if len(tables) < 9 {
		t.Fatalf("only %d tables", len(tables))
	}
	for table := range tables {
		text := place(table+".no_such_key", "1")
		if s.Validate(document(t, text)) == nil {
			t.Errorf("the schema takes no_such_key in %s", table)
		}
		if err := parseText(t, text); err == nil || !strings.Contains(err.Error(), "no_such_key") {
			t.Errorf("the parser says of no_such_key in %s: %v", table, err)
		}
	}
}

// TestChoicesAreTheParsers: each text of a choice is one that the parser takes, and no other.
func TestChoicesAreTheParsers(t *testing.T) {
	root, _ := open(t)
	all := map[string]*jsonschema.Schema{}
	properties("", root, all)
	n := 0
	for path, p := range all {
		choice, form := p.Enum, "%q"
		if p.Items != nil && len(p.Items.Enum) > 0 {
			choice, form = p.Items.Enum, "[%q]"
		}
		for _, value := range choice {
			n++
			text := place(path, fmt.Sprintf(form, value))
			if strings.HasSuffix(path, ".adapter") {
				text = strings.Replace(text, "[agents.codex]", "[agents.mine]\ncommand = [\"x\"]", 1)
			}
			if err := parseText(t, text); err != nil {
				t.Errorf("%s = %q: %v", path, value, err)
			}
		}
		if len(choice) > 0 && parseText(t, place(path, fmt.Sprintf(form, "no such choice"))) == nil {
			t.Errorf("the parser takes any text for %s", path)
		}
	}
	if n < 20 {
		t.Errorf("only %d choices", n)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	root, _ := open(t)
	all := map[string]*jsonschema.Schema{}
	properties("", root, all)
	for path, p := range all {
		if p.Description == "" {
			t.Errorf("%s: the example says nothing of it", path)
		}
		if p.Type == "array" && p.Items != nil && p.Items.Type == "object" && len(p.Items.Properties) == 0 {
			t.Errorf("%s: the example has no such table, so its keys are not known", path)
		}
	}
}

func TestTheFileIsTheSchema(t *testing.T) {
	text, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../../docs/config.schema.json")
	if err != nil || string(file) != string(text) {
		t.Errorf("docs/config.schema.json is not what `go generate ./internal/config` writes: %v", err)
	}
}

func TestTheExampleNamesTheSchema(t *testing.T) {
	if first, _, _ := strings.Cut(config.Example(), "\n"); first != "#:schema "+config.URL {
		t.Errorf("it begins with %q", first)
	}
}

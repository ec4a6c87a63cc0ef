// This file makes the JSON Schema of a config, for editors.

package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:generate sh -c "go run ../../cmd/gh-mergexo config --schema >../../docs/config.schema.json"

// URL is where editors find the schema of a config.
const URL = "https://raw.githubusercontent.com/mergexo/gh-mergexo/main/docs/config.schema.json"

// JSONSchema returns the JSON Schema of a config.
func JSONSchema() ([]byte, error) {
	root := newTable("")
	root.Schema, root.ID, root.Title, root.Required = "https://json-schema.org/draft/2020-12/schema", URL, "The config of gh mergexo", []string{"repo"}
	at := map[string]*jsonschema.Schema{"": root}
	for _, t := range tables() {
		s := newTable(t.words)
		at[t.path] = s
		for _, k := range t.keys {
			s.Properties[k.name] = k.schema()
			if k.tag.Get("required") != "" {
				s.Required = append(s.Required, k.name)
			}
		}
		dot := strings.LastIndex(t.path, ".")
		parent, name := at[t.path[:max(dot, 0)]], t.path[dot+1:]
		switch base, several := strings.CutSuffix(name, "[]"); {
		case name == everyAgent:
			all := newTable(t.words)
			root.Properties[t.path[:dot]], s.Description = all, "an agent"
			all.PatternProperties = map[string]*jsonschema.Schema{agentNameForm: s}
		case several:
			s.Description = ""
			parent.Properties[base] = &jsonschema.Schema{Type: "array", Description: t.words, Items: s}
		default:
			parent.Properties[name] = s
		}
	}
	root.Properties["repo"].MinItems = new(1)
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	return append(text, '\n'), nil
}

// newTable returns the schema of an empty table.
func newTable(words string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Description: words, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
}

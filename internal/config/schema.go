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
	root.Schema, root.ID, root.Title = "https://json-schema.org/draft/2020-12/schema", URL, "The config of gh mergexo"
	agents := newTable(`the agents; "codex" and "claude" are there without a table, too`)
	root.Properties["agents"], root.Required = agents, []string{"repo"}
	at := map[string]*jsonschema.Schema{"": root}
	for _, t := range tables() {
		s := newTable(t.words)
		at[t.path] = s
		for _, k := range t.keys {
			s.Properties[k.name] = k.schema()
			if k.musts {
				s.Required = append(s.Required, k.name)
			}
		}
		dot := strings.LastIndex(t.path, ".")
		name, several := strings.CutSuffix(t.path[dot+1:], "[]")
		switch {
		case name == everyAgent:
			s.Description = "an agent"
			agents.PatternProperties = map[string]*jsonschema.Schema{agentNameForm: s}
		case several:
			s.Description = ""
			list := &jsonschema.Schema{Type: "array", Description: t.words, Items: s}
			if name == "repo" {
				list.MinItems = new(1)
			}
			at[t.path[:max(dot, 0)]].Properties[name] = list
		default:
			at[t.path[:max(dot, 0)]].Properties[name] = s
		}
	}
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

// schema returns the schema of a key's value. A default that is empty, or follows from other keys, is
// only in its words.
func (k key) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Description: k.words}
	k.form(s)
	texts := s
	if s.Items != nil {
		texts = s.Items
	}
	for _, c := range k.enum {
		texts.Enum = append(texts.Enum, c)
	}
	if k.boolean {
		s.Type, s.Types = "", []string{"boolean", "string"}
	}
	if _, owns := k.value.(own); (!owns || len(k.enum) > 0) && s.Items == nil && k.name != "adapter" && k.print() != "" && !k.musts && k.name != "cached" {
		s.Default, _ = json.Marshal(k.print()) // texts, numbers and flags always encode
	}
	return s
}

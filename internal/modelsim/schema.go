package modelsim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// keywords are all that providers take in a strict schema.
var keywords = []string{"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}

// CheckSchema says what of a schema a strict provider refuses; nil when it
// takes it.
func CheckSchema(raw json.RawMessage) error {
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("decode the schema: %w", err)
	}
	return check("$", s)
}

func check(at string, s map[string]any) error {
	for key := range s {
		if !slices.Contains(keywords, key) {
			return fmt.Errorf("%s: %q is not permitted", at, key)
		}
	}
	if choices, ok := s["anyOf"].([]any); ok {
		return checkChoices(at, choices)
	}
	switch s["type"] {
	case "object":
		return checkObject(at, s)
	case "array":
		items, ok := s["items"].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: an array without items", at)
		}
		return check(at+"[]", items)
	case "string", "integer", "number", "boolean", "null":
		return nil
	}
	return fmt.Errorf("%s: type %v", at, s["type"])
}

func checkChoices(at string, choices []any) error {
	for _, c := range choices {
		sub, ok := c.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: anyOf holds no schema", at)
		}
		if err := check(at, sub); err != nil {
			return err
		}
	}
	return nil
}

func checkObject(at string, s map[string]any) error {
	props, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if s["additionalProperties"] != false {
		return fmt.Errorf("%s: additionalProperties must be false", at)
	}
	if len(required) != len(props) {
		return fmt.Errorf("%s: every key must be required", at)
	}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if !slices.Contains(required, any(name)) {
			return fmt.Errorf("%s: %q must be required", at, name)
		}
		sub, ok := props[name].(map[string]any)
		if !ok {
			return fmt.Errorf("%s.%s: no schema", at, name)
		}
		if err := check(at+"."+name, sub); err != nil {
			return err
		}
	}
	return nil
}

// claude and codex name an MCP server's tools like this.
const (
	giveServer = "mcp__mergexo"
	giveTool   = "answer"
)

// Given is an answer that says that the tool has it.
type Given struct{}

// inFinal puts an answer into the object that a schema asks for beside the tool.
func inFinal(schema json.RawMessage, answer any) any {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) != 1 || s.Properties[giveTool] == nil {
		return answer
	}
	if _, given := answer.(Given); given {
		answer = nil
	}
	return map[string]any{giveTool: answer}
}

package modelsim_test

import (
	"encoding/json"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/prompts"
)

func TestOurSchemasAreTakenByStrictProviders(t *testing.T) {
	for _, kind := range prompts.Kinds() {
		if err := modelsim.CheckSchema(prompts.Schema(kind, prompts.Context{})); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestSchemasOutsideTheStrictSubsetAreNot(t *testing.T) {
	for name, schema := range map[string]string{
		"no JSON":           `{`,
		"keyword":           `{"type":"string","minLength":1}`,
		"optional key":      `{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`,
		"another key":       `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],"additionalProperties":false}`,
		"open object":       `{"type":"object","properties":{},"required":[]}`,
		"no items":          `{"type":"array"}`,
		"keyword inside":    `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","format":"date"}}},"required":["a"],"additionalProperties":false}`,
		"keyword in anyOf":  `{"anyOf":[{"type":"string","pattern":"x"},{"type":"null"}]}`,
		"type of its own":   `{"type":"date"}`,
		"list of types":     `{"type":["string","null"]}`,
		"no type at all":    `{"description":"x"}`,
		"anyOf of no thing": `{"anyOf":["string"]}`,
	} {
		if modelsim.CheckSchema(json.RawMessage(schema)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

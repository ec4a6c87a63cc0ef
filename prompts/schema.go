package prompts

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mergexo/gh-mergexo/internal/work"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

// schemaNames maps a kind of prompt to its answer schema.
var schemaNames = map[work.Kind]string{
	work.KindDesignStart:            "design_start",
	work.KindImplementationStart:    "start",
	work.KindBugfixStart:            "start",
	work.KindSmallJobStart:          "start",
	work.KindRoadmapStart:           "roadmap_start",
	work.KindDesignFeedback:         "feedback",
	work.KindImplementationFeedback: "feedback",
	work.KindFix:                    "feedback",
	work.KindReview:                 "review",
}

// Kinds lists the kinds that have a prompt, in the order of a work item's life.
func Kinds() []work.Kind {
	return []work.Kind{
		work.KindDesignStart, work.KindDesignFeedback, work.KindImplementationStart,
		work.KindBugfixStart, work.KindSmallJobStart, work.KindRoadmapStart, work.KindImplementationFeedback, work.KindFix, work.KindReview,
	}
}

// Known reports whether there is a prompt of the kind.
func Known(kind work.Kind) bool { return schemaNames[kind] != "" }

// answerSchema is a schema, as sent to agents and compiled for checks.
type answerSchema struct {
	raw      json.RawMessage
	required []string
	whole    *jsonschema.Resolved
	keys     map[string]*jsonschema.Resolved // for one violation per key
}

// schemas are resolved at their first use, which takes milliseconds: most passes have no answer to
// check.
var schemas = sync.OnceValue(mustLoadSchemas)

func mustLoadSchemas() map[string]answerSchema {
	out := map[string]answerSchema{}
	for _, name := range schemaNames {
		if _, ok := out[name]; ok {
			continue
		}
		s, err := loadSchema(name)
		if err != nil {
			panic(err) // an embedded file, loaded by every test
		}
		out[name] = s
		if name == schemaNames[work.KindReview] {
			continue
		}
		if s, err = compile(name+belowRoadmap, withReplan(s.raw)); err != nil {
			panic(err) // as above
		}
		out[name+belowRoadmap] = s
	}
	return out
}

// belowRoadmap is the end of the names of schemas for issues below a roadmap.
const belowRoadmap = "+replan"

// schemaOf returns the name of the schema for a kind, below a roadmap or not.
func schemaOf(kind work.Kind, below bool) string {
	name := schemaNames[kind]
	if below && name != "" {
		name += belowRoadmap
	}
	return name
}

// withReplan adds the key by which an agent below a roadmap asks to change it.
func withReplan(raw json.RawMessage) json.RawMessage {
	const key = `"replan":{"description":"Only where the roadmap above this issue cannot be done as planned: what is wrong with it, and what should change, for the agent that changes it and for people; null otherwise.","anyOf":[{"type":"string"},{"type":"null"}]},`
	s := strings.Replace(string(raw), `"blocked_reason": {`, key+`"blocked_reason": {`, 1)
	return json.RawMessage(strings.Replace(s, `"blocked_reason",`, `"replan","blocked_reason",`, 1))
}

func loadSchema(name string) (answerSchema, error) {
	raw, err := schemaFiles.ReadFile("schemas/" + name + ".json")
	if err != nil {
		return answerSchema{}, fmt.Errorf("load schema %q: %w", name, err)
	}
	return compile(name, raw)
}

func compile(name string, raw json.RawMessage) (answerSchema, error) {
	var err error
	var root jsonschema.Schema
	if err := json.Unmarshal(raw, &root); err != nil {
		return answerSchema{}, fmt.Errorf("decode schema %q: %w", name, err)
	}
	s := answerSchema{raw: raw, required: root.Required, keys: map[string]*jsonschema.Resolved{}}
	for key, sub := range root.Properties {
		if s.keys[key], err = sub.CloneSchemas().Resolve(nil); err != nil {
			return answerSchema{}, fmt.Errorf("resolve schema %q, key %q: %w", name, key, err)
		}
	}
	if s.whole, err = root.Resolve(nil); err != nil {
		return answerSchema{}, fmt.Errorf("resolve schema %q: %w", name, err)
	}
	return s, nil
}

// Schema returns the JSON schema of the answer to a kind of prompt with a context, in the strict
// subset that every provider accepts; nil for a kind without a prompt.
func Schema(kind work.Kind, c Context) json.RawMessage {
	s, ok := schemas()[schemaOf(kind, below(kind, c))]
	if !ok {
		return nil
	}
	return append(json.RawMessage(nil), s.raw...)
}

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

// schemas are resolved at their first use, each by itself, which takes milliseconds: a pass checks the
// answers of a kind or two.
var schemas = func() map[string]func() answerSchema {
	all := map[string]func() answerSchema{}
	for kind, name := range schemaNames {
		all[name] = sync.OnceValue(func() answerSchema { return mustCompile(name, asIs) })
		if kind != work.KindReview {
			all[name+belowRoadmap] = sync.OnceValue(func() answerSchema { return mustCompile(name, withReplan) })
		}
	}
	return all
}()

// belowRoadmap is the end of the names of schemas for issues below a roadmap.
const belowRoadmap = "+replan"

// schemaFor returns the schema of the answer to a kind of prompt, below a roadmap or not.
func schemaFor(kind work.Kind, below bool) (answerSchema, bool) {
	name := schemaNames[kind]
	if below && name != "" {
		name += belowRoadmap
	}
	compiled, ok := schemas[name]
	if !ok {
		return answerSchema{}, false
	}
	return compiled(), true
}

func asIs(raw json.RawMessage) json.RawMessage { return raw }

// withReplan adds the key by which an agent below a roadmap asks to change it.
func withReplan(raw json.RawMessage) json.RawMessage {
	const key = `"replan":{"description":"Only where the roadmap above this issue cannot be done as planned: what is wrong with it, and what should change, for the agent that changes it and for people; null otherwise.","anyOf":[{"type":"string"},{"type":"null"}]},`
	s := strings.Replace(string(raw), `"blocked_reason": {`, key+`"blocked_reason": {`, 1)
	return json.RawMessage(strings.Replace(s, `"blocked_reason",`, `"replan","blocked_reason",`, 1))
}

// mustCompile compiles an embedded schema, as each test does.
func mustCompile(name string, change func(json.RawMessage) json.RawMessage) answerSchema {
	raw, err := schemaFiles.ReadFile("schemas/" + name + ".json")
	if err != nil {
		panic(err)
	}
	s, err := compile(name, change(raw))
	if err != nil {
		panic(err)
	}
	return s
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
	s, ok := schemaFor(kind, below(kind, c))
	if !ok {
		return nil
	}
	return append(json.RawMessage(nil), s.raw...)
}

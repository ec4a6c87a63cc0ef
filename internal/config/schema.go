// This file makes the JSON Schema of a config, for editors. Keys and types come from the
// parser, texts and examples from the commented example.

package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

//go:generate sh -c "go run ../../cmd/gh-mergexo config schema >../../docs/config.schema.json"

// URL is where editors find the schema of a config.
const URL = "https://raw.githubusercontent.com/mergexo/gh-mergexo/main/docs/config.schema.json"

// JSONSchema returns the JSON Schema of a config.
func JSONSchema() ([]byte, error) {
	keys, err := keys()
	if err != nil {
		return nil, err
	}
	b := schemaBuilder{words: exampleWords(), at: map[string]*jsonschema.Schema{}}
	root := b.table()
	root.Schema, root.ID, root.Title = "https://json-schema.org/draft/2020-12/schema", URL, "The config of gh mergexo"
	b.at[""] = root
	for _, k := range keys {
		if k.Kind != kindAny || several[k.Path] != nil { // otherwise the parser only looks for the key to reject it
			b.add(k)
		}
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	return append(text, '\n'), nil
}

// choices are the texts that a key accepts, if they are few.
func choices() map[string][]string {
	flows := append(work.Flows(), work.FlowReview)
	return map[string][]string{
		"runtime.sandbox":                 stringsOf(work.Sandboxes()),
		"agents.*.adapter":                {AdapterCodex, AdapterClaude, AdapterACP, AdapterCommand},
		"repo[].review.blocking_severity": stringsOf(review.Severities()),
		"repo[].review.merge_method":      append(stringsOf(merging.Methods()), ""),
		"repo[].reviewers[].flows":        stringsOf(flows),
	}
}

func stringsOf[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}

// several are the keys that accept values of several types.
var several = map[string][]string{
	"repo[].voice.disclosure": {"boolean", "string"},
	"repo[].voice.sign_off":   {"boolean", "string"},
}

// musts are the required keys.
var musts = []string{"repo", "repo[].name", "repo[].reviewers[].name", "notify[].name", "notify[].command", "agents.*.usd_per_million.input", "agents.*.usd_per_million.output"}

// besides describes what has no line of its own in the example.
var besides = map[string]string{
	"agents":                          "the agents; \"codex\" and \"claude\" are there without a table, too",
	"agents.*":                        "an agent",
	"agents.*.usd_per_million.input":  "what is read for the first time, and what is written to a cache",
	"agents.*.usd_per_million.cached": "what is read from a cache; default: as input",
	"agents.*.usd_per_million.output": "what is written",
}

type schemaBuilder struct {
	words map[string]string
	at    map[string]*jsonschema.Schema // tables, by path
}

// table returns the schema of an empty table.
func (b schemaBuilder) table() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
}

// add adds a key to its table.
func (b schemaBuilder) add(k Key) {
	dot := strings.LastIndex(k.Path, ".")
	parent, name := b.at[k.Path[:max(dot, 0)]], k.Path[dot+1:]
	s := b.value(k)
	s.Description = cmp.Or(besides[k.Path], b.words[k.Path])
	if name == everyAgent {
		parent.PatternProperties = map[string]*jsonschema.Schema{agentNameForm: s}
		return
	}
	parent.Properties[name] = s
	if slices.Contains(musts, k.Path) {
		parent.Required = append(parent.Required, name)
	}
}

// value returns the schema of a key's value.
func (b schemaBuilder) value(k Key) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	if k.Default != nil && k.Path != "agents.*.adapter" && !strings.Contains(k.Path, "usd_per_million") { // these follow from other keys
		s.Default, _ = json.Marshal(k.Default) // texts, numbers and flags always encode
	}
	choice := anyOf(choices()[k.Path])
	switch k.Kind { //nolint:exhaustive // kindLater has no schema of its own
	case kindTable:
		s = b.table()
		b.at[k.Path] = s
	case kindTables:
		s.Type, s.Items = "array", b.table()
		b.at[k.Path+"[]"] = s.Items
		if slices.Contains(musts, k.Path) {
			s.MinItems = new(1)
		}
	case kindTexts:
		s.Type, s.Items = "array", &jsonschema.Schema{Type: "string", Enum: choice}
	case kindFlag:
		s.Type = "boolean"
	case kindCount, kindNumber:
		s.Type = map[KeyKind]string{kindCount: "integer", kindNumber: "number"}[k.Kind]
		s.Minimum, s.Maximum = &k.Least, &k.Most
	case kindDuration:
		s.Type, s.Pattern = "string", DurationForm
	case kindSize:
		s.Type, s.Pattern = "string", SizeForm
	case kindText:
		s.Type, s.Enum = "string", choice
	case kindAny:
	}
	if types := several[k.Path]; types != nil {
		s.Type, s.Types = "", types
	}
	return s
}

func anyOf(texts []string) []any {
	var all []any
	for _, t := range texts {
		all = append(all, t)
	}
	return all
}

// Lines of the example: a table, a key, and a continued comment.
var (
	tableLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:# )?\[+([a-z_.]+)\]+(?:\s+# (.*))?$`) })
	keyLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:# )?([a-z_]+) = .*?(?:\s+# (.*))?$`) })
	moreLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s{8,}# (.*)$`) })
)

// exampleWords returns the example's comments on each key and table, by path.
func exampleWords() map[string]string {
	words := map[string]string{}
	table, last := "", ""
	for line := range strings.Lines(Example) {
		line = strings.TrimRight(line, "\n")
		switch m := tableLine().FindStringSubmatch(line); {
		case m != nil:
			table = anyAgent(strings.Replace(strings.Replace(m[1], "repo.reviewers", "repo.reviewers[]", 1), "repo", "repo[]", 1))
			if table == "notify" {
				table = "notify[]"
			}
			last = strings.TrimSuffix(table, "[]")
			words[last] = cmp.Or(words[last], m[2])
		case moreLine().MatchString(line):
			words[last] += " " + moreLine().FindStringSubmatch(line)[1]
		case keyLine().MatchString(line):
			m := keyLine().FindStringSubmatch(line)
			last = strings.TrimPrefix(table+"."+m[1], ".")
			words[last] = cmp.Or(words[last], m[2])
		}
	}
	return words
}

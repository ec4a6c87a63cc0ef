package prompts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// subset is all that a strict provider takes.
var subset = []string{"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}

func walk(t *testing.T, path string, s map[string]any) {
	t.Helper()
	for key := range s {
		if !slices.Contains(subset, key) {
			t.Errorf("%s: keyword %q is outside the strict subset", path, key)
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		if len(list) != 2 || fmt.Sprint(list[1]) != "map[type:null]" || s["type"] != nil {
			t.Errorf("%s: anyOf must be one schema and null", path)
		}
		walk(t, path+"?", list[0].(map[string]any))
		return
	}
	switch s["type"] {
	case "object":
		props, _ := s["properties"].(map[string]any)
		var required []string
		for _, r := range s["required"].([]any) {
			required = append(required, r.(string))
		}
		if !slices.Equal(slices.Sorted(maps.Keys(props)), slices.Sorted(slices.Values(required))) {
			t.Errorf("%s: not every key is required", path)
		}
		if s["additionalProperties"] != false {
			t.Errorf("%s: additionalProperties is not false", path)
		}
		for name, p := range props {
			sub := p.(map[string]any)
			if sub["description"] == nil {
				t.Errorf("%s.%s: no description", path, name)
			}
			walk(t, path+"."+name, sub)
		}
	case "array":
		walk(t, path+"[]", s["items"].(map[string]any))
	case "string", "integer", "boolean":
	default:
		t.Errorf("%s: type %v", path, s["type"])
	}
}

func TestSchemasAreInTheStrictSubset(t *testing.T) {
	for _, kind := range Kinds() {
		var s map[string]any
		if err := json.Unmarshal(Schema(kind, Context{}), &s); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		walk(t, string(kind), s)
	}
	for _, kind := range Kinds() { // below a roadmap, all but a review have one key more
		var s struct{ Required []string }
		text := Schema(kind, Context{Parent: &Parent{}})
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if slices.Contains(s.Required, "replan") != (kind != work.KindReview) {
			t.Errorf("%s: keys %v", kind, s.Required)
		}
		var whole map[string]any
		if err := json.Unmarshal(text, &whole); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		walk(t, string(kind), whole)
	}
	if Schema("other", Context{}) != nil {
		t.Error("a schema without a prompt")
	}
}

// TestSchemasHaveTheKeysOfTheDesign holds the table of answers.
func TestSchemasHaveTheKeysOfTheDesign(t *testing.T) {
	start := []string{"pr_title", "pr_summary", "commit_message", "followups", "blocked_reason", "decision_summary"}
	feedback := []string{"review_replies", "general_comment", "commit_message", "title", "description", "flaky_test", "followups", "blocked_reason", "decision_summary"}
	want := map[work.Kind][]string{
		work.KindReview: {"decision", "summary", "body", "comments", "earlier", "escalate"}, work.KindFix: feedback,
		work.KindDesignStart: {"title", "summary", "touch_paths", "depends_on", "estimated_size", "priority", "design_doc", "followups", "blocked_reason", "decision_summary"},
		work.KindBugfixStart: start, work.KindSmallJobStart: start, work.KindImplementationStart: start,
		work.KindDesignFeedback: feedback, work.KindImplementationFeedback: feedback,
		work.KindRoadmapStart: {"title", "goal", "nodes", "blocked_reason", "decision_summary"},
	}
	if len(want) != len(Kinds()) {
		t.Errorf("kinds %v", Kinds())
	}
	for kind, keys := range want {
		var s struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(Schema(kind, Context{}), &s); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Required, keys) {
			t.Errorf("%s: keys %v, want %v", kind, s.Required, keys)
		}
	}
}

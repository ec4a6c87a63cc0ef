package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// What an agent gives to a tool never becomes a flag, or a second argument.
func TestArgumentsAreNoFlags(t *testing.T) {
	of := map[string]tool{}
	for _, one := range tools {
		of[one.name] = one
	}
	for _, c := range []struct{ tool, given, want string }{
		{"status", `{}`, "status --json day,items,outages,passes,paused,repositories"},
		{"status", `{"repo":"octo/app"}`, "status --json day,items,outages,passes,paused,repositories --repo octo/app"},
		{"show", `{"item":"github.example.com/octo/app#12"}`, "show --json actions,events,history,item,merge,roadmap,turns github.example.com/octo/app#12"},
		{"logs", `{"item":"octo/app#1","since":"7d"}`, "logs --json octo/app#1 --since 7d"},
		{"prompt", `{"kind":"fix","item":"octo/app#1"}`, "prompts show fix octo/app#1"},
		{"show", `{}`, ""},
		{"show", `{"item":"--web"}`, ""},
		{"show", `{"item":"octo/app#1\n--web"}`, ""},
		{"status", `{"repo":"--config=/tmp/x"}`, ""},
		{"status", `{"item":"octo/app#1"}`, ""},
		{"logs", `{"since":"all --json"}`, ""},
		{"prompt", `{"kind":"-h","item":"octo/app#1"}`, ""},
		{"status", `{"repo":1}`, ""},
		{"status", `[]`, ""},
		{"status", `{"repo":"` + strings.Repeat("x", 1<<16) + `"}`, ""},
	} {
		got, err := of[c.tool].args(json.RawMessage(c.given))
		if strings.Join(got, " ") != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %.60s: %q, %v; want %q", c.tool, c.given, got, err, c.want)
		}
	}
	for name, one := range of {
		if s, err := one.schema().Resolve(nil); err != nil || s == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

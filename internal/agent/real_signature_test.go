package agent_test

import (
	"regexp"
	"testing"
)

// No program tells its model to sign commits or pull requests: we say who wrote them. Only copilot
// does, by a setting of the person; such a line is taken out of commits.
func TestNoProgramAsksForASignature(t *testing.T) {
	for _, adapter := range []string{codexName, claudeName, "claude-agent-acp", "codex-acp", "opencode"} {
		t.Run(adapter, func(t *testing.T) {
			r := newRig(t, adapter)
			if _, err := r.run(r.request("Do it.")); err != nil {
				t.Fatal(err)
			}
			for _, q := range r.model.Queries() {
				if found := regexp.MustCompile(`(?i).{40}(generated with|co-authored-by).{40}`).Find(q.Body); found != nil {
					t.Errorf("the model is told: %s", found)
				}
			}
		})
	}
}

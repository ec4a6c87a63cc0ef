package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// tool is the command that serves the tool for the answer.
func tool(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "answer-tool"}
}

// TestARefusedAnswerIsCorrectedInTheSameRun: the model calls the tool, is told what is wrong in the
// next query, and corrects it. That is one run, also of a turn that only reads and of a resumed one.
func TestARefusedAnswerIsCorrectedInTheSameRun(t *testing.T) {
	models := map[string]string{
		codexName: "gpt-5.5", "codex in code mode": "gpt-6.1-sol", claudeName: "claude-sonnet-4-5",
		"claude-agent-acp": "", "codex-acp": "", "copilot": "", "opencode": "", // their own
	}
	for name, model := range models {
		t.Run(name, func(t *testing.T) {
			adapter, _, _ := strings.Cut(name, " ")
			r := newRig(t, adapter)
			r.spec.Model, r.spec.Tool = model, tool(t)
			wrong, right := answer("First"), answer("By the tool")
			wrong["pr_title"] = "two\nlines"
			r.model.Script(func(q modelsim.Query) modelsim.Reply {
				switch len(q.Results) {
				case 0:
					return modelsim.Reply{Give: answer("Given before the last one")}
				case 1:
					return modelsim.Reply{Give: wrong}
				case 2:
					return modelsim.Reply{Give: right}
				}
				return modelsim.Reply{Answer: modelsim.Given{}}
			})
			q := r.request("Begin.")
			q.Context = json.RawMessage("{}")
			for _, mode := range []work.Mode{work.ModeWrite, work.ModeRead} {
				q.Mode = mode
				res := r.must(q)
				if title(t, res) != "By the tool" {
					t.Errorf("%s: answer %s", mode, res.Answer)
				}
				all := r.model.Queries()
				said := all[len(all)-1].Results
				if len(said) != 3 || !strings.Contains(said[1], "pr_title has more than one line") || !strings.Contains(said[2], "Accepted") {
					t.Errorf("%s: the tool said %q", mode, said)
				}
				if files.Exists(r.dir + ".answer") {
					t.Errorf("%s: the folder for the answer is left", mode)
				}
				q.Session, q.Counted = res.Session, res.Counted
			}
		})
	}
}

// TestWithoutTheServerTheLastMessageIsTheAnswer: a program that cannot start the server works as
// before, in one run.
func TestWithoutTheServerTheLastMessageIsTheAnswer(t *testing.T) {
	for _, command := range [][]string{{"/no/such/program"}, {"/bin/false"}} {
		t.Run(filepath.Base(command[0]), func(t *testing.T) {
			onReal(t, func(t *testing.T, r *rig) {
				r.spec.Tool = command
				q := r.request("Begin.")
				if res := r.must(q); title(t, res) != "Done" {
					t.Errorf("answer %s", res.Answer)
				}
				r.model.Script(func(modelsim.Query) modelsim.Reply { return modelsim.Reply{Answer: modelsim.Given{}} })
				_, err := r.run(q)
				if bad := violations(t, err); !strings.Contains(bad, "accepted none") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestTheSchemaBesideTheToolIsStrict: providers accept it for every kind of answer.
func TestTheSchemaBesideTheToolIsStrict(t *testing.T) {
	s := agent.Spec{Adapter: adapters[codexName], Tool: []string{"/bin/false"}}
	for _, kind := range prompts.Kinds() {
		if err := modelsim.CheckSchema(s.FinalSchema(agent.Request{Schema: prompts.Schema(kind, prompts.Context{})})); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

//go:build unix

package story

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
)

// TestAgentStories runs the stories in testdata/agents, in which the real codex
// and claude work, against a model server of the story's own on loopback.
// Beside the other commands its stories have
//
//	model MODE     how the model behaves from now on: honest, wordy (its first message is no answer), idle (it
//	               answers and changes nothing), busy (429), looping (one command after the other, for ever), broke (no credit)
//	model-asked N  checks that the last query came in a conversation of N earlier prompts
//
// and the variables $CODEX_HOME and $CLAUDE_CONFIG_DIR. The agents are
// configured as agents.codex and agents.claude.
func TestAgentStories(t *testing.T) {
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	cmds := commands()
	cmds["model"] = cmdModel
	cmds["model-asked"] = cmdModelAsked
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "agents"),
		Setup:               func(e *testscript.Env) error { return setUpAgents(e, t, bin) },
		Cmds:                cmds,
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
	})
}

type modelKey struct{}

func modelOf(ts *testscript.TestScript) *modelsim.Server {
	return ts.Value(modelKey{}).(*modelsim.Server)
}

// setUpAgents makes a world with real agents. Their homes are outside the
// temporary folder: codex has no sandbox there.
func setUpAgents(e *testscript.Env, t *testing.T, bin string) error {
	if err := setUp(e, t); err != nil {
		return err
	}
	model, err := modelsim.New(willing)
	if err != nil {
		return err
	}
	e.Defer(func() { _ = model.Close() })
	e.Values[modelKey{}] = model
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp(filepath.Join(cache, "gh-mergexo"), "test-home-")
	if err != nil {
		return err
	}
	e.Defer(func() { _ = os.RemoveAll(home) })
	for _, v := range [][2]string{
		{"CODEX_HOME", filepath.Join(home, "codex")},
		{"CLAUDE_CONFIG_DIR", filepath.Join(home, "claude")},
		{"TEST_KEY", "dummy-key"},
		{"ANTHROPIC_API_KEY", "dummy-key"},
		{"ANTHROPIC_BASE_URL", model.Anthropic()},
		{"CLAUDE_CODE_MAX_RETRIES", "0"},
		{"PATH", e.Getenv("PATH") + string(filepath.ListSeparator) + bin},
	} {
		e.Setenv(v[0], v[1])
	}
	if err := os.Mkdir(filepath.Join(home, "codex"), 0o700); err != nil {
		return err
	}
	c := e.Values[worldKey{}].(*world).config
	c.set("runtime", "turn_timeout", "5m")
	c.set("runtime", "idle_timeout", "2m")
	c.set("agents.codex", "model", "gpt-5.5")
	c.set("agents.codex", "args", tomlList(model.CodexArgs("TEST_KEY")))
	c.set("agents.codex", "env_pass", `["TEST_KEY"]`)
	c.set("agents.claude", "model", "claude-sonnet-4-5")
	c.set("agents.claude", "env_pass", `["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_MAX_RETRIES"]`)
	return c.write()
}

func tomlList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	modes := map[string]func(modelsim.Query) modelsim.Reply{"honest": willing, "wordy": wordy, "idle": idle, "busy": busy, "looping": looping, "broke": broke}
	if neg || len(args) != 1 || modes[args[0]] == nil {
		ts.Fatalf("usage: model honest|wordy|idle|busy|looping|broke")
	}
	modelOf(ts).Script(modes[args[0]])
}

func cmdModelAsked(ts *testscript.TestScript, neg bool, args []string) {
	all := modelOf(ts).Queries()
	if neg || len(args) != 1 || len(all) == 0 {
		ts.Fatalf("usage: model-asked N, after a query")
	}
	if got := strconv.Itoa(all[len(all)-1].Earlier); got != args[0] {
		ts.Fatalf("the last query came after %s prompts, not %s", got, args[0])
	}
	fmt.Fprintln(ts.Stdout(), all[len(all)-1].Prompt)
}

// willing changes a file, then answers what was asked.
func willing(q modelsim.Query) modelsim.Reply {
	if len(q.Results) == 0 && !strings.Contains(q.Prompt, "Change no file") {
		return modelsim.Reply{Run: "mkdir -p work && date +%s%N >> work/log.txt"}
	}
	return modelsim.Reply{Answer: fitting(q)}
}

// wordy answers in words first, and by the schema when told so.
func wordy(q modelsim.Query) modelsim.Reply {
	if strings.Contains(q.Prompt, "could not be used") {
		return modelsim.Reply{Answer: fitting(q)}
	}
	if len(q.Results) == 0 {
		return willing(q)
	}
	return modelsim.Reply{Text: "I have done it."}
}

func idle(q modelsim.Query) modelsim.Reply { return modelsim.Reply{Answer: fitting(q)} }

func busy(modelsim.Query) modelsim.Reply {
	return modelsim.Reply{Error: &modelsim.Error{Status: 429, Type: "rate_limit_error", Text: "too many requests"}}
}

func looping(modelsim.Query) modelsim.Reply { return modelsim.Reply{Run: "true"} }

func broke(q modelsim.Query) modelsim.Reply {
	if q.API == modelsim.OpenAI {
		return modelsim.Reply{Failed: "insufficient_quota", Text: "You exceeded your current quota."}
	}
	return modelsim.Reply{Error: &modelsim.Error{Status: 400, Type: "invalid_request_error", Text: "Your credit balance is too low to access the Anthropic API."}}
}

// asked finds the comments that a prompt wants answered.
var asked = regexp.MustCompile(`review_replies may name these review comments only: ([0-9, ]+)\.`)

// fitting answers by the schema: the design's, a start's, or feedback's.
func fitting(q modelsim.Query) map[string]any {
	a := map[string]any{"blocked_reason": nil, "decision_summary": "Decided."}
	add := func(fields map[string]any) map[string]any {
		maps.Copy(a, fields)
		return a
	}
	switch schema := string(q.Schema); {
	case strings.Contains(schema, `"design_doc"`):
		return add(map[string]any{
			"title": "The design", "summary": "What to do.", "touch_paths": []string{"src/**"}, "depends_on": []string{}, "estimated_size": "S",
			"priority": 3, "design_doc": "## Plan\n\nDo it.\n",
		})
	case strings.Contains(schema, `"pr_title"`):
		return add(map[string]any{"pr_title": "Crash on start", "pr_summary": "Mended.", "commit_message": "Mend it"})
	}
	replies := []map[string]any{}
	if m := asked.FindStringSubmatch(q.Prompt); m != nil {
		for id := range strings.SplitSeq(m[1], ", ") {
			n, err := strconv.Atoi(id)
			if err != nil {
				panic(err) // our own prompt
			}
			replies = append(replies, map[string]any{"review_comment_id": n, "body": "Done, as you say.", "resolve": false})
		}
	}
	return add(map[string]any{"review_replies": replies, "general_comment": "Thank you, done.", "commit_message": "Answer", "flaky_test": nil})
}

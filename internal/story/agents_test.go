//go:build unix

package story

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// agentStories are the stories in which the real codex and claude work, against
// a model server of the story's own on loopback. They play outside temporary
// folders, as users do: the home, with the agents' homes and the state folder in
// their usual places, is $WORK/home. Beside the other commands they have those of
// models_test.go. The agents are configured as agents.codex and agents.claude.
var agentStories = filepath.Join("..", "..", "testdata", "agents")

// mainAgentStories are of each program the whole life of an issue, in a sandbox. CI plays these; the nightly
// workflow's script/agent-tests plays all.
var mainAgentStories = []string{"sandboxed_claude", "sandboxed_codex"}

func TestAgentStories(t *testing.T) {
	p := agentParams(t)
	p.Dir = agentStories
	if testhome.Rest() {
		p.Dir = ""
		for _, name := range mainAgentStories {
			p.Files = append(p.Files, filepath.Join(agentStories, name+".txtar"))
		}
	}
	p.WorkdirRoot = testhome.New(t)
	testscript.Run(t, p)
}

// TestAgentStoriesInATemporaryFolder plays the whole life of an issue once more where a sandbox has other
// folders to hide and to let in. The agents' own homes are outside, where variables say: in a temporary
// folder codex has no sandbox.
func TestAgentStoriesInATemporaryFolder(t *testing.T) {
	p := agentParams(t)
	testhome.NotRest(t)
	for _, program := range []string{"claude", "codex"} {
		p.Files = append(p.Files, filepath.Join(agentStories, "sandboxed_"+program+".txtar"))
	}
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		if err := setup(e); err != nil {
			return err
		}
		homes := testhome.New(t)
		e.Setenv("CODEX_HOME", filepath.Join(homes, "codex"))
		e.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(homes, "claude"))
		return os.Mkdir(filepath.Join(homes, "codex"), 0o700)
	}
	testscript.Run(t, p)
}

func agentParams(t *testing.T) testscript.Params {
	testhome.OnlyLong(t)
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	p := params(t)
	p.Cmds = commands()
	addModelCommands(p.Cmds)
	p.Setup = func(e *testscript.Env) error { return setUpAgents(e, t, bin) }
	return p
}

// setUpAgents makes a world with real agents, whose programs are in bin. It is
// the world of a user: no variable names another place for anything.
func setUpAgents(e *testscript.Env, t *testing.T, bin string) error {
	if err := setUp(e, t); err != nil {
		return err
	}
	w := e.Values[worldKey{}].(*world)
	w.clock.run() // what an agent's record is of is told by its time
	model, err := modelsim.New(nil)
	if err != nil {
		return err
	}
	e.Defer(func() { _ = model.Close() })
	model.Script(working(w, runs(logs)))
	e.Values[modelKey{}] = model
	e.Vars = slices.DeleteFunc(e.Vars, func(v string) bool { return strings.HasPrefix(v, "TMPDIR=") || strings.HasPrefix(v, "XDG_") })
	w.state = filepath.Join(w.home(), ".local", "share", "mergexo")
	for _, v := range [][2]string{
		{"STATE", w.stateDir()},
		{"MIRROR", w.dirs().MirrorDir(w.here())},
		{"CHECKOUTS", w.dirs().CheckoutParent(w.here())},
		{"TEST_KEY", "dummy-key"},
		{"ANTHROPIC_API_KEY", "dummy-key"},
		{"ANTHROPIC_BASE_URL", model.Anthropic()},
		{"CLAUDE_CODE_MAX_RETRIES", "0"},
		{"PATH", e.Getenv("PATH") + string(filepath.ListSeparator) + bin},
	} {
		e.Setenv(v[0], v[1])
	}
	c := w.config
	c.set("runtime", "state_dir", "")
	c.set("runtime", "turn_timeout", "5m")
	c.setTiming("idle_timeout", "2m")
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

// sandboxed is how a story asks for a sandbox.
var sandboxed = regexp.MustCompile(`(?m)^(! )?(config \S+ sandbox|exec gh-mergexo doctor --sandbox) `)

// aboutTheSandbox finds the stories that ask for one.
func aboutTheSandbox(t *testing.T, all []string) (about, others []string) {
	t.Helper()
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sandboxed.Match(text) {
			about = append(about, name)
		} else {
			others = append(others, name)
		}
	}
	return about, others
}

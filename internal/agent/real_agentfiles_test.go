package agent_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Words of the candidate files: of the change's version, of the base's.
const (
	ofChange = "CHANGESAYS"
	ofBase   = "BASESAYS"
)

// candidates are files for every row of work.AgentFiles, at the root and nested, with what programs
// may load in a folder. Each has a word of its own.
func candidates() map[string]func(word string) string {
	all := map[string]func(string) string{}
	plain := func(word string) string { return word + "\n" }
	skill := func(word string) string {
		return "---\nname: " + strings.ToLower(word) + "\ndescription: " + word + "\n---\n" + word + "\n"
	}
	agents := func(word string) string {
		return "---\nname: " + strings.ToLower(word) + "\ndescription: " + word + "\n---\n" + word + "\n"
	}
	asJSON := func(word string) string {
		hook := fmt.Sprintf(`[{"hooks":[{"type":"command","command":"echo %s"}]}]`, word)
		return fmt.Sprintf(`{"hooks":{"SessionStart":%s,"UserPromptSubmit":%s},"env":{"SAID":%q},"outputStyle":%q,"mcpServers":{%q:{"command":"echo","args":[%q]}},"instructions":[%q]}`, hook, hook, word, word, word, word, word)
	}
	asTOML := func(word string) string {
		return fmt.Sprintf("developer_instructions = %q\nmodel_instructions_file = %q\n[mcp_servers.%s]\ncommand = \"echo\"\n", word, word, strings.ToLower(word))
	}
	isFile := regexp.MustCompile(`(?i)^(.*(rules|hints|guidelines|modes|ignore|exclude)|[A-Z]+|/\.env.*)$`)
	add := func(at string) {
		switch name := path.Base(at); {
		case strings.HasSuffix(at, ".json"), strings.HasSuffix(at, ".jsonc"):
			all[at] = asJSON
		case strings.HasSuffix(at, ".toml"):
			all[at] = asTOML
		case name != ".rules" && path.Ext(strings.TrimPrefix(name, ".")) != "", isFile.MatchString(name) && !strings.Contains(at, "/rules"):
			all[at] = plain
		default:
			for _, inside := range []string{"AGENTS.md", "CLAUDE.md", "rules/said.md", "rules/said.rules", "instructions.md", "commands/said.md", "prompts/said.md", "output-styles/said.md", "said.md", "said.instructions.md"} {
				all[path.Join(at, inside)] = plain
			}
			all[path.Join(at, "skills/said/SKILL.md")], all[path.Join(at, "agents/said.md")] = skill, agents
			all[path.Join(at, "settings.json")], all[path.Join(at, "settings.local.json")], all[path.Join(at, "mcp.json")], all[path.Join(at, "hooks.json")] = asJSON, asJSON, asJSON, asJSON
			all[path.Join(at, "config.toml")] = asTOML
		}
	}
	for _, f := range work.AgentFiles() {
		at, anywhere := strings.CutPrefix(f.Path, "**/")
		at = strings.TrimPrefix(at, "/")
		add(at)
		if anywhere || !strings.Contains(f.Path, "/") {
			add("sub/" + at)
		}
	}
	all["docs/imported.md"] = plain // by a file of the base
	return all
}

// judged is a pull request: its head has another word in every candidate, of which the base has
// every second one.
type judged struct {
	mirror     *git.Mirror
	base, head string
	names      map[string]string // of the change's words: their files
}

func newJudged(t *testing.T) judged {
	t.Helper()
	dir := testhome.New(t)
	do := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.invalid"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	do("init", "-q", "-b", "main")
	all := candidates()
	j := judged{names: map[string]string{}}
	commit := func(word string, step int) string {
		for i, name := range slices.Sorted(maps.Keys(all)) {
			if i%step == 0 || name == "CLAUDE.md" || name == "AGENTS.md" || name == ".agents/skills/said/SKILL.md" {
				own := fmt.Sprintf("%s-%03d", word, i)
				text := all[name](own)
				if name == "CLAUDE.md" {
					text += "@docs/imported.md\n"
				}
				write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
				if word == ofChange {
					j.names[own] = name
				}
			}
		}
		write(t, filepath.Join(dir, "sub", "app.txt"), "an app "+strings.ToLower(word))
		do("add", "-Af")
		do("commit", "-q", "-m", word)
		return do("rev-parse", "HEAD")
	}
	j.base = commit(ofBase, 2)
	j.head = commit(ofChange, 1)
	g, err := git.Open(t.Context(), git.Options{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + testhome.New(t)}})
	if err != nil {
		t.Fatal(err)
	}
	own := testhome.New(t)
	j.mirror = g.Mirror(filepath.Join(own, "app.git"), dir, filepath.Join(own, "lock")).WithBase("main")
	if err := j.mirror.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := j.mirror.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	return j
}

// place makes the checkout of the head: as a review has it, or with the change's own files.
func (j judged) place(t *testing.T, dir string, guarded bool) {
	t.Helper()
	r := git.Restore{Dir: dir, Index: filepath.Join(testhome.New(t), "index"), Commit: j.head, Branch: "fix", Base: "main"}
	if guarded {
		g, err := j.mirror.Guard(t.Context(), j.head, j.base)
		if err != nil {
			t.Fatal(err)
		}
		r.Guarded = g
	}
	if err := j.mirror.Restore(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// obeys is a model that reads a file in a folder, for which programs load instructions of the
// folder, then what its system prompt orders, then all that it finds.
func (r *rig) obeys() []modelsim.Reply {
	if r.spec.Adapter.Name == codexName {
		const find = "grep -rhoE '" + ofChange + "-[0-9]+' --exclude-dir=.git . | sort -u | tr '\\n' ' '"
		return []modelsim.Reply{{Run: "cat sub/app.txt"}, {Run: "cat AGENTS.md CLAUDE.md"}, {Run: find}}
	}
	use := func(name string, input map[string]any) modelsim.Reply {
		return modelsim.Reply{Tool: &modelsim.Call{Name: name, Input: input}}
	}
	return []modelsim.Reply{
		use("Read", map[string]any{"file_path": filepath.Join(r.dir, "sub", "app.txt")}),
		use("Read", map[string]any{"file_path": filepath.Join(r.dir, "CLAUDE.md")}),
		use("Grep", map[string]any{"pattern": ofChange, "path": r.dir, "output_mode": "content", "head_limit": 0}),
	}
}

// said returns the files whose words are in a text.
func (j judged) said(text string) []string {
	var names []string
	for _, word := range regexp.MustCompile(`(?i)`+ofChange+`-[0-9]+`).FindAllString(text, -1) {
		names = append(names, j.names[strings.ToUpper(word)])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// No word that a change writes into a file that agents obey reaches the model in a review, by
// what the program loads itself or by what the model looks for: a reviewer's program loads none, and
// the checkout of a review has none for a program that loads them all the same, as one does that
// runs as its operator set it up. In the change's own checkout both get such words.
func TestNoInstructionOfAChangeReachesItsReviewer(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		j := newJudged(t)
		steps := r.obeys()
		for name, tt := range map[string]struct {
			role    string
			guarded bool
			steps   int // that the model takes
			least   int // files whose words it gets
		}{
			"a review":                         {"quinn", true, len(steps), 0},
			"without the reviewer's settings":  {"", true, len(steps), 0},
			"unguarded, by the program":        {"", false, 1, 1},
			"unguarded, a reviewer's program":  {"quinn", false, 1, 0},
			"unguarded, by a model that obeys": {"quinn", false, len(steps), 10},
		} {
			j.place(t, r.dir, tt.guarded)
			r.model.Script(func(q modelsim.Query) modelsim.Reply {
				if n := len(q.Results); n < tt.steps {
					return steps[n]
				}
				return modelsim.Reply{Answer: verdict()}
			})
			q := r.asReviewer("quinn")
			q.Role = tt.role
			before := len(r.model.Queries())
			r.reviews(q)
			text := ""
			for _, query := range r.model.Queries()[before:] {
				text += string(query.Body)
			}
			names := j.said(text)
			if len(names) < tt.least || tt.least == 0 && len(names) > 0 {
				t.Errorf("%s: words of %d files, %q", name, len(names), names)
			}
			if tt.guarded && !strings.Contains(text, ofBase) {
				t.Errorf("%s: nothing of the base's instructions", name)
			}
		}
	})
}

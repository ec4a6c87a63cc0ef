//go:build unix

package story

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is what GitHub reads of action.yml, of one that is composite:
// https://docs.github.com/en/actions/sharing-automations/creating-actions/metadata-syntax-for-github-actions
type action struct {
	Name, Description, Author string
	Branding                  struct{ Icon, Color string }
	Inputs                    map[string]struct {
		Description string
		Required    bool
		Default     string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, Run, Shell, If string
			Dir                      string `yaml:"working-directory"`
			Env                      map[string]string
		}
	}
}

func TestActionIsWhatGitHubReads(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.UnmarshalWithOptions(text, &a, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Errorf("%+v", a)
	}
	if colors := []string{"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}; !slices.Contains(colors, a.Branding.Color) {
		t.Errorf("GitHub has no colour %q", a.Branding.Color)
	}
	for name, in := range a.Inputs {
		if in.Description == "" || in.Required && in.Default != "" {
			t.Errorf("input %s: %+v", name, in)
		}
		if !strings.Contains(string(text), "inputs."+name+" }}") {
			t.Errorf("nothing reads input %s", name)
		}
	}
	ids := map[string]bool{}
	for _, s := range a.Runs.Steps {
		ids[s.ID] = true
		if s.Shell != "bash" {
			t.Errorf("step %s: a composite action's step needs a shell", s.ID)
		}
		// An expression within a script is replaced by its text before the shell reads it.
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s: %s", s.ID, s.Run)
		}
		script := regexp.MustCompile(`^bash "\$GITHUB_ACTION_PATH/(script/action/\w+\.sh)"$`).FindStringSubmatch(s.Run)
		if script == nil {
			t.Fatalf("step %s: %s", s.ID, s.Run)
		}
		code, err := os.ReadFile(filepath.Join(root, script[1]))
		if err != nil {
			t.Fatal(err)
		}
		for name := range s.Env {
			if name != "GH_TOKEN" && !regexp.MustCompile(`\$\{?`+name+`\b`).Match(code) {
				t.Errorf("%s does not read %s", script[1], name)
			}
		}
	}
	for _, m := range regexp.MustCompile(`\$\{\{ *(\S+) *\}\}`).FindAllStringSubmatch(string(text), -1) {
		parts := strings.Split(m[1], ".")
		_, input := a.Inputs[parts[1]]
		if parts[0] == "inputs" && !input || parts[0] == "steps" && !ids[parts[1]] || parts[0] != "inputs" && parts[0] != "steps" {
			t.Errorf("there is no %s", m[1])
		}
	}
}

// The workflow that people copy is one that GitHub takes, and its config one that the program
// takes; as far as actionlint, and the config's own check, know.
func TestTheWorkflowToCopy(t *testing.T) {
	workflow, err := os.ReadFile("../../share/actions/pass.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				Run  string
				With map[string]string
				Env  map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(workflow, &w); err != nil {
		t.Fatal(err)
	}
	step := w.Jobs["pass"].Steps[1]
	if !strings.HasPrefix(step.Uses, "mergexo/gh-mergexo@v") || step.With["token"] == "" {
		t.Errorf("%+v", step)
	}
	dir := filepath.Join(t.TempDir(), ".github", "workflows")
	path := filepath.Join(dir, "config.toml")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(step.With["config"]), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := inProcess("config", "--config", path); code != 0 {
		t.Errorf("%s", out)
	}
	lint, err := exec.LookPath("actionlint")
	if err != nil {
		t.Skip("actionlint is not installed")
	}
	if err := os.WriteFile(filepath.Join(dir, "pass.yml"), workflow, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), lint, "-no-color", "-shellcheck=", "-pyflakes=", filepath.Join(dir, "pass.yml"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

package setup_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd/setup"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func parse(text string) (*config.Config, error) {
	return config.Parse("/c/config.toml", []byte(text), environ.Of([]string{"HOME=/home/x"}), "github.com")
}

func mustParse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return cfg
}

// printed is what is in effect.
func printed(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	if err := config.Print(&b, mustParse(t, text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What init writes says what was chosen, and what is commented out shows the default.
func TestNew(t *testing.T) {
	text := setup.NewConfig("claude", setup.DraftRepo{Name: "o/n", AllowedUsers: []string{"ann", "bob"}, Reviewers: []string{"quinn", "sam"}})
	cfg := mustParse(t, text)
	r := cfg.Repos[0]
	if cfg.Runtime.Agent != "claude" || r.Name.FullName() != "o/n" || !reflect.DeepEqual(r.AllowedUsers, []string{"ann", "bob"}) || len(r.Reviewers) != 2 {
		t.Errorf("%+v", r)
	}
	shown := regexp.MustCompile(`(?m)^# ([a-z_]+ = )`).ReplaceAllString(text, "$1")
	if shown == text {
		t.Fatal("nothing is commented out")
	}
	if printed(t, shown) != printed(t, text) {
		t.Errorf("what is commented out is not the default:\n%s", shown)
	}
	if cfg := mustParse(t, setup.NewConfig("codex", setup.DraftRepo{Name: "o/n", Unreviewed: true})); cfg.Repos[0].Review.Enabled {
		t.Error("it is reviewed")
	}
}

// Another agent than the usual one works in a repository for every kind of turn.
func TestAgentOfOneRepository(t *testing.T) {
	cfg := mustParse(t, setup.AddRepo("[[repo]]\nname = \"o/n\"\n", setup.DraftRepo{Name: "o/m", Agent: "claude"}))
	for _, k := range work.Kinds() {
		if a, _ := cfg.AgentFor(cfg.Repos[1].Name, k, ""); a.Name != "claude" {
			t.Errorf("%s is %s's", k, a.Name)
		}
		if a, _ := cfg.AgentFor(cfg.Repos[0].Name, k, ""); a.Name != "codex" {
			t.Errorf("%s of the other is %s's", k, a.Name)
		}
	}
}

// parts are what people write, in any order that TOML takes.
var parts = []string{
	"# ours\n[runtime]\nworkers = 3 # as many\n",
	"\n\n[agents.claude]\nenv_pass = [\n  \"A\", # first\n]\n",
	"[[notify]]\nname = \"chat\"\ncommand = [\"/bin/tell\"]\n\n\n",
	"[[repo]]\nname = \"o/one\"\n  allowed_users = [ 'ann' ]\n[repo.review]\nenabled = false\n",
	"[[repo]] # [[repo]]\nname = 'o/two'\nlabel_prefix = \"bot # not a comment\"\n[[repo.reviewers]]\nname = \"quinn\"\npersona = \"\"\"\nYou look.\n\n[[repo]]\n\"\"\"\n",
	"# the end\n",
}

// Whatever a config looks like, its text stays as it is, byte for byte, and says exactly
// one repository more.
func TestAddKeepsAllLines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		old := ""
		for _, i := range random.Perm(len(parts)) {
			if random.IntN(4) > 0 {
				old += parts[i]
			}
		}
		old = strings.TrimRight(old, "\n") + strings.Repeat("\n", random.IntN(4))
		if random.IntN(3) == 0 {
			old = strings.ReplaceAll(old, "\n", "\r\n")
		}
		if random.IntN(5) == 0 {
			old = "\uFEFF" + old
		}
		r := setup.DraftRepo{Name: fmt.Sprintf("o/new%d", random.IntN(100)), Unreviewed: random.IntN(2) == 0}
		now := setup.AddRepo(old, r)
		if !strings.HasPrefix(now, old) {
			t.Fatalf("the old text is another one:\n%q\n%q", old, now)
		}
		if rest := now[len(old):]; strings.Contains(old, "\r\n") && strings.Count(rest, "\n") != strings.Count(rest, "\r\n") {
			t.Fatalf("the ends of lines are mixed:\n%q", now)
		}
		got := mustParse(t, now)
		was, err := parse(old)
		if err != nil {
			was = mustParse(t, setup.AddRepo(old, setup.DraftRepo{Name: "o/x"}))
			was.Repos = was.Repos[:0]
		}
		if last := len(got.Repos) - 1; last != len(was.Repos) || got.Repos[last].Name.FullName() != r.Name || got.Repos[last].Review.Enabled == r.Unreviewed {
			t.Fatalf("%d repositories of %d:\n%s", len(got.Repos), len(was.Repos), now)
		}
		got.Repos = got.Repos[:len(was.Repos)]
		if !reflect.DeepEqual(got.Repos, was.Repos) && len(was.Repos) > 0 || !reflect.DeepEqual(got.Runtime, was.Runtime) || !reflect.DeepEqual(got.Agents, was.Agents) {
			t.Fatalf("something else changed:\n%s", now)
		}
	}
}

// A name is what it is, whatever stands in it.
func TestQuotes(t *testing.T) {
	odd := "a\"b\\c\td\x01\u00e9"
	cfg := mustParse(t, setup.AddRepo("", setup.DraftRepo{Name: "o/n", AllowedUsers: []string{"ann"}, Agent: "codex"}))
	if cfg.Repos[0].AllowedUsers[0] != "ann" {
		t.Error(cfg.Repos[0].AllowedUsers)
	}
	_, err := parse(setup.AddRepo("", setup.DraftRepo{Name: odd}))
	if err == nil || !strings.Contains(err.Error(), "want owner/name") {
		t.Errorf("a name that is none: %v", err)
	}
}

// A difference is one that patch takes.
func TestDiffIsAPatch(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	line := func() string { return string(rune('a'+random.IntN(5))) + "\n" }
	for range 60 {
		var head, old, now, tail string
		for _, s := range []*string{&head, &old, &now, &tail} {
			for range random.IntN(6) {
				*s += line()
			}
		}
		before, after := head+old+tail, head+now+tail
		if random.IntN(3) == 0 {
			before = strings.TrimSuffix(before, "\n")
		}
		if before == "" || after == "" || before == after {
			continue
		}
		dir := t.TempDir()
		diff := setup.ConfigDiff("f", before, after)
		for name, text := range map[string]string{"f": before, "p": diff} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(git, "apply", "-p0", "--unidiff-zero", "p")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != after {
			t.Fatalf("%q, not %q:\n%s", got, after, diff)
		}
	}
	if got := setup.ConfigDiff("/c", "", "a\n"); got != "--- /dev/null\n+++ /c\n@@ -0,0 +1,1 @@\n+a\n" {
		t.Errorf("a new file: %q", got)
	}
	if setup.ConfigDiff("f", "a", "a") != "" {
		t.Error("what is the same differs")
	}
}

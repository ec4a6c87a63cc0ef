package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

func TestPrintedConfigReadsBackTheSame(t *testing.T) {
	env := environ.Of([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")})
	path := filepath.Join(t.TempDir(), "config.toml")
	source := `
[runtime]
workers = 5
agent = "mine"
turn_timeout = "90m"
sandbox = "required"
readable = ["/srv/all"]
[agents.mine]
adapter = "command"
command = ["/bin/agent", "--x \"y\""]
env_pass = ["LANG"]
writable = ["/var/agent"]
[[repo]]
name = "octo/app"
allowed_users = ["ann"]
agent = "mine"
review_agent = "codex"
label_prefix = "bot:"
required_tests = ["make", "test"]
setup = ["npm", "ci"]
test_file_regex = '_test\.go$'
[repo.voice]
disclosure = "By {agent}."
sign_off = "Olga Op <olga@example.com>"
[repo.review]
enabled = true
max_fix_cycles = 0
require_human_approval = true
blocking_severity = "nit"
auto_merge = true
merge_method = "rebase"
required_checks = ["build / linux", "test"]
critical_paths = ["db/**"]
[[repo.reviewers]]
name = "mora-2"
persona = "Look at what is missing."
agent = "mine"
account = "mora-bot"
can_escalate = ["ann", "priya"]
flows = []
[[repo.reviewers]]
name = "sam"
[[repo.reviewers]]
name = "wide"
persona = """
Look at "everything",
twice."""
[[repo.reviewers]]
name = "ann"
login = "ann:42"
flows = ["design"]
[[repo]]
name = "ghe.test/octo/other"
remote_url = "/srv/other.git"
[[notify]]
name = "chat"
command = ["/bin/tell", "--x \"y\""]
env_pass = ["LANG"]
`
	want, err := config.Parse(path, []byte(source), env, "github.com")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := config.Print(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(path, b.Bytes(), env, "github.com")
	if err != nil {
		t.Fatalf("%v in:\n%s", err, &b)
	}
	var again bytes.Buffer
	if err := config.Print(&again, got); err != nil || again.String() != b.String() {
		t.Errorf("%v; printed again:\n%s\nwant:\n%s", err, &again, &b)
	}
	for _, c := range []*config.Config{got, want} { // these are printed as they are in effect
		for i := range c.Repos {
			for j := range c.Repos[i].Reviewers {
				c.Repos[i].Reviewers[j].Line = 0
			}
		}
		c.Agents = map[string]config.Agent{"mine": c.Agents["mine"]}
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("got  %s\nwant %s\nfrom:\n%s", g, w, &b)
	}
}

// What can be set can be seen: each key of the example, in its table.
func TestPrintedConfigHasEveryKeyOfTheExample(t *testing.T) {
	env := environ.Of([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")})
	example := uncomment.ReplaceAllString(config.Example(), "$1") // it has tables that are commented out
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "config.toml"), []byte(example), env, "github.com")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := config.Print(&b, cfg); err != nil {
		t.Fatal(err)
	}
	printed := keysOf(b.String())
	for key := range keysOf(example) {
		if strings.HasSuffix(key, " usd_per_million") {
			continue // there is none unless it is stated
		}
		if !printed[key] {
			t.Errorf("no %s in:\n%s", key, &b)
		}
	}
	if len(printed) < 50 {
		t.Errorf("%d keys only: %v", len(printed), printed)
	}
}

func TestPrintedPricesReadBackTheSame(t *testing.T) {
	env := environ.Of([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")})
	path := filepath.Join(t.TempDir(), "config.toml")
	source := "[agents.codex]\nusd_per_million = { input = 2, cached = 0.25, output = 8.5 }\n[[repo]]\nname = \"o/n\"\n"
	for range 2 {
		cfg, err := config.Parse(path, []byte(source), env, "github.com")
		if err != nil {
			t.Fatalf("%v in\n%s", err, source)
		}
		if p := cfg.Agents["codex"].Prices; p == nil || *p != (spending.Prices{Input: 2, CacheRead: 0.25, CacheWrite: 2, Output: 8.5}) {
			t.Errorf("got %+v from\n%s", p, source)
		}
		if p := cfg.Agents["claude"].Prices; p != nil {
			t.Errorf("claude: %+v", p)
		}
		var b bytes.Buffer
		if err := config.Print(&b, cfg); err != nil {
			t.Fatal(err)
		}
		source = b.String()
	}
}

var tomlLine = regexp.MustCompile(`(?m)^(?:(\[+[a-z._]+\]+)|(?:# )?([a-z_]+) = )`)

// keysOf lists the keys of a config with their tables, also those that are
// commented out.
func keysOf(doc string) map[string]bool {
	table, keys := "", map[string]bool{}
	for _, m := range tomlLine.FindAllStringSubmatch(doc, -1) {
		if m[1] != "" {
			table = m[1]
			continue
		}
		keys[table+" "+m[2]] = true
	}
	return keys
}

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

const minimal = `[agents.mine]
adapter = "command"
command = ["/bin/agent"]

[[repo]]
name = "owner/name"
`

var testEnv = environ.Of([]string{"HOME=/home/op", "PATH=/usr/bin"})

func parse(t *testing.T, doc string) (*config.Config, error) {
	t.Helper()
	return config.Parse("config.toml", []byte(doc), testEnv, "github.com")
}

func TestMinimalConfigGetsTheDocumentedDefaults(t *testing.T) {
	c, err := parse(t, minimal)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Runtime{
		Workers: 2, Agent: "mine", TurnTimeout: 30 * time.Minute, MaxMemory: 8 << 30, MaxDisk: 10 << 30, StateDir: "/home/op/.local/share/mergexo", PromptsDir: "prompts",
		Sandbox: work.SandboxAuto, Timings: c.Runtime.Timings,
		Budgets: work.Budgets{TurnsPerItem: 30, FeedbackRounds: 20, CostPerItem: 25, CostPerTurn: 20, TokensPerTurn: 100_000_000, TurnsPerDay: 200, CostPerDay: 100},
	}
	if got := c.Runtime; !reflect.DeepEqual(got, want) {
		t.Errorf("runtime\n got %+v\nwant %+v", got, want)
	}
	r := c.Repos[0]
	if r.Name.String() != "github.com/owner/name" || r.Labels.Design != "agent:design" || r.Labels.SmallJob != "agent:small-job" {
		t.Errorf("repo %+v", r)
	}
}

func TestCodexAndClaudeNeedNoTable(t *testing.T) {
	c, err := parse(t, "[[repo]]\nname = \"o/n\"\n[[repo]]\nname = \"o/m\"\nagent = \"claude\"\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"codex", "claude"} {
		a, ok := c.AgentFor(c.Repos[i].Name, work.KindBugfixStart, "")
		if !ok || a.Name != want || a.Adapter != want || len(a.Command) != 0 {
			t.Errorf("%s: %+v", want, a)
		}
	}
	c, err = parse(t, "[agents.claude]\nmodel = \"opus\"\neffort = \"high\"\nargs = [\"--max-turns\", \"50\"]\ncommand = [\"~/bin/claude\"]\n[[repo]]\nname = \"o/n\"\n")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.AgentFor(c.Repos[0].Name, work.KindBugfixStart, "") // the only one that was written down
	if a.Adapter != "claude" || a.Model != "opus" || a.Effort != "high" || a.Command[0] != "/home/op/bin/claude" || len(a.Args) != 2 {
		t.Errorf("got %+v", a)
	}
}

func TestPricesSayWhatIsWrongWithThem(t *testing.T) {
	for table, want := range map[string]string{
		`{ input = 1 }`:                         "output in [agents.codex.usd_per_million]: missing; write output = 10",
		`{ output = 1 }`:                        "input in [agents.codex.usd_per_million]: missing; write input = 1.25",
		`{ input = -1, output = 1 }`:            "want 0 to 1000000, got -1",
		`{ input = 1, output = 1, in = 1 }`:     `unknown key "in"`,
		`{ input = "dear", output = 1 }`:        "want a number",
		`7`:                                     "want a table such as {",
		`{ input = 1, output = 1, cached=true}`: "want a number",
	} {
		_, err := parse(t, "[agents.codex]\nusd_per_million = "+table+"\n[[repo]]\nname = \"o/n\"\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", table, err, want)
		}
	}
}

// uncomment makes every "# key = value" of the example a setting, and every "# [[table]]"
// a table.
var uncomment = regexp.MustCompile(`(?m)^# (\[\[|[a-z_]+ = )`)

func TestEverySettingIsRead(t *testing.T) {
	c, err := parse(t, `
[runtime]
workers = 5
agent = "b"
turn_timeout = "1h"
max_turns_per_item = 6
max_cost_per_item_usd = 0.5
max_cost_per_turn_usd = 1.5
max_turns_per_day = 0
max_cost_per_day_usd = 9
max_memory = "0"
max_disk = "1GiB"
state_dir = "~/state"
metrics_file = "~/mergexo.prom"
readable = ["~/docs"]
[agents.a]
adapter = "command"
command = ["~/bin/agent", "--x"]
env_pass = ["A_KEY"]
writable = ["~/.x"]
[agents.b]
adapter = "command"
command = ["agent"]
[[repo]]
name = "GHE.example/Owner/Name"
remote_url = "git@ghe.example:owner/name.git"
allowed_users = ["octo-cat", "dependabot[bot]", "name_corp", "octocat:583231"]
agent = "a"
review_agent = "codex"
label_prefix = "bot-"
[repo.review]
enabled = false
max_fix_cycles = 2
[[repo]]
name = "o/n"
required_tests = []
`)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Runtime{
		Workers: 5, Agent: "b", TurnTimeout: time.Hour, MaxDisk: 1 << 30, StateDir: "/home/op/state", PromptsDir: "prompts", MetricsFile: "/home/op/mergexo.prom",
		Sandbox: work.SandboxAuto, Readable: []string{"/home/op/docs"}, Timings: c.Runtime.Timings,
		Budgets: work.Budgets{TurnsPerItem: 6, FeedbackRounds: 20, CostPerItem: 0.5, CostPerTurn: 1.5, TokensPerTurn: 100_000_000, CostPerDay: 9},
	}
	if !reflect.DeepEqual(c.Runtime, want) {
		t.Errorf("runtime\n got %+v\nwant %+v", c.Runtime, want)
	}
	a := c.Agents["a"]
	if a.Command[0] != "/home/op/bin/agent" || a.Command[1] != "--x" || a.EnvPass[0] != "A_KEY" || a.Writable[0] != "/home/op/.x" {
		t.Errorf("agent %+v", a)
	}
	name := work.RepoName{Host: "ghe.example", Owner: "owner", Name: "name"}
	r, ok := c.Repo(name)
	if !ok || r.Labels.Design != "bot-design" || r.Labels.HumanReview != "bot-human-review" || len(r.AllowedUsers) != 4 {
		t.Errorf("repo %+v", r)
	}
	for kind, want := range map[work.Kind]string{work.KindBugfixStart: "a", work.KindFix: "a", work.KindReview: "codex"} {
		if a, ok := c.AgentFor(name, kind, ""); !ok || a.Name != want {
			t.Errorf("agent for %s: %+v", kind, a)
		}
	}
	if a, ok := c.AgentFor(work.RepoName{Host: "github.com", Owner: "o", Name: "n"}, work.KindReview, ""); !ok || a.Name != "b" {
		t.Errorf("agent of the other: %+v", a)
	}
}

func TestEveryMistakeIsOneClearLine(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"unknown key", "[runtime]\nagent = \"mine\"\nwokers = 2\n" + minimal, `config.toml:3: unknown key "wokers" in [runtime]; did you mean "workers"?`},
		{"unknown key, nothing near", "[runtime]\nbananas = 2\n" + minimal, `config.toml:2: unknown key "bananas" in [runtime]`},
		{"key in the wrong case", "[runtime]\nWorkers = 2\n" + minimal, `config.toml:2: unknown key "Workers" in [runtime]; did you mean "workers"?`},
		{"unknown table", "[runtme]\nworkers = 2\n" + minimal, `config.toml:1: unknown table [runtme]; did you mean [runtime]?`},
		{"key outside any table", "workers = 2\n" + minimal, `config.toml:1: unknown key "workers" outside any table`},
		{"unknown key in the second repo", minimal + "[repo.roadmap]\nparallel = 1\n[[repo]]\nname = \"o/two\"\n[repo.roadmap]\nparalel = 2\n", `config.toml:12: unknown key "paralel" in [repo.roadmap]; did you mean "parallel"?`},
		{"unknown key in an inline table", minimal + "roadmap = { paralel = 1 }\n", `config.toml:7: unknown key "paralel" in [repo.roadmap]; did you mean "parallel"?`},
		{"after a text of several lines", "[runtime]\nstate_dir = \"\"\"/a\n[repo]\nname = 1\n\"\"\"\nwokers = 2\n" + minimal, `config.toml:6: unknown key "wokers" in [runtime]; did you mean "workers"?`},
		{"after a list of several lines", minimal + "allowed_users = [\n  \"a\", # ]\n  \"b\",\n]\nnmae = 1\n", `config.toml:11: unknown key "nmae" in [[repo]]; did you mean "name"?`},
		{"syntax", "[runtime]\nworkers = = 2\n", `config.toml:2: `},
		{"key twice", "[runtime]\nworkers = 1\nworkers = 2\n", `config.toml:3: `},
		{"wrong type", "[runtime]\nworkers = \"two\"\n" + minimal, `config.toml:2: workers in [runtime]: want a whole number, got text`},
		{"no workers", "[runtime]\nworkers = 0\n" + minimal, `config.toml:2: workers in [runtime]: want 1 to 64, got 0`},
		{"duration without unit", "[runtime]\nturn_timeout = \"30\"\n" + minimal, `config.toml:2: turn_timeout in [runtime]: want a time such as "90s", "30m" or "24h", got "30"`},
		{"duration as a number", "[runtime]\nturn_timeout = 30\n" + minimal, `config.toml:2: turn_timeout in [runtime]: want a time such as "90s", "30m" or "24h", got a whole number`},
		{"negative duration", "[runtime]\nturn_timeout = \"-1s\"\n" + minimal, `config.toml:2: turn_timeout in [runtime]: want 1s to 168h, got "-1s"`},
		{"unknown default agent", "[runtime]\nagent = \"mnie\"\n" + minimal, `config.toml:2: agent in [runtime]: unknown agent "mnie"; did you mean "mine"?`},
		{"several agents, no default", minimal + "[agents.other]\nadapter = \"command\"\ncommand = [\"/x\"]\n", `config.toml: agent in [runtime]: missing; there are several, name one of mine, other`},
		{"unknown agent of a repo", minimal + "review_agent = \"x\"\n", `config.toml:7: review_agent in [[repo]]: unknown agent "x"; there is no [agents.x] (` + "`gh mergexo config agents` prints tables)"},
		{"unknown adapter", "[agents.c]\nadapter = \"claud\"\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: adapter in [agents.c]: want "codex", "claude", "acp" or "command", got "claud"; did you mean "claude"? (` + "`gh mergexo config agents`" + ` lists programs of "acp")`},
		{"model of a program", minimal + "[agents.b]\nadapter = \"command\"\ncommand = [\"/x\"]\nmodel = \"m\"\n", `config.toml:10: model in [agents.b]: the program of adapter "command" gets its arguments from command; remove the line`},
		{"misspelt model", "[agents.codex]\nmodle = \"m\"\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: unknown key "modle" in [agents.codex]; did you mean "model"?`},
		{"a model that is a flag", "[agents.codex]\nmodel = \"--yolo\"\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: model in [agents.codex]: "--yolo" is no name`},
		{"an argument without limits", "[agents.claude]\nargs = [\"--dangerously-skip-permissions\"]\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: args in [agents.claude]: --dangerously-skip-permissions is not for unattended turns`},
		{"relative program", "[agents.codex]\ncommand = [\"./codex\"]\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: command in [agents.codex]: "./codex" is relative`},
		{"an ACP agent without a program", "[agents.c]\nadapter = \"acp\"\n[[repo]]\nname = \"o/n\"\n", `command in [agents.c]: its program is empty;`},
		{"effort of an ACP agent", minimal + "[agents.b]\nadapter = \"acp\"\ncommand = [\"x\", \"acp\"]\nmodel = \"m\"\neffort = \"high\"\n", `config.toml:11: effort in [agents.b]: the program of adapter "acp" gets its arguments from command; remove the line`},
		{"no adapter", "[agents.c]\n[[repo]]\nname = \"o/n\"\n", `config.toml:1: adapter in [agents.c]: missing;`},
		{"empty command", "[agents.c]\nadapter = \"command\"\ncommand = []\n[[repo]]\nname = \"o/n\"\n", `config.toml:3: command in [agents.c]: its program is empty;`},
		{"command as text", "[agents.c]\nadapter = \"command\"\ncommand = \"x\"\n[[repo]]\nname = \"o/n\"\n", `config.toml:3: command in [agents.c]: want a list: ["text", …], got text`},
		{"relative command", "[agents.c]\nadapter = \"command\"\ncommand = [\"./x\"]\n[[repo]]\nname = \"o/n\"\n", `config.toml:3: command in [agents.c]: "./x" is relative`},
		{"token passed to an agent", minimal + "[agents.b]\nadapter = \"command\"\ncommand = [\"/x\"]\nenv_pass = [\"GH_TOKEN\"]\n", `config.toml:10: env_pass in [agents.b]: GH_TOKEN is never passed`},
		{"no repository", "[agents.c]\nadapter = \"command\"\ncommand = [\"/x\"]\n", `config.toml: no [[repo]]: name at least one repository`},
		{"repo as a single table", "[agents.c]\nadapter = \"command\"\ncommand = [\"/x\"]\n[repo]\nname = \"o/n\"\n", `config.toml:4: repo: want [[repo]] in two brackets, as there may be several, got a table`},
		{"invalid repository name", minimal + "[[repo]]\nname = \"just-a-name\"\n", `config.toml:8: name in [[repo]]: "just-a-name" is no repository; want owner/name or host/owner/name`},
		{"no repository name", minimal + "[[repo]]\nagent = \"mine\"\n", `config.toml:7: name in [[repo]]: missing; write name = "owner/name"`},
		{"repository twice", minimal + "[[repo]]\nname = \"GitHub.com/OWNER/name\"\n", `config.toml:8: name in [[repo]]: OWNER/name is configured twice; the other is on line 6`},
		{"label with a comma", minimal + "label_prefix = \"a,b\"\n", `config.toml:7: label_prefix in [[repo]]: the label "a,bhuman-review" holds a comma`},
		{"label too long", minimal + "label_prefix = \"" + strings.Repeat("x", 39) + "\"\n", `is longer than GitHub's limit of 50 characters`},
		{"login", minimal + "allowed_users = [\"@me\"]\n", `config.toml:7: allowed_users in [[repo]]: "@me" is no GitHub login`},
		{"login with something else than an id", minimal + "allowed_users = [\"me:x\"]\n", `config.toml:7: allowed_users in [[repo]]: "me:x" is no GitHub login, nor one with its account's id`},
		{"remote that runs a program", minimal + "remote_url = \"ext::sh -c x\"\n", `config.toml:7: remote_url in [[repo]]: "ext::sh -c x" names a program`},
		{"remote that is an option", minimal + "remote_url = \"--upload-pack=x\"\n", `config.toml:7: remote_url in [[repo]]: "--upload-pack=x" is no address`},
		{"remote with a password", minimal + "remote_url = \"https://me:secret@github.com/o/n\"\n", `config.toml:7: remote_url in [[repo]]: holds a user name or password`},
		{"relative remote", minimal + "remote_url = \"../repo\"\n", `config.toml:7: remote_url in [[repo]]: "../repo" is neither an address`},
		{"relative state folder", "[runtime]\nstate_dir = \"state\"\n" + minimal, `config.toml:2: state_dir in [runtime]: want an absolute path or one that begins with ~/, got "state"`},
		{"tests in one word", minimal + "required_tests = [\"make test\"]\n", `config.toml:7: required_tests in [[repo]]: "make test" is one word; write program and arguments apart, such as ["make", "test"]`},
		{"tests without a program", minimal + "required_tests = [\"\"]\n", `config.toml:7: required_tests in [[repo]]: its program is empty; write the program and its arguments, such as ["make", "test"]`},
		{"set-up in one word", minimal + "setup = [\"npm ci\"]\n", `config.toml:7: setup in [[repo]]: "npm ci" is one word; write program and arguments apart, such as ["npm", "ci"]`},
		{"no expression", minimal + "test_file_regex = \"(\"\n", "config.toml:7: test_file_regex in [[repo]]: \"(\" is no regular expression: missing closing ): `(`"},
		{"database on another server", "[runtime]\ndatabase = \"mysql://secret@h/d\"\n" + minimal, `config.toml:2: database in [runtime]: is no URL of a PostgreSQL database; want one like postgres://user@host:5432/name?sslmode=verify-full`},
		{"database as a file", "[runtime]\ndatabase = \"/var/lib/state.db\"\n" + minimal, `name?sslmode=verify-full, or leave the key out for the SQLite file state.db in state_dir`},
		{"database as an address of a file", "[runtime]\ndatabase = \"sqlite:///var/lib/state.db\"\n" + minimal, `or leave the key out for the SQLite file state.db in state_dir`},
		{"database without slashes", "[runtime]\ndatabase = \"postgres:secret@h/d\"\n" + minimal, `config.toml:2: database in [runtime]: is no URL of a PostgreSQL database; want one like`},
		{"database that cannot be parsed", "[runtime]\ndatabase = \"postgres://me:sec%ret@h/d\"\n" + minimal, `config.toml:2: database in [runtime]: cannot be read; want one like`},
		{"database with a password", "[runtime]\ndatabase = \"postgres://me:secret@h/d\"\n" + minimal, `config.toml:2: database in [runtime]: has a password; put the URL into an environment variable, and write its name: database = "$NAME"`},
		{"database with a password at the end", "[runtime]\ndatabase = \"postgres://me@h/d?password=secret\"\n" + minimal, `config.toml:2: database in [runtime]: has a password`},
		{"database's variable with the URL", "[runtime]\ndatabase = \"$postgres://me:secret@h/d\"\n" + minimal, `config.toml:2: database in [runtime]: want $ and the name of an environment variable that holds the URL`},
		{"a machine's name", "[runtime]\nmachine = \"a/b\"\n" + minimal, `config.toml:2: machine in [runtime]: "a/b" is no name; want letters, digits, - and _, at most 63`},
		{"unknown sandbox", "[runtime]\nsandbox = \"bubblewrap\"\n" + minimal, `config.toml:2: sandbox in [runtime]: want "auto", "required", "bwrap", "sandbox-exec", "agent" or "none", got "bubblewrap"`},
		{"relative writable folder", "[agents.codex]\nwritable = [\"x\"]\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: writable in [agents.codex]: want absolute paths or ones that begin with ~/, got "x"`},
		{"a budget below nothing", "[runtime]\nmax_turns_per_item = -1\n" + minimal, `config.toml:2: max_turns_per_item in [runtime]: want 0 to 100000, got -1`},
		{"a cost below nothing", "[runtime]\nmax_cost_per_day_usd = -0.5\n" + minimal, `config.toml:2: max_cost_per_day_usd in [runtime]: want 0 to 100000, got -0.5`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(t, tt.doc)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "config.toml:") {
					t.Errorf("a line that names no file: %q", line)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats a password: %s", err)
			}
		})
	}
}

// What earlier versions read is refused with what happens now.
func TestKeysThatWentSayWhatHappensNow(t *testing.T) {
	for lines, want := range map[string]string{
		"[runtime]\nquiet_period = \"0s\"\n":             "config.toml:2: quiet_period in [runtime]: there is no such key any more: comments are answered once there was no new one for a minute; remove it",
		"[schedule]\npriority_weight = 2\n":              "config.toml:1: schedule: there is no such key any more: weights are fixed: ",
		"[agents.codex]\nsession = \"fresh\"\n":          "config.toml:2: session in [agents.codex]: there is no such key any more: an agent continues its session from turn to turn; remove it",
		oneRepo + "[repo.labels]\nbugfix = \"bug\"\n":    "config.toml:6: labels in [[repo]]: there is no such key any more: label_prefix in [[repo]] begins the names of all labels; rename those on GitHub, as issues with other ones start nothing; remove it",
		oneRepo + "[[notify]]\nkinds = []\n":             "kinds in [[notify]]: there is no such key any more: command gets every message, and may leave out some by their event; remove it",
		oneRepo + "[[repo.reviewers]]\ntype = \"human\"": "type in [[repo.reviewers]]: there is no such key any more: a reviewer with a login is a person; remove it",
	} {
		if _, err := parse(t, lines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", lines, err, want)
		}
	}
}

// Only programs of tests read other timings, and from the environment alone.
func TestTimingsAreThoseOfTheEnvironmentInTestsAlone(t *testing.T) {
	env := environ.Of([]string{"HOME=/home/op", "MERGEXO_TIMINGS=quiet_period=0s,max_files=3,max_tokens_per_turn=7"})
	read := func() *config.Config {
		c, err := config.Parse("config.toml", []byte(minimal), env, "github.com")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if run := read().Runtime; run.QuietPeriod != time.Minute || run.MaxFiles != 1000 || run.Budgets.TokensPerTurn != 100_000_000 {
		t.Errorf("released: %+v", run)
	}
	config.TimingsVariable = "MERGEXO_TIMINGS"
	defer func() { config.TimingsVariable = "" }()
	if run := read().Runtime; run.QuietPeriod != 0 || run.MaxFiles != 3 || run.Budgets.TokensPerTurn != 7 || run.RetryBase != time.Minute {
		t.Errorf("in a test: %+v", run)
	}
	env = environ.Of([]string{"HOME=/home/op", "MERGEXO_TIMINGS=quiet_perod=0s"})
	if _, err := config.Parse("config.toml", []byte(minimal), env, "github.com"); err == nil || !strings.Contains(err.Error(), "MERGEXO_TIMINGS: quiet_perod=0s: there is no such timing") {
		t.Error(err)
	}
}

func TestAllMistakesAreReportedInOrder(t *testing.T) {
	_, err := parse(t, "[runtime]\nworkers = 0\nwokers = 1\nturn_timeout = \"x\"\n"+minimal)
	var invalid *config.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 3 {
		t.Fatalf("got %v", err)
	}
	for i, want := range []int{2, 3, 4} {
		if invalid.Problems[i].Line != want {
			t.Errorf("problem %d is on line %d, want %d", i, invalid.Problems[i].Line, want)
		}
	}
}

func TestNoConfigNamesThePathAndTheWayOn(t *testing.T) {
	env := environ.Of([]string{"HOME=" + t.TempDir()})
	_, err := config.Load(env, "github.com")
	var missing *config.MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("got %v", err)
	}
	if missing.Path != filepath.Join(env.Home, ".config/mergexo/config.toml") || !strings.Contains(err.Error(), missing.Path) || !strings.Contains(err.Error(), "gh mergexo demo") {
		t.Errorf("error %q", err)
	}
	if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "gh mergexo init") {
		t.Errorf("want one line with the command that mends it: %q", err)
	}
}

func TestHomeUnset(t *testing.T) {
	if _, err := config.Load(environ.Of(nil), "github.com"); err == nil || !strings.Contains(err.Error(), "HOME is not set") {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	env := environ.Of([]string{"MERGEXO_CONFIG=" + path})
	if _, err := config.Load(env, "github.com"); err == nil || !strings.Contains(err.Error(), "set state_dir in [runtime] to an absolute path") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("[runtime]\nstate_dir = \"/s\"\n"+minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(env, "github.com")
	if err != nil || c.Runtime.StateDir != "/s" || c.Path != path {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestLoadRefusesAFolder(t *testing.T) {
	env := environ.Of([]string{"HOME=/h", "MERGEXO_CONFIG=" + t.TempDir()})
	if _, err := config.Load(env, "github.com"); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(minimal)
	f.Add(config.Example())
	f.Add("[runtime]\nstate_dir = '''/a\n''''\nx.\"y z\" = { a = [1, \"]\"] } # c\n")
	f.Add("a = \"\\\"\nb")
	f.Add("[[repo]]\n[repo.roadmap]\n\"paralle\\u006c\" = 1\n")
	f.Fuzz(func(t *testing.T, doc string) {
		c, err := config.Parse("f", []byte(doc), testEnv, "github.com")
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatal("an error that says nothing")
		}
	})
}

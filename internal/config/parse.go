package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Parse parses a config. path is its name in errors.
func Parse(path string, data []byte, env environ.Env, defaultHost string) (*Config, error) {
	doc := strings.TrimPrefix(string(data), "\uFEFF")
	whole, err := OpenTable(path, doc)
	if err != nil {
		return nil, err
	}
	whole.belongs = belongs
	p := parser{
		Table:  whole,
		env:    env,
		host:   defaultHost,
		config: &Config{Path: path, Agents: map[string]Agent{}},
	}
	p.parse()
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.config, nil
}

type parser struct {
	*Table

	env    environ.Env
	host   string
	config *Config

	written []string // the agents that have a table
}

func (p *parser) parse() {
	run := p.sub("runtime", "[runtime]")
	agents := p.sub("agents", "[agents]")
	repos := p.all("repo", "[[repo]]")
	notify := p.all("notify", "[[notify]]")
	p.done()

	p.runtime(run)
	for _, name := range agents.keys() {
		p.agent(agents.sub(name, "[agents."+name+"]"), name)
	}
	p.knownAgents()
	p.defaultAgent()
	for _, r := range repos {
		p.repo(r)
	}
	p.checkFallbacks()
	for _, n := range notify {
		p.notify(n)
	}
	if !p.has("repo") {
		p.lacks("", "repo", `no [[repo]]: name at least one repository, such as name = "owner/name" under [[repo]]; gh mergexo init adds the one whose clone you are in`)
	}
}

// runtimeKeys are the keys of [runtime].
func (p *parser) runtimeKeys(r *Runtime) []key {
	const mostTurns, mostUSD = 100_000, 100_000
	b := &r.Budgets
	return []key{
		textKey("agent", &r.Agent, "").says("or another of [agents.*]; optional if there is only one").shown(`"codex"`),
		countKey("workers", &r.Workers, 2, 1, 64).says("parallel turns of this machine, of all repositories"),
		durationKey("turn_timeout", &r.TurnTimeout, 30*time.Minute, time.Second).says("time limit of an agent"),

		// The default limits exceed what honest work needs, but stay below what an operator would
		// mind overnight.
		countKey("max_turns_per_item", &b.TurnsPerItem, 30, 0, mostTurns).says("turns of one item; then it waits for a person; 0: no limit"),
		numberKey("max_cost_per_item_usd", &b.CostPerItem, 25, mostUSD).says("cost of one item, as reported or by usd_per_million; 0: no limit"),
		numberKey("max_cost_per_turn_usd", &b.CostPerTurn, 20, mostUSD).says("cost of one turn; then the agent is stopped, and its changes are kept; 0: no limit"),
		countKey("max_turns_per_day", &b.TurnsPerDay, 200, 0, mostTurns).says("turns of all repositories and machines in any 24 hours; then everything waits; 0: no limit"),
		numberKey("max_cost_per_day_usd", &b.CostPerDay, 100, mostUSD).says("cost of all repositories and machines in any 24 hours; then everything waits; 0: no limit"),
		sizeKey("max_memory", &r.MaxMemory, 8<<30, 64<<20).says(`memory of a run of an agent or of required tests, with all its processes; then it is stopped; "0": no limit`), // codex alone needs this much
		sizeKey("max_disk", &r.MaxDisk, 10<<30, 16<<20).says(`size of what a run writes to its checkout, plus its own temporary and home folders; "0": no limit`),
		ownKey("state_dir", func(t *Table) { r.StateDir = p.stateDir(t) }, func() any { return r.StateDir }).says("default: $XDG_DATA_HOME/mergexo").shown(`"~/.local/share/mergexo"`),
		ownKey("database", func(t *Table) { p.database(t, r) }, func() any { return r.Database }).says(`PostgreSQL database for several machines, such as "postgres://mergexo@db.example.com/mergexo?sslmode=verify-full"; or "$NAME": the environment variable NAME holds the URL, which may have a password; "": state.db in state_dir`),
		ownKey("machine", func(t *Table) { r.Machine = p.machine(t) }, func() any { return r.Machine }).says("name of this machine for the others on its database; default: made of state_dir"),
		ownKey("prompts_dir", func(t *Table) { r.PromptsDir = p.promptsDir(t) }, func() any { return printedPrompts(r.PromptsDir) }).says("folder, relative to this file, with your own prompts: NAME.tmpl replaces the built-in one"),
		of(ownKey("sandbox", func(t *Table) { r.Sandbox = p.sandbox(t) }, func() any { return string(r.Sandbox) }).says(`sandbox of agents: the best that works; "required": as "auto", but nothing starts without one that hides files; or "bwrap" (Linux), "sandbox-exec" (macOS), "agent" (the agent's own), "none"`), work.Sandboxes()...),
		ownKey("readable", func(t *Table) { r.Readable = p.letIn(t, "readable") }, func() any { return orEmpty(r.Readable) }).says(`folders and files that every agent may read in the sandbox, beside those of the system, PATH and toolchains, such as ["~/.config/mise"]`), // once the state folder is known
		ownKey("metrics_file", func(t *Table) { r.MetricsFile = p.metricsFile(t) }, func() any { return r.MetricsFile }).says(`file for Prometheus that each pass writes, such as "/var/lib/node_exporter/textfile/mergexo.prom"; "": none`),
	}
}

func (p *parser) runtime(t *Table) {
	readKeys(t, p.runtimeKeys(&p.config.Runtime))
	t.done()
	if err := p.config.Runtime.timings(p.env, p.host); err != nil {
		p.Add("runtime", "%s", err)
	}
}

func (p *parser) stateDir(t *Table) string {
	dir := t.text("state_dir", "")
	switch {
	case dir == "" && p.env.DataDir == "":
		t.Add(t.at("state_dir"), "no folder for the state is known: HOME is not set; set state_dir in [runtime] to an absolute path")
	case dir == "":
		return p.env.DataDir
	case strings.HasPrefix(dir, "~/") && p.env.Home == "":
		t.bad("state_dir", "HOME is not set; write an absolute path instead of %q", dir)
	}
	dir = environ.ExpandHome(dir, p.env.Home)
	if dir != "" && !strings.HasPrefix(dir, "~/") && !filepath.IsAbs(dir) {
		t.bad("state_dir", "want an absolute path or one that begins with ~/, got %q", dir)
	}
	return dir
}

// repoKeys are the keys of [[repo]]; written is its name as in the file.
func (p *parser) repoKeys(r *Repo, written *string) []key {
	return []key{
		ownKey("name", func(t *Table) { *written = t.text("name", "") }, func() any { return r.Name.String() }).says("the repository, or host/owner/name").shown(`"owner/name"`).must(),
		ownKey("remote_url", func(t *Table) { r.RemoteURL = environ.ExpandHome(t.text("remote_url", ""), p.env.Home) }, func() any { return r.RemoteURL }).says("where git fetches and pushes; default: by gh's git_protocol for the host; may be a local path"),
		textKey("account", &r.Account, "").says("gh's account with which passes work on this host, also after another one; default: the one that gh is logged in as"),
		textsKey("allowed_users", &r.AllowedUsers).says(`people whose comments and commands count, beside those with write permission; "login:id" also fixes the account`),
		textKey("agent", &r.Agent, "").says("the agent of this repository, of [agents.*]; default: that of [runtime]"),
		textKey("review_agent", &r.ReviewAgent, "").says("the agent that reviews its pull requests; default: its agent"),
		textsKey("required_tests", &r.RequiredTests).says(`such as ["make", "test"]: must succeed before a push; runs in the agent's sandbox, for 15 minutes at most`),
		textsKey("setup", &r.Setup).says(`such as ["npm", "ci"]: installs dependencies before a turn; every checkout gets a copy of what it makes`),
		ownKey("test_file_regex", func(t *Table) { r.TestFiles = testFiles(t) }, func() any { return patternOf(r.TestFiles) }).says(`such as "_test\\.go$": a bugfix must change a matching path`),
		textsKeyOr("protected_paths", &r.ProtectedPaths, defaultProtectedPaths()).says("such as these two: replaces the default list, which is longer (`gh mergexo config` prints it); case does not matter").shown(`[".github/workflows/**", "CODEOWNERS"]`),
		textKey("label_prefix", &r.LabelPrefix, defaultPrefix).says("begins the names of the labels: design, bugfix, small-job, roadmap, ignore, review, hold, freeze, working, blocked, done, human-review"),
	}
}

func (p *parser) repo(t *Table) {
	var r Repo
	var written string
	readKeys(t, p.repoKeys(&r, &written))
	r.Labels = labelsOf(r.LabelPrefix)
	checkPrefix(t, r.LabelPrefix)
	for key, name := range map[string]string{"agent": r.Agent, "review_agent": r.ReviewAgent} {
		if name != "" {
			p.checkAgentName(t.at(key), t.called(key), name)
		}
	}
	r.Voice = p.voice(t.sub("voice", "[repo.voice]"))
	r.Review = p.review(t.sub("review", "[repo.review]"))
	r.Review.Merge.ChecksTimeout = p.config.Runtime.ChecksTimeout
	r.Roadmap = p.roadmap(t.sub("roadmap", "[repo.roadmap]"))
	r.Reviewers = p.reviewers(t.all("reviewers", "[[repo.reviewers]]"))
	p.checkTests(t, r)
	if t.has("protected_paths") {
		checkGlobs(t, "protected_paths", r.ProtectedPaths)
	}
	t.done()

	r.Name = p.repoName(t, written)
	p.checkRemote(t, r.RemoteURL)
	p.checkAccount(t, r)
	for _, u := range r.AllowedUsers {
		if why := LoginProblem(u); why != "" {
			t.bad("allowed_users", "%s", why)
		}
	}
	p.config.Repos = append(p.config.Repos, r)
}

// checkAccount checks that one account at most is named for a host.
func (p *parser) checkAccount(t *Table, r Repo) {
	if r.Account == "" {
		return
	}
	if !login().MatchString(r.Account) {
		t.bad("account", "%q is no GitHub login; gh auth status shows those that gh has", r.Account)
	}
	if other := p.config.AccountOn(r.Name.Host); other != "" && !strings.EqualFold(other, r.Account) {
		t.bad("account", "passes work with one account on %s, and another [[repo]] names %q", r.Name.Host, other)
	}
}

// AccountOn returns gh's account with which passes work on a host; empty: the one that gh is logged in as.
func (c *Config) AccountOn(host string) string {
	for _, r := range c.Repos {
		if r.Name.Host == host && r.Account != "" {
			return r.Account
		}
	}
	return ""
}

func (p *parser) repoName(t *Table, written string) work.RepoName {
	if written == "" {
		if !t.has("name") {
			t.missing("name", `missing; write name = "owner/name"`)
			return work.RepoName{}
		}
	}
	name, err := work.ParseRepoName(written, p.host)
	if err != nil {
		t.bad("name", "%q is no repository; want owner/name or host/owner/name", written)
		return work.RepoName{}
	}
	if strings.HasSuffix(name.Name, ".git") {
		t.bad("name", "%q ends in .git, as addresses do; write %q", written, strings.TrimSuffix(written, ".git"))
	}
	for i, other := range p.config.Repos {
		if other.Name.Equal(name) {
			t.bad("name", "%s is configured twice; the other is on line %d", name.FullName(), p.line("repo["+strconv.Itoa(i)+"].name"))
		}
	}
	return name
}

// LoginProblem says why a text is no login, and no login with its account's id; empty: it is one.
func LoginProblem(text string) string {
	if name, id, given := strings.Cut(text, ":"); !login().MatchString(name) || given && !accountID().MatchString(id) {
		return fmt.Sprintf("%q is no GitHub login, nor one with its account's id as in \"octocat:583231\"", text)
	}
	return ""
}

// login matches GitHub's account names, with the suffix of apps and the underscore of managed
// users.
var login = lazy.Regexp(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?$`)

// accountID matches GitHub's number of an account.
var accountID = lazy.Regexp(`^[1-9][0-9]{0,17}$`)

func (p *parser) checkRemote(t *Table, remote string) {
	u, err := url.Parse(remote)
	switch {
	case remote == "":
	case strings.HasPrefix(remote, "-") || strings.ContainsFunc(remote, unicode.IsControl):
		t.bad("remote_url", "%q is no address", remote)
	case strings.Contains(remote, "::"):
		t.bad("remote_url", "%q names a program as transport, which is not allowed", remote)
	case filepath.IsAbs(remote):
	case err == nil && slices.Contains([]string{"https", "http", "ssh", "git", "file"}, u.Scheme):
		if _, has := u.User.Password(); has || (u.User != nil && u.Scheme != "ssh") {
			t.bad("remote_url", "holds a user name or password; remove it, gh's login is used")
		}
	case scpForm().MatchString(remote):
	default:
		t.bad("remote_url", "%q is neither an address (https://…, ssh://…, git@host:owner/name.git) nor an absolute path", remote)
	}
}

var scpForm = lazy.Regexp(`^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:]+$`)

// Problems returns the problems of an InvalidError; false for any other error.
func Problems(err error) ([]Problem, bool) {
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok {
		return nil, false
	}
	return invalid.Problems, true
}

// MissingError means that there is no config.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf(`no config at %s; to begin with one: gh mergexo init (without one there is "gh mergexo demo")`, e.Path)
}

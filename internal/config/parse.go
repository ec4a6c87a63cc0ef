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
	schedule := p.sub("schedule", "[schedule]")
	agents := p.sub("agents", "[agents]")
	repos := p.all("repo", "[[repo]]")
	notify := p.all("notify", "[[notify]]")
	p.done()

	p.runtime(run)
	p.schedule(schedule)
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
	const mostTurns, mostUSD, mostTokens = 100_000, 100_000, 1_000_000_000
	b := &r.Budgets
	return []key{
		countKey("workers", &r.Workers, 2, 1, 64),
		textKey("agent", &r.Agent, ""),
		durationKey("turn_timeout", &r.TurnTimeout, 30*time.Minute, time.Second),
		durationKey("idle_timeout", &r.IdleTimeout, 10*time.Minute, time.Second),
		durationKey("retry_base", &r.RetryBase, time.Minute, 0),
		durationKey("quiet_period", &r.QuietPeriod, time.Minute, 0),
		durationKey("min_interval", &r.MinInterval, 10*time.Second, 0),
		durationKey("ingest_timeout", &r.IngestTimeout, 15*time.Second, time.Second),
		durationKey("settle_after", &r.SettleAfter, time.Minute, 0),
		durationKey("remind_after", &r.RemindAfter, 24*time.Hour, 0),
		countKey("max_turns_per_pass", &r.MaxTurnsPerPass, 20, 1, 1000),
		countKey("max_events_per_turn", &r.MaxEventsPerTurn, 50, 1, 200),

		// The default limits exceed what honest work needs, but stay below what an operator would
		// mind overnight.
		countKey("max_turns_per_item", &b.TurnsPerItem, 30, 0, mostTurns),
		countKey("max_feedback_rounds", &b.FeedbackRounds, 20, 0, mostTurns),
		numberKey("max_cost_per_item_usd", &b.CostPerItem, 25, 0, mostUSD),
		numberKey("max_cost_per_turn_usd", &b.CostPerTurn, 20, 0, mostUSD),
		countKey("max_tokens_per_turn", &b.TokensPerTurn, 100_000_000, 0, mostTokens),
		countKey("max_turns_per_day", &b.TurnsPerDay, 200, 0, mostTurns),
		numberKey("max_cost_per_day_usd", &b.CostPerDay, 100, 0, mostUSD),
		sizeKey("max_memory", &r.MaxMemory, 8<<30, 64<<20), // codex alone needs this much
		countKey("max_processes", &r.MaxProcesses, 2000, 0, 1_000_000),
		sizeKey("max_disk", &r.MaxDisk, 10<<30, 16<<20),
		sizeKey("log_max_size", &r.LogMaxSize, 1<<30, 1<<20),

		flagKey("enable_feedback_loop", &r.EnableFeedbackLoop, true),
		flagKey("enable_issue_comment_routing", &r.EnableIssueCommentRouting, true),
		flagKey("overlap", &r.Overlap, true),
		ownKey("state_dir", func(t *Table) { r.StateDir = p.stateDir(t) }, func() any { return r.StateDir }),
		ownKey("database", func(t *Table) { r.Database = p.database(t) }, func() any { return r.Database }),
		ownKey("database_env", func(t *Table) { p.databaseEnv(t, r) }, func() any { return r.DatabaseEnv }),
		ownKey("machine", func(t *Table) { r.Machine = p.machine(t) }, func() any { return r.Machine }),
		ownKey("prompts_dir", func(t *Table) { r.PromptsDir = p.promptsDir(t) }, func() any { return printedPrompts(r.PromptsDir) }),
		ownKey("sandbox", func(t *Table) { r.Sandbox = p.sandbox(t, work.SandboxAuto) }, func() any { return string(r.Sandbox) }),
		ownKey("accounts", func(t *Table) { r.Accounts = accounts(t) }, func() any { return orEmpty(r.Accounts) }),
		ownKey("readable", func(t *Table) { r.Readable = p.letIn(t, "readable") }, func() any { return orEmpty(r.Readable) }), // once the state folder is known
		ownKey("metrics_file", func(t *Table) { r.MetricsFile = p.metricsFile(t) }, func() any { return r.MetricsFile }),
	}
}

func (p *parser) runtime(t *Table) {
	readKeys(t, p.runtimeKeys(&p.config.Runtime))
	t.done()
}

func accounts(t *Table) []int64 {
	ids := listOf[int64](t, "accounts", "a GitHub account's number")
	if slices.ContainsFunc(ids, func(id int64) bool { return id <= 0 }) {
		t.bad("accounts", "an account's number is greater than 0; gh api users/LOGIN --jq .id shows it")
	}
	return ids
}

// mostDaysPassed bounds the weights of a schedule: for how many days newer work may overtake older
// work.
const mostDaysPassed = 365

// scheduleKeys are the weights that order implementations.
func scheduleKeys(w *work.ScoreWeights) []key {
	return []key{
		numberKey("priority_weight", &w.Priority, 1, 0, 1000),
		numberKey("conflict_weight", &w.Conflict, 5, 0, 1000),
		numberKey("staleness_penalty", &w.Staleness, -0.5, -1000, 1000),
	}
}

func (p *parser) schedule(t *Table) {
	readKeys(t, scheduleKeys(&p.config.Schedule))
	w := p.config.Schedule
	switch days := w.LongestPassed().Hours() / 24; {
	case w.Staleness >= 0:
		t.bad("staleness_penalty", "want less than 0: an implementation that waits must come to its turn")
	case days > mostDaysPassed:
		t.bad("staleness_penalty", "with these weights others could be begun before an implementation for %.0f days; want at most %d: a penalty further below 0, or smaller weights",
			days, mostDaysPassed)
	}
	t.done()
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
		ownKey("name", func(t *Table) { *written = t.text("name", "") }, func() any { return r.Name.String() }),
		ownKey("remote_url", func(t *Table) { r.RemoteURL = environ.ExpandHome(t.text("remote_url", ""), p.env.Home) }, func() any { return r.RemoteURL }),
		textKey("account", &r.Account, ""),
		textsKey("allowed_users", &r.AllowedUsers),
		flagKey("keep_ignored", &r.KeepIgnored, false),
		countKey("max_files", &r.MaxFiles, 1000, 1, 100_000),
		countKey("max_file_bytes", &r.MaxFileBytes, 10<<20, 1, githubMaxFileBytes),
		textsKeyOr("protected_paths", &r.ProtectedPaths, defaultProtectedPaths()),
		textKey("checks", &r.Checks, work.ChecksComplete),
		textsKey("required_tests", &r.RequiredTests),
		durationKey("test_timeout", &r.TestTimeout, 15*time.Minute, time.Second),
		textsKey("setup", &r.Setup),
		durationKey("setup_timeout", &r.SetupTimeout, 15*time.Minute, time.Second),
		ownKey("test_file_regex", func(t *Table) { r.TestFiles = testFiles(t) }, func() any { return patternOf(r.TestFiles) }),
	}
}

func (p *parser) repo(t *Table) {
	var r Repo
	var written string
	readKeys(t, p.repoKeys(&r, &written))
	r.Labels = p.labels(t.sub("labels", "[repo.labels]"))
	r.Agents = p.repoAgents(t.sub("agents", "[repo.agents]"))
	r.Voice = p.voice(t.sub("voice", "[repo.voice]"))
	r.Review = p.review(t.sub("review", "[repo.review]"))
	r.Roadmap = p.roadmap(t.sub("roadmap", "[repo.roadmap]"))
	r.Reviewers = p.reviewers(t.all("reviewers", "[[repo.reviewers]]"))
	p.checkTests(t, r)
	if t.has("protected_paths") {
		checkGlobs(t, "protected_paths", r.ProtectedPaths)
	}
	t.later("sandbox")
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

// AgentKinds returns the kinds of turn for which a repository can name an agent.
func AgentKinds() []work.Kind {
	return []work.Kind{
		work.KindDesignStart, work.KindDesignFeedback, work.KindImplementationStart,
		work.KindImplementationFeedback, work.KindBugfixStart, work.KindSmallJobStart, work.KindRoadmapStart, work.KindFix, work.KindReview,
	}
}

func (p *parser) repoAgents(t *Table) map[work.Kind]string {
	out := map[work.Kind]string{}
	for _, kind := range AgentKinds() {
		if name := t.text(string(kind), ""); name != "" {
			out[kind] = name
			p.checkAgentName(t.at(string(kind)), string(kind)+" in [repo.agents]", name)
		}
	}
	p.flowNames(t)
	t.done()
	return out
}

// flowNames rejects flows where kinds of turn are expected: one agent may start a flow and another
// one answer comments on it.
func (p *parser) flowNames(t *Table) {
	for _, f := range work.Flows() {
		for _, key := range []string{string(f), strings.ReplaceAll(string(f), "_", "-")} {
			if t.has(key) && !t.knows(key) {
				t.bad(key, "a flow, and agents are named for kinds of turn; write %s, and %s for its pull request's comments", f.StartKind(), f.FeedbackKind())
				t.Get(key)
			}
		}
	}
}

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

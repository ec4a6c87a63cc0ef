package config

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/score"
)

// Parse reads a config from its text. path is what errors name.
func Parse(path string, data []byte, env environ.Env, defaultHost string) (*Config, error) {
	doc := strings.TrimPrefix(string(data), "\uFEFF")
	whole, err := document.Open(path, doc)
	if err != nil {
		return nil, err
	}
	p := parser{
		Table:  whole,
		env:    env,
		host:   defaultHost,
		config: &Config{Path: path, Agents: map[string]Agent{}},
	}
	p.parse()
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.config, nil
}

type parser struct {
	*document.Table

	env    environ.Env
	host   string
	config *Config

	written []string // the agents that have a table
}

func (p *parser) parse() {
	run := p.Sub("runtime", "[runtime]")
	schedule := p.Sub("schedule", "[schedule]")
	agents := p.Sub("agents", "[agents]")
	repos := p.All("repo", "[[repo]]")
	notify := p.All("notify", "[[notify]]")
	p.Done()

	p.runtime(run)
	p.schedule(schedule)
	for _, name := range agents.Keys() {
		p.agent(agents.Sub(name, "[agents."+name+"]"), name)
	}
	p.knownAgents()
	p.defaultAgent()
	for _, r := range repos {
		p.repo(r)
	}
	for _, n := range notify {
		p.notify(n)
	}
	if !p.Has("repo") {
		p.Lacks("", "repo", `no [[repo]]: name at least one repository, such as name = "owner/name" under [[repo]]; gh mergexo init adds the one whose clone you are in`)
	}
}

func (p *parser) runtime(t *document.Table) {
	r := &p.config.Runtime
	*r = Runtime{
		Workers:                   t.Count("workers", 2, 1, 64),
		Agent:                     t.Text("agent", ""),
		TurnTimeout:               t.Duration("turn_timeout", 30*time.Minute, time.Second),
		IdleTimeout:               t.Duration("idle_timeout", 10*time.Minute, time.Second),
		RetryBase:                 t.Duration("retry_base", time.Minute, 0),
		QuietPeriod:               t.Duration("quiet_period", time.Minute, 0),
		MinInterval:               t.Duration("min_interval", 10*time.Second, 0),
		IngestTimeout:             t.Duration("ingest_timeout", 15*time.Second, time.Second),
		SettleAfter:               t.Duration("settle_after", time.Minute, 0),
		MaxTurnsPerPass:           t.Count("max_turns_per_pass", 20, 1, 1000),
		MaxEventsPerTurn:          t.Count("max_events_per_turn", 50, 1, 200),
		Budgets:                   budgets(t),
		MaxMemory:                 t.Size("max_memory", defaultMaxMemory, leastMemory),
		MaxDisk:                   t.Size("max_disk", defaultMaxDisk, leastDisk),
		EnableFeedbackLoop:        t.Flag("enable_feedback_loop", true),
		EnableIssueCommentRouting: t.Flag("enable_issue_comment_routing", true),
		Overlap:                   t.Flag("overlap", true),
		StateDir:                  p.stateDir(t),
		PromptsDir:                p.promptsDir(t),
		Sandbox:                   p.sandbox(t, work.SandboxAuto),
		Accounts:                  document.List[int64](t, "accounts", "a GitHub account's number"),
	}
	r.Readable = p.letIn(t, "readable") // once the state folder is known
	r.MetricsFile = p.metricsFile(t)
	if slices.ContainsFunc(r.Accounts, func(id int64) bool { return id <= 0 }) {
		t.Bad("accounts", "an account's number is greater than 0; gh api users/LOGIN --jq .id shows it")
	}
	t.Later("database")
	t.Done()
}

// schedule reads the weights in the order of implementations.
func (p *parser) schedule(t *document.Table) {
	p.config.Schedule = score.Weights{
		Priority:  t.Number("priority_weight", 1, 0, 1000),
		Conflict:  t.Number("conflict_weight", 5, 0, 1000),
		Staleness: t.Number("staleness_penalty", -0.5, -1000, 1000),
	}
	w := p.config.Schedule
	switch days := w.LongestPassed().Hours() / 24; {
	case w.Staleness >= 0:
		t.Bad("staleness_penalty", "want less than 0: an implementation that waits must come to its turn")
	case days > mostDaysPassed:
		t.Bad("staleness_penalty", "with these weights others could be begun before an implementation for %.0f days; want at most %d: a penalty further below 0, or smaller weights",
			days, mostDaysPassed)
	}
	t.Done()
}

func (p *parser) stateDir(t *document.Table) string {
	dir := t.Text("state_dir", "")
	switch {
	case dir == "" && p.env.DataDir == "":
		t.Add(t.At("state_dir"), "no folder for the state is known: HOME is not set; set state_dir in [runtime] to an absolute path")
	case dir == "":
		return p.env.DataDir
	case strings.HasPrefix(dir, "~/") && p.env.Home == "":
		t.Bad("state_dir", "HOME is not set; write an absolute path instead of %q", dir)
	}
	dir = environ.ExpandHome(dir, p.env.Home)
	if dir != "" && !strings.HasPrefix(dir, "~/") && !filepath.IsAbs(dir) {
		t.Bad("state_dir", "want an absolute path or one that begins with ~/, got %q", dir)
	}
	return dir
}

func (p *parser) repo(t *document.Table) {
	written := t.Text("name", "")
	r := Repo{
		RemoteURL:    environ.ExpandHome(t.Text("remote_url", ""), p.env.Home),
		AllowedUsers: t.Texts("allowed_users"),
		KeepIgnored:  t.Flag("keep_ignored", false),
		Labels:       p.labels(t.Sub("labels", "[repo.labels]")),
		Agents:       p.repoAgents(t.Sub("agents", "[repo.agents]")),
		Voice:        p.voice(t.Sub("voice", "[repo.voice]")),
		Review:       p.review(t.Sub("review", "[repo.review]")),
		Reviewers:    p.reviewers(t.All("reviewers", "[[repo.reviewers]]")),
	}
	p.tests(t, &r)
	p.limits(t, &r)
	t.Later("sandbox")
	t.Done()

	r.Name = p.repoName(t, written)
	p.checkRemote(t, r.RemoteURL)
	for _, u := range r.AllowedUsers {
		if name, id, given := strings.Cut(u, ":"); !login().MatchString(name) || given && !accountID().MatchString(id) {
			t.Bad("allowed_users", "%q is no GitHub login, nor one with its account's id as in \"octocat:583231\"", u)
		}
	}
	p.config.Repos = append(p.config.Repos, r)
}

func (p *parser) repoName(t *document.Table, written string) work.RepoName {
	if written == "" {
		if !t.Has("name") {
			t.Missing("name", `missing; write name = "owner/name"`)
			return work.RepoName{}
		}
	}
	name, err := work.ParseRepoName(written, p.host)
	if err != nil {
		t.Bad("name", "%q is no repository; want owner/name or host/owner/name", written)
		return work.RepoName{}
	}
	if strings.HasSuffix(name.Name, ".git") {
		t.Bad("name", "%q ends in .git, as addresses do; write %q", written, strings.TrimSuffix(written, ".git"))
	}
	for i, other := range p.config.Repos {
		if other.Name.Equal(name) {
			t.Bad("name", "%s is configured twice; the other is on line %d", name.FullName(), p.Line("repo["+strconv.Itoa(i)+"].name"))
		}
	}
	return name
}

// login is what GitHub lets accounts be called, with the suffix of apps and
// the underscore of managed users.
var login = lazy.Regexp(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?$`)

// accountID is GitHub's number of an account.
var accountID = lazy.Regexp(`^[1-9][0-9]{0,17}$`)

func (p *parser) checkRemote(t *document.Table, remote string) {
	u, err := url.Parse(remote)
	switch {
	case remote == "":
	case strings.HasPrefix(remote, "-") || strings.ContainsFunc(remote, unicode.IsControl):
		t.Bad("remote_url", "%q is no address", remote)
	case strings.Contains(remote, "::"):
		t.Bad("remote_url", "%q names a program as transport, which is not allowed", remote)
	case filepath.IsAbs(remote):
	case err == nil && slices.Contains([]string{"https", "http", "ssh", "git", "file"}, u.Scheme):
		if _, has := u.User.Password(); has || (u.User != nil && u.Scheme != "ssh") {
			t.Bad("remote_url", "holds a user name or password; remove it, gh's login is used")
		}
	case scpForm().MatchString(remote):
	default:
		t.Bad("remote_url", "%q is neither an address (https://…, ssh://…, git@host:owner/name.git) nor an absolute path", remote)
	}
}

var scpForm = lazy.Regexp(`^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:]+$`)

// AgentKinds are the kinds of turn for which a repository can name an agent.
func AgentKinds() []work.Kind {
	return []work.Kind{
		work.KindDesignStart, work.KindDesignFeedback, work.KindImplementationStart,
		work.KindImplementationFeedback, work.KindBugfixStart, work.KindSmallJobStart, work.KindFix, work.KindReview,
	}
}

func (p *parser) repoAgents(t *document.Table) map[work.Kind]string {
	out := map[work.Kind]string{}
	for _, kind := range AgentKinds() {
		if name := t.Text(string(kind), ""); name != "" {
			out[kind] = name
			p.checkAgentName(t.At(string(kind)), string(kind)+" in [repo.agents]", name)
		}
	}
	p.flowNames(t)
	t.Done()
	return out
}

// flowNames refuses flows where kinds of turn are wanted: an agent may begin a flow
// and another answer people on it.
func (p *parser) flowNames(t *document.Table) {
	for _, f := range work.Flows() {
		for _, key := range []string{string(f), strings.ReplaceAll(string(f), "_", "-")} {
			if t.Has(key) && !t.Knows(key) {
				t.Bad(key, "a flow, and agents are named for kinds of turn; write %s, and %s for its pull request's comments", f.StartKind(), f.FeedbackKind())
				t.Get(key)
			}
		}
	}
}

package config

import (
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/score"
)

// Parse reads a config from its text. path is what errors name.
func Parse(path string, data []byte, env Env, defaultHost string) (*Config, error) {
	doc := strings.TrimPrefix(string(data), "\uFEFF")
	var values map[string]any
	if _, err := toml.Decode(doc, &values); err != nil {
		return nil, syntaxError(path, err)
	}
	p := parser{
		table:  table{report: &report{file: path, lines: indexLines(doc)}, values: values},
		env:    env,
		host:   defaultHost,
		config: &Config{Path: path, Agents: map[string]Agent{}},
	}
	p.parse()
	if len(p.problems) > 0 {
		return nil, &InvalidError{Problems: p.ordered()}
	}
	return p.config, nil
}

func syntaxError(path string, err error) error {
	p := Problem{File: path, Text: err.Error()}
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		p.Line, p.Text = pe.Position.Line, pe.Message
		if p.Text == "" {
			p.Text = strings.TrimPrefix(pe.Error(), "toml: ")
		}
	}
	p.Text = strings.Join(strings.Fields(p.Text), " ")
	return &InvalidError{Problems: []Problem{p}}
}

type parser struct {
	table

	env    Env
	host   string
	config *Config

	written []string // the agents that have a table
}

func (p *parser) parse() {
	run := p.sub("runtime", "[runtime]")
	schedule := p.sub("schedule", "[schedule]")
	agents := p.sub("agents", "[agents]")
	repos := p.all("repo")
	p.done()

	p.runtime(run)
	p.schedule(schedule)
	for _, name := range slices.Sorted(maps.Keys(agents.values)) {
		p.agent(agents.sub(name, "[agents."+name+"]"), name)
	}
	p.knownAgents()
	p.defaultAgent()
	for _, r := range repos {
		p.repo(r)
	}
	if _, ok := p.values["repo"]; !ok {
		p.add("", `no [[repo]]: name at least one repository, such as name = "owner/name" under [[repo]]`)
		p.problems[len(p.problems)-1].absent = "repo"
	}
}

func (p *parser) runtime(t *table) {
	r := &p.config.Runtime
	*r = Runtime{
		Workers:                   t.count("workers", 2, 1, 64),
		Agent:                     t.text("agent", ""),
		TurnTimeout:               t.duration("turn_timeout", 30*time.Minute, time.Second),
		IdleTimeout:               t.duration("idle_timeout", 10*time.Minute, time.Second),
		RetryBase:                 t.duration("retry_base", time.Minute, 0),
		QuietPeriod:               t.duration("quiet_period", time.Minute, 0),
		MinInterval:               t.duration("min_interval", 10*time.Second, 0),
		IngestTimeout:             t.duration("ingest_timeout", 15*time.Second, time.Second),
		SettleAfter:               t.duration("settle_after", time.Minute, 0),
		MaxTurnsPerPass:           t.count("max_turns_per_pass", 20, 1, 1000),
		MaxEventsPerTurn:          t.count("max_events_per_turn", 50, 1, 200),
		Budgets:                   budgets(t),
		MaxMemory:                 t.size("max_memory", defaultMaxMemory, leastMemory),
		MaxDisk:                   t.size("max_disk", defaultMaxDisk, leastDisk),
		EnableFeedbackLoop:        t.flag("enable_feedback_loop", true),
		EnableIssueCommentRouting: t.flag("enable_issue_comment_routing", true),
		Overlap:                   t.flag("overlap", true),
		StateDir:                  p.stateDir(t),
		PromptsDir:                p.promptsDir(t),
		Sandbox:                   p.sandbox(t, work.SandboxAuto),
		Accounts:                  list[int64](t, "accounts", "a GitHub account's number"),
	}
	r.Readable = p.letIn(t, "readable") // once the state folder is known
	if slices.ContainsFunc(r.Accounts, func(id int64) bool { return id <= 0 }) {
		t.bad("accounts", "an account's number is greater than 0; gh api users/LOGIN --jq .id shows it")
	}
	t.later("database")
	t.done()
}

// schedule reads the weights in the order of implementations.
func (p *parser) schedule(t *table) {
	p.config.Schedule = score.Weights{
		Priority:  t.number("priority_weight", 1, 0, 1000),
		Conflict:  t.number("conflict_weight", 5, 0, 1000),
		Staleness: t.number("staleness_penalty", -0.5, -1000, 1000),
	}
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

func (p *parser) stateDir(t *table) string {
	dir := t.text("state_dir", "")
	switch {
	case dir == "" && p.env.DataDir == "":
		t.add(t.at("state_dir"), "no folder for the state is known: HOME is not set; set state_dir in [runtime] to an absolute path")
	case dir == "":
		return p.env.DataDir
	case strings.HasPrefix(dir, "~/") && p.env.Home == "":
		t.bad("state_dir", "HOME is not set; write an absolute path instead of %q", dir)
	}
	dir = expandHome(dir, p.env.Home)
	if dir != "" && !strings.HasPrefix(dir, "~/") && !filepath.IsAbs(dir) {
		t.bad("state_dir", "want an absolute path or one that begins with ~/, got %q", dir)
	}
	return dir
}

func (p *parser) repo(t *table) {
	written := t.text("name", "")
	r := Repo{
		RemoteURL:    expandHome(t.text("remote_url", ""), p.env.Home),
		AllowedUsers: t.texts("allowed_users"),
		KeepIgnored:  t.flag("keep_ignored", false),
		Labels:       p.labels(t.sub("labels", "[repo.labels]")),
		Agents:       p.repoAgents(t.sub("agents", "[repo.agents]")),
		Voice:        p.voice(t.sub("voice", "[repo.voice]")),
	}
	p.review(t.sub("review", "[repo.review]"))
	p.tests(t, &r)
	p.limits(t, &r)
	t.later("sandbox")
	t.done()

	r.Name = p.repoName(t, written)
	p.checkRemote(t, r.RemoteURL)
	for _, u := range r.AllowedUsers {
		if name, id, given := strings.Cut(u, ":"); !login().MatchString(name) || given && !accountID().MatchString(id) {
			t.bad("allowed_users", "%q is no GitHub login, nor one with its account's id as in \"octocat:583231\"", u)
		}
	}
	p.config.Repos = append(p.config.Repos, r)
}

func (p *parser) repoName(t *table, written string) work.RepoName {
	if written == "" {
		if _, ok := t.values["name"]; !ok {
			t.missing("name", `missing; write name = "owner/name"`)
			return work.RepoName{}
		}
	}
	name, err := work.ParseRepoName(written, p.host)
	if err != nil {
		t.bad("name", "%q is no repository; want owner/name or host/owner/name", written)
		return work.RepoName{}
	}
	for i, other := range p.config.Repos {
		if other.Name.Equal(name) {
			t.bad("name", "%s is configured twice; the other is on line %d", name.FullName(), p.lines.find(join("repo["+strconv.Itoa(i)+"]", "name")))
		}
	}
	return name
}

// login is what GitHub lets accounts be called, with the suffix of apps and
// the underscore of managed users.
var login = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?$`)
})

// accountID is GitHub's number of an account.
var accountID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,17}$`) })

func (p *parser) checkRemote(t *table, remote string) {
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
	case scpForm.MatchString(remote):
	default:
		t.bad("remote_url", "%q is neither an address (https://…, ssh://…, git@host:owner/name.git) nor an absolute path", remote)
	}
}

var scpForm = regexp.MustCompile(`^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:]+$`)

func (p *parser) repoAgents(t *table) map[work.Kind]string {
	out := map[work.Kind]string{}
	for _, kind := range []work.Kind{
		work.KindDesignStart, work.KindDesignFeedback, work.KindImplementationStart,
		work.KindImplementationFeedback, work.KindBugfixStart, work.KindSmallJobStart, work.KindFix,
	} {
		if name := t.text(string(kind), ""); name != "" {
			out[kind] = name
			p.checkAgentName(t.at(string(kind)), string(kind)+" in [repo.agents]", name)
		}
	}
	t.later(string(work.KindReview))
	p.flowNames(t)
	t.done()
	return out
}

// flowNames refuses flows where kinds of turn are wanted: an agent may begin a flow
// and another answer people on it.
func (p *parser) flowNames(t *table) {
	for _, f := range work.Flows() {
		for _, key := range []string{string(f), strings.ReplaceAll(string(f), "_", "-")} {
			if _, written := t.values[key]; written && !slices.Contains(t.known, key) {
				t.bad(key, "a flow, and agents are named for kinds of turn; write %s, and %s for its pull request's comments", f.StartKind(), f.FeedbackKind())
				t.known = append(t.known, key)
			}
		}
	}
}

// review accepts the documented table as long as it asks for nothing.
func (p *parser) review(t *table) {
	for _, key := range []string{"enabled", "auto_merge", "require_human_approval"} {
		if t.flag(key, false) {
			t.bad(key, "not supported yet; remove the line")
		}
	}
	if t.count("max_fix_cycles", 2, 0, 100) != 2 {
		t.bad("max_fix_cycles", "not supported yet; remove the line")
	}
	t.later("reviewers", "escalate")
	t.done()
}

package doctor

import "slices"

// Code names the subject of a check. Programs read it, so it never changes.
type Code string

// ScheduledAgents is the check whose remedy status shows, too.
const ScheduledAgents Code = "scheduled_agents"

// Group is the part of the set-up that a check belongs to.
type Group string

// The groups.
const (
	forConfig     Group = "config"
	forGitHub     Group = "github"
	forRepository Group = "repositories"
	forAgents     Group = "agents"
	forSandbox    Group = "sandbox"
	forMachine    Group = "machine"
	forSchedule   Group = "schedule"
)

// groups are the groups with their headings, in the order of the output.
var groups = []struct {
	group Group
	title string
}{
	{forConfig, "Config"},
	{forGitHub, "GitHub"},
	{forRepository, "Repositories"},
	{forAgents, "Agents"},
	{forSandbox, "Sandbox"},
	{forMachine, "This machine"},
	{forSchedule, "Schedule"},
}

func (g Group) place() int {
	for i, known := range groups {
		if known.group == g {
			return i
		}
	}
	return len(groups)
}

// Title is a group's heading.
func (g Group) Title() string { return groups[g.place()].title }

// Place is where checks are made.
type Place int

// The places.
const (
	AtDoctor        Place = 1 << iota // every check: doctor, and the end of init
	AtInit                            // init, before it writes
	AtSchedule                        // schedule
	AtStatus                          // status
	BeforeFirstPass                   // status while no pass has run
	BeforeTurn                        // a pass, before it needs git
	BeforeAccount                     // a pass, before a reviewer speaks as another account than gh's own
)

// usual are the places of most checks.
const usual = AtDoctor | BeforeFirstPass

// Row is a check: what is asked about the facts, and where.
type Row struct {
	Code  Code
	Group Group
	Looks string // what it looks at, for the docs
	at    Place
	ask   func(Facts) []Check // level, words and next step; none: there is nothing to say
}

// Table returns all checks.
func Table() []Row { return slices.Clone(table) }

var table = []Row{
	{"config", forConfig, "whether the config is there and valid", usual, config},
	{"setting", forConfig, "settings without effect, or with a name that does not exist", usual | AtStatus, settings},

	{"gh", forGitHub, "whether gh is there, and new enough for accounts of reviewers", usual | AtSchedule | BeforeAccount, gh},
	{"network", forGitHub, "whether the host answers", usual, hosts(network)},
	{"login", forGitHub, "the account that gh is logged in with, and whether GitHub and passes accept it", usual, hosts(login)},
	{"token", forGitHub, "the kind of token, and when it expires", usual, token},
	{"scopes", forGitHub, "whether a classic or OAuth token has the scopes that the config needs", usual, hosts(scopes)},
	{"rate_limit", forGitHub, "whether GitHub takes requests now", usual, hosts(rateLimit)},

	{"repository", forRepository, "whether it exists, is visible, and has the name in the config", usual, repos(repository)},
	{"archived", forRepository, "whether it is archived or disabled", usual | AtInit, readable(archived)},
	{"write", forRepository, "whether the account may push", usual | AtInit, readable(write)},
	{"remote", forRepository, "whether git reaches it, asked as a pass asks", AtDoctor, repos(remote)},
	{"reads", forRepository, "whether the token may read files, issues, pull requests, checks and statuses", usual, readable(reads)},
	{"answers", forRepository, "whether GitHub answers the queries that passes send; they are sent about the first repository of a host", AtDoctor, readable(answers)},
	{"labels", forRepository, "whether the labels in the config exist", usual, readable(labels)},
	{"rules", forRepository, "what the rules of the default branch require for a merge", usual, ruled(rules)},
	{"approvals", forRepository, "whether the required approvers can approve, if `auto_merge` is on", usual, ruled(approvals)},
	{"last_push", forRepository, "whether anyone but the last pusher can approve", usual, ruled(lastPush)},
	{"merge_method", forRepository, "whether the rules allow a method of merging", usual, ruled(mergeMethod)},
	{"merge_queue", forRepository, "whether merges go through a queue", usual, ruled(mergeQueue)},
	{"sign_off", forRepository, "whether commits have to be signed off", usual, ruled(signOff)},
	{"other_rules", forRepository, "rules that only GitHub checks", usual, ruled(otherRules)},
	{"work_branches", forRepository, "rules that block the branches that gh mergexo pushes", usual, ruled(workBranches)},
	{"reading", forRepository, "what the last pass could not read", usual, repos(reading)},
	{"commands", forRepository, "whether the programs of `required_tests` and `setup` are installed", usual, commands},
	{"other_installations", forRepository, "other installations of gh mergexo that were seen there", usual, repos(otherInstallations)},

	{"agent", forAgents, "whether its program is installed", AtDoctor | AtInit | AtStatus, agents(program)},
	{"agent_version", forAgents, "whether its version is new enough, and no newer than the tested ones", AtDoctor | AtStatus, installed(version)},
	{"agent_login", forAgents, "whether it is logged in, without sending a request", usual, installed(agentLogin)},
	{"agent_home", forAgents, "whether it can write the folders with its login and sessions", usual, installed(agentHome)},
	{"agent_cost", forAgents, "whether its cost is known, if a budget limits the cost", AtDoctor, agentCost},

	{"sandbox", forSandbox, "the sandbox of an agent, and what the agent can reach in it", AtDoctor | AtStatus, agents(sandbox)},
	{"agent_start", forSandbox, "whether its program starts and can work in its sandbox, without a request to its provider", usual, installed(agentStart)},

	{"git", forMachine, "whether git is there and new enough", usual | BeforeTurn, git},
	{"home", forMachine, "whether the home folder can be written, which turns in a sandbox do not need", usual, home},
	{"state", forMachine, "whether the state folder is safe and can be written", usual | BeforeTurn, state},
	{"database", forMachine, "whether the database is whole and can be written; of a PostgreSQL server also its version, the encryption, and what its user may do", usual, database},
	{"database_connections", forMachine, "how many more connections the PostgreSQL server accepts", usual, server(connections)},
	{"database_access", forMachine, "whether every role of the PostgreSQL server may connect to the database", usual, server(databaseAccess)},
	{"database_durability", forMachine, "whether the settings of the PostgreSQL server keep committed rows through a crash", usual, server(durability)},
	{"database_clock", forMachine, "the difference between the clocks of this machine and the PostgreSQL server", usual, server(databaseClock)},
	{"machine_name", forMachine, "whether another machine that shares the database has the same name", usual, machineName},
	{"metrics_file", forMachine, "whether the folder of `metrics_file` is there and can be written", usual, metricsFile},
	{"disk", forMachine, "how much room and how many inodes there are for the state", usual | BeforeTurn, disk},
	{"clock", forMachine, "the difference between the clocks of this machine and GitHub", usual, clock},

	{"schedule", forSchedule, "whether a scheduler repeats passes: as `schedule install` wrote it, or somebody by hand", usual | AtSchedule, schedule},
	{"cron_daemon", forSchedule, "whether a cron daemon runs, if the crontab repeats passes", usual | AtSchedule, cronDaemon},
	{ScheduledAgents, forSchedule, "whether scheduled passes find the programs that this shell finds, and the logins of agents", usual | AtSchedule | AtStatus, lacks},
	{"paused", forSchedule, "whether everything on this machine is paused", usual, paused},
	{"last_pass", forSchedule, "whether passes failed, were killed, hang or are overdue", usual, lastPass},
	{"budgets", forSchedule, "the budgets, and what was spent in the last 24 hours", usual, budgets},
	{"notify", forSchedule, "[[notify]] targets that did not accept the last messages", usual, notify},
}

// each asks about the hosts, repositories or agents that a condition holds for.
func each[T interface{ about() string }](all []T, holds func(T) bool, ask func(T) []Check) []Check {
	var found []Check
	for i, one := range all {
		if !holds(one) {
			continue
		}
		for _, c := range ask(one) {
			c.About, c.subject = one.about(), i+1
			found = append(found, c)
		}
	}
	return found
}

func always[T any](T) bool { return true }

func hosts(ask func(Host) []Check) func(Facts) []Check {
	return func(f Facts) []Check { return each(f.Hosts, always, ask) }
}

func repos(ask func(Repo) []Check) func(Facts) []Check {
	return func(f Facts) []Check { return each(f.Repos, always, ask) }
}

// readable asks about the repositories that GitHub was asked about, and answered.
func readable(ask func(Repo) []Check) func(Facts) []Check {
	return func(f Facts) []Check {
		return each(f.Repos, func(r Repo) bool { return r.Unasked == "" && r.Trouble == nil }, ask)
	}
}

// ruled limits checks to the repositories whose rules could be read.
func ruled(ask func(Repo) []Check) func(Facts) []Check {
	return readable(func(r Repo) []Check {
		if r.Rules == nil {
			return nil
		}
		return ask(r)
	})
}

func agents(ask func(Agent) []Check) func(Facts) []Check {
	return func(f Facts) []Check { return each(f.Agents, always, ask) }
}

// installed asks about the agents whose program is there.
func installed(ask func(Agent) []Check) func(Facts) []Check {
	return func(f Facts) []Check { return each(f.Agents, func(g Agent) bool { return g.Missing == "" }, ask) }
}

func (h Host) about() string    { return h.Name }
func (r Repo) about() string    { return r.Name }
func (g Agent) about() string   { return g.Name }
func (c Command) about() string { return c.Repo }

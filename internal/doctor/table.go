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

// Row is a check: what it looks at, and what it asks about the facts.
type Row struct {
	Code  Code
	Group Group
	Looks string // for the docs
	asks  []question
}

// question is asked about the facts in some places. It returns level, words and next step; none: there is nothing
// to say.
type question struct {
	at  Place
	ask func(Facts) []Check
}

// Table returns all checks.
func Table() []Row { return slices.Clone(table) }

// What status says is not said again.
var table = []Row{
	{"config", forConfig, "whether the config is there and valid; settings without effect, or with a name that does not exist", []question{
		{usual, config}, {usual | AtStatus, settings},
	}},

	{"gh", forGitHub, "whether gh is there, and new enough for accounts of reviewers", []question{{usual | AtSchedule | BeforeAccount, gh}}},
	{"login", forGitHub, "whether the host answers and takes requests now; the account that gh is logged in with, and whether GitHub and passes accept it", []question{
		{usual, hosts(network)}, {usual, hosts(login)}, {usual, hosts(rateLimit)},
	}},
	{"token", forGitHub, "the kind of token, when it expires, and whether a classic or OAuth token has the scopes that the config needs", []question{
		{usual, token}, {usual, hosts(scopes)},
	}},

	{"repository", forRepository, "whether it exists, is visible, has the name in the config, and is not archived or disabled; whether the account may push; other accounts under which gh mergexo works there", []question{
		{usual, repos(repository)}, {usual | AtInit, readable(archived)}, {usual | AtInit, readable(write)}, {usual, repos(otherInstallations)},
	}},
	{"remote", forRepository, "whether git reaches it, asked as a pass asks", []question{{AtDoctor, repos(remote)}}},
	{"reads", forRepository, "whether the token may read files, issues, pull requests, checks and statuses; whether GitHub answers the queries of passes, sent about the first repository of a host", []question{
		{usual, readable(reads)}, {AtDoctor, readable(answers)},
	}},
	{"labels", forRepository, "whether the labels in the config exist", []question{{usual, readable(labels)}}},
	{"rules", forRepository, "what the default branch requires for a merge, and whether the config can meet it: approvers, method, queue, sign-off; rules that block the branches that gh mergexo pushes", []question{
		{usual, ruled(rules)},
		{usual, ruled(approvals)},
		{usual, ruled(lastPush)},
		{usual, ruled(mergeMethod)},
		{usual, ruled(mergeQueue)},
		{usual, ruled(signOff)},
		{usual, ruled(otherRules)},
		{usual, ruled(workBranches)},
	}},
	{"commands", forRepository, "whether the programs of `required_tests` and `setup` are installed", []question{{usual, commands}}},

	{"agent", forAgents, "whether its program is installed, new enough and tested, logged in (without a request), may write the folders with its login, and reports its cost if a budget limits that", []question{
		{AtDoctor | AtInit | AtStatus, agents(program)}, {AtDoctor | AtStatus, installed(version)}, {usual, installed(agentLogin)}, {usual, installed(agentHome)}, {AtDoctor, agentCost},
	}},
	{"sandbox", forSandbox, "the sandbox of an agent, and what the agent can reach in it", []question{{AtDoctor | AtStatus, agents(sandbox)}}},
	{"agent_start", forSandbox, "whether its program starts and can work in its sandbox, without a request to its provider", []question{{usual, installed(agentStart)}}},

	{"git", forMachine, "whether git is there and new enough", []question{{usual | BeforeTurn, git}}},
	{"state", forMachine, "whether the state folder is safe and can be written; whether the home folder can, which turns in a sandbox do not need", []question{
		{usual | BeforeTurn, state}, {usual, home},
	}},
	{"database", forMachine, "whether the database is whole and can be written; of a PostgreSQL server also its version, encryption, free connections, durability, clock, who may connect, and machines whose config differs", []question{
		{usual, database}, {usual, server(connections)}, {usual, server(databaseAccess)}, {usual, server(durability)}, {usual, server(databaseClock)}, {usual, machineName}, {usual, machineConfigs},
	}},
	{"metrics_file", forMachine, "whether the folder of `metrics_file` is there and can be written", []question{{usual, metricsFile}}},
	{"disk", forMachine, "how much room and how many inodes there are for the state", []question{{usual | BeforeTurn, disk}}},
	{"clock", forMachine, "the difference between the clocks of this machine and GitHub", []question{{usual, clock}}},

	{"notify", forMachine, "with --notify: whether the program of each `[[notify]]` takes a test message", []question{{AtDoctor, messages}}},

	{"schedule", forSchedule, "whether a scheduler repeats passes as `schedule install` wrote it; whether a cron daemon runs", []question{
		{usual | AtSchedule, schedule}, {usual | AtSchedule, cronDaemon},
	}},
	{ScheduledAgents, forSchedule, "whether scheduled passes find the programs that this shell finds, and the logins of agents", []question{{usual | AtSchedule | AtStatus, lacks}}},
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

func (m Message) about() string { return m.Target }
func (h Host) about() string    { return h.Name }
func (r Repo) about() string    { return r.Name }
func (g Agent) about() string   { return g.Name }
func (c Command) about() string { return c.Repo }

package doctor

// Code names the subject of a check. Programs read it, so it never changes.
type Code string

// Group is the part of the set-up that a check belongs to.
type Group string

// The groups, in the order of the output.
const (
	ForConfig     Group = "config"
	ForGitHub     Group = "github"
	ForRepository Group = "repositories"
	ForAgents     Group = "agents"
	ForSandbox    Group = "sandbox"
	ForMachine    Group = "machine"
	ForSchedule   Group = "schedule"
)

// Title is a group's heading.
func (g Group) Title() string {
	for _, known := range groups {
		if known.group == g {
			return known.title
		}
	}
	return string(g)
}

var groups = []struct {
	group Group
	title string
}{
	{ForConfig, "Config"},
	{ForGitHub, "GitHub"},
	{ForRepository, "Repositories"},
	{ForAgents, "Agents"},
	{ForSandbox, "Sandbox"},
	{ForMachine, "This machine"},
	{ForSchedule, "Schedule"},
}

// The codes.
const (
	CodeConfig  Code = "config"
	CodeSetting Code = "setting"

	CodeGh        Code = "gh"
	CodeNetwork   Code = "network"
	CodeLogin     Code = "login"
	CodeToken     Code = "token"
	CodeScopes    Code = "scopes"
	CodeRateLimit Code = "rate_limit"

	CodeRepository   Code = "repository"
	CodeArchived     Code = "archived"
	CodeWrite        Code = "write"
	CodeReads        Code = "reads"
	CodeLabels       Code = "labels"
	CodeRules        Code = "rules"
	CodeApprovals    Code = "approvals"
	CodeLastPush     Code = "last_push"
	CodeMergeMethod  Code = "merge_method"
	CodeMergeQueue   Code = "merge_queue"
	CodeSignOff      Code = "sign_off"
	CodeOtherRules   Code = "other_rules"
	CodeWorkBranches Code = "work_branches"
	CodeReading      Code = "reading"
	CodeOthers       Code = "other_installations"

	CodeAgent      Code = "agent"
	CodeVersion    Code = "agent_version"
	CodeAgentLogin Code = "agent_login"

	CodeSandbox Code = "sandbox"

	CodeGit      Code = "git"
	CodeHome     Code = "home"
	CodeState    Code = "state"
	CodeDatabase Code = "database"
	CodeDisk     Code = "disk"
	CodeClock    Code = "clock"

	CodeSchedule Code = "schedule"
	CodePaused   Code = "paused"
	CodeLastPass Code = "last_pass"
	CodeBudgets  Code = "budgets"
	CodeNotify   Code = "notify"
)

// Codes returns all codes with their groups and subjects.
func Codes() []Known { return known }

// Known describes a code.
type Known struct {
	Code  Code
	Group Group
	Looks string
}

var known = []Known{
	{CodeConfig, ForConfig, "whether the config is there and valid"},
	{CodeSetting, ForConfig, "settings without effect, or with a name that does not exist"},
	{CodeGh, ForGitHub, "whether gh is there, and new enough for accounts of reviewers"},
	{CodeNetwork, ForGitHub, "whether the host answers"},
	{CodeLogin, ForGitHub, "the account that gh is logged in with, and whether GitHub accepts it"},
	{CodeToken, ForGitHub, "the kind of token, and when it expires"},
	{CodeScopes, ForGitHub, "whether a classic or OAuth token has the scopes that the config needs"},
	{CodeRateLimit, ForGitHub, "whether GitHub takes requests now"},
	{CodeRepository, ForRepository, "whether it exists, is visible, and has the name in the config"},
	{CodeArchived, ForRepository, "whether it is archived or disabled"},
	{CodeWrite, ForRepository, "whether the account may push"},
	{CodeReads, ForRepository, "whether the token may read files, issues, pull requests, checks and statuses"},
	{CodeLabels, ForRepository, "whether the labels in the config exist"},
	{CodeRules, ForRepository, "what the rules of the default branch require for a merge"},
	{CodeApprovals, ForRepository, "whether the required approvers can approve, if `auto_merge` is on"},
	{CodeLastPush, ForRepository, "whether anyone but the last pusher can approve"},
	{CodeMergeMethod, ForRepository, "whether the rules allow a method of merging"},
	{CodeMergeQueue, ForRepository, "whether merges go through a queue"},
	{CodeSignOff, ForRepository, "whether commits have to be signed off"},
	{CodeOtherRules, ForRepository, "rules that only GitHub checks"},
	{CodeWorkBranches, ForRepository, "rules that block the branches that gh mergexo pushes"},
	{CodeReading, ForRepository, "what the last pass could not read"},
	{CodeOthers, ForRepository, "other installations of gh mergexo that were seen there"},
	{CodeAgent, ForAgents, "whether its program is installed"},
	{CodeVersion, ForAgents, "whether its version is known to work"},
	{CodeAgentLogin, ForAgents, "whether it is logged in, without sending a request"},
	{CodeSandbox, ForSandbox, "the sandbox of an agent, and what the agent can reach in it"},
	{CodeGit, ForMachine, "whether git is there and new enough"},
	{CodeHome, ForMachine, "whether the home folder can be written"},
	{CodeState, ForMachine, "whether the state folder is safe and can be written"},
	{CodeDatabase, ForMachine, "whether the state database is whole"},
	{CodeDisk, ForMachine, "how much room there is for the state"},
	{CodeClock, ForMachine, "the difference between the clocks of this machine and GitHub"},
	{CodeSchedule, ForSchedule, "whether a scheduler repeats passes"},
	{CodePaused, ForSchedule, "whether everything on this machine is paused"},
	{CodeLastPass, ForSchedule, "when the last pass ran, and its result"},
	{CodeBudgets, ForSchedule, "the budgets, and what was spent in the last 24 hours"},
	{CodeNotify, ForSchedule, "[[notify]] targets that did not accept the last messages"},
}

func (c Code) group() Group {
	for _, k := range known {
		if k.Code == c {
			return k.Group
		}
	}
	return ""
}

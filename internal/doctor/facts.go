package doctor

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Facts are all collected facts. A nil fact was not collected and makes no check.
type Facts struct {
	Config   Config
	Gh       *Program
	Hosts    []Host
	Repos    []Repo
	Commands []Command
	Agents   []Agent
	Git      *Program
	Home     *Folder
	State    *Folder
	Metrics  *Folder // of metrics_file
	Database *Database
	Disk     *Disk
	Schedule *Schedule
	Messages []Message // test messages, if they were asked for
	Now      time.Time

	Namesake   Namesake  // zero: no other machine goes by the name of this one
	Unlike     []Trouble // other machines whose config differs in what all share
	LimitsCost bool      // a budget limits the cost of turns
}

// Message is a test message to a [[notify]].
type Message struct {
	Target  string // its name; empty: there is none
	Arrived bool
	Says    string // what its program answered
}

// Config is the result of reading the config.
type Config struct {
	Path     string
	Repos    int
	Problems []string // why it is invalid, one per line
	Do       string   // the remedy; empty: each problem has its own
	Doubts   []string
}

// Program is a program that gh mergexo starts.
type Program struct {
	Name     string
	Path     string // empty: it is not on PATH
	Version  string
	Trouble  string // the problem; empty: none
	Accounts bool   // of gh: reviewers have accounts of their own
}

// Trouble is a problem, or why something could not be found out.
type Trouble struct {
	Says string
	Do   string
}

// Host is a GitHub host that the config names.
type Host struct {
	Name     string
	Down     *Trouble // it could not be reached
	LoggedIn bool     // there is a token for it
	Refused  *Trouble // GitHub rejects the token or the account
	Limited  string   // rate limited: until when, and why
	Account  string   // empty: a GitHub App
	Ours     []int64  // the accounts that passes accept, by their ids; none: any
	Foreign  *Trouble // the account is none of them
	Source   string   // where the token comes from: a variable, a file, gh's keyring
	Token    Token
	Needs    Needs
	Ahead    *time.Duration // how far this machine's clock is ahead; nil: unknown
	Asked    bool
}

// TokenKind is the kind of a GitHub token.
type TokenKind string

// The kinds of tokens.
const (
	TokenClassic     TokenKind = "classic"
	TokenOAuth       TokenKind = "oauth"
	TokenFineGrained TokenKind = "fine-grained"
	TokenApp         TokenKind = "app"
	TokenUnknown     TokenKind = ""
)

// Token is what is known about a token.
type Token struct {
	Kind    TokenKind
	Scoped  bool // GitHub reports its scopes
	Scopes  []string
	Expires time.Time // zero: never, or unknown
}

// Needs is what the config requires of a host's token.
type Needs struct {
	Private   bool // one of its repositories is private
	Workflows bool // pushes may change workflow files
}

// Repo is a repository that the config names.
type Repo struct {
	Name          string // as in the config
	Host          string
	Unasked       string   // why GitHub was not asked about it; empty: it was
	Trouble       *Trouble // why it could not be read
	Current       string   // its current name on GitHub
	Archived      bool
	Disabled      bool
	NoIssues      bool // issues are disabled
	CanPush       bool
	DefaultBranch string
	Methods       []merging.Method // merge methods that it allows
	WebSignOff    bool             // GitHub signs off commits made in the browser, and expects it of others
	Git           *Trouble         // why git does not reach its remote; AsksGit is whether it was asked
	AsksGit       bool
	Unreadable    []Unread
	Unanswered    []string       // errors of reads that passes make, too
	Rules         *merging.Rules // of the default branch; nil: unreadable
	WorkRules     []string       // kinds of rules for the branches that gh mergexo pushes
	Labels        *Labels        // nil: unreadable
	Gates         Gates
	Others        []Other
}

// Command is the program of a command in a repository's config.
type Command struct {
	Repo    string // as in the config
	Key     string // of the config: required_tests, setup
	Agent   string // whose runs look for it
	Program string
	Needed  bool // turns stop without it
	Missing bool // it is not on the PATH of the agent, or not at its path
}

// Unread is something that the token may not read.
type Unread struct {
	What   string
	Needed bool // something does not work without it
	For    string
}

// Gates is what the config requires of merges.
type Gates struct {
	AutoMerge bool
	Method    merging.Method
	Approvers int      // who can give approvals that GitHub counts
	Checks    []string // required by the config
	SignOff   bool
	Speaker   string // the account that opens pull requests
}

// Labels are the labels of the config.
type Labels struct {
	Wanted  int
	Missing []string
}

// Other is another installation whose comments were seen.
type Other struct {
	Account string
	At      time.Time
}

// Agent is an agent on this machine: its program, and the protection around it.
type Agent struct {
	Name    string // the agent's name in the config
	Missing string // what is missing of its program, and where to get it; empty: it is there
	Hides   bool   // your files are hidden from it
	Says    string // what surrounds it
	Version string // of its program; empty where that does not say
	Drift   string // it is too old, or nobody has tried it

	CostUnknown   bool // its program reports no cost and the config no prices, or the cost of its last runs is unknown
	TokensUnknown bool // the tokens of its last runs are unknown, so prices do not make the cost known

	Path    string // of its program
	Tells   string // what its program tells of a turn's usage; empty: nothing to report
	TooOld  bool
	Login   Login
	Fails   *Trouble // why it cannot be started as a turn does; nil: it can
	Keeps   *Trouble // why it cannot write the folders with its login and sessions
	Blocked bool     // its turns are blocked, for want of a sandbox
	Remedy  string   // how it gets a sandbox that hides files
	Writes  []string // what it may write besides its checkout and its own home
}

// Login is whether an agent's program is logged in.
type Login struct {
	Known bool
	In    bool
	Says  string
	Do    string

	Keychain bool // it is in the keychain of macOS, if there is one
}

// Folder is a folder that must be writable.
type Folder struct {
	Path    string // empty: none is known
	Trouble string
	Do      string // what fixes the trouble; empty: what usually does
	New     bool   // it does not exist yet
}

// Database is the state database.
type Database struct {
	Path    string
	Missing bool
	Trouble string
	Do      string // what fixes the trouble
	Damage  string // what SQLite finds wrong with it
	Mend    string // what to type then
	Older   bool   // its schema is older: the next pass migrates it

	Server *Server // of a database on a PostgreSQL server that passes can use
}

// Server is the server of the state database.
type Server struct {
	Address  string        // the URL without a password
	Version  string        // of PostgreSQL
	TLS      string        // its version; empty: the connection stays on this machine
	Schema   int64         // the schema's number
	Ahead    time.Duration // how much later it is on this machine; less than 0: it is earlier
	Free     int           // how many more connections it accepts from us
	Machines int           // machines whose passes use the database
	Lossy    string        // the setting by which it may lose rows when it crashes; empty: none
	Public   string        // the database's name as SQL, if every role of the server may connect to it
}

// Disk is the room on a disk.
type Disk struct {
	Path   string
	Free   int64 // bytes
	Inodes int64 // how many files can be made; below 0: the file system does not count them
}

// Schedule is what repeats passes.
type Schedule struct {
	Installed bool
	Active    bool   // the scheduler runs it
	Says      string // in words
	Differs   []string
	Trouble   string
	Do        string // what ends the trouble; empty: schedule status tells more

	CronSleeps bool      // the crontab starts passes, and no cron daemon runs
	Lacks      []Trouble // what passes lack that this shell has
}

// Namesake is another machine that goes by the name of this one.
type Namesake struct {
	Trouble
	Refused bool // passes here are refused; else those there are, once one began here
}

package doctor

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Facts are all that was found out. What was not looked at is nil, and makes no check.
type Facts struct {
	Config   Config
	Gh       *Program
	Hosts    []Host
	Repos    []Repo
	Agents   []Agent
	Git      *Program
	Home     *Folder
	State    *Folder
	Database *Database
	Disk     *Disk
	Schedule *Schedule
	Passes   *Passes
	Now      time.Time
}

// Config is the config as it was read.
type Config struct {
	Path     string
	Repos    int
	Problems []string // why it cannot be used, each in a line
	Do       string   // what mends them; empty: each says that itself
	Doubts   []string
}

// Program is one that gh mergexo starts.
type Program struct {
	Path    string
	Version string
	Trouble string // what is wrong; empty: nothing is
	Do      string
}

// Trouble is why something could not be found out, or is not as it should be.
type Trouble struct {
	Says string
	Do   string
}

// Host is a GitHub host that the config names.
type Host struct {
	Name     string
	Down     *Trouble // it could not be asked at all
	LoggedIn bool     // there is a token for it
	Refused  *Trouble // GitHub does not accept the token, or the account
	Limited  string   // it takes no requests for now: until when, and why
	Account  string   // empty: an app's
	Source   string   // where the token is from: a variable's name, a file, gh's keyring
	Token    Token
	Needs    Needs
	Ahead    *time.Duration // how far this machine's clock is ahead; nil: not known
	Asked    bool
}

// TokenKind is what kind of token GitHub gave.
type TokenKind string

// The kinds of tokens.
const (
	TokenClassic     TokenKind = "classic"
	TokenOAuth       TokenKind = "oauth"
	TokenFineGrained TokenKind = "fine-grained"
	TokenApp         TokenKind = "app"
	TokenUnknown     TokenKind = ""
)

// Token is what is known of a token.
type Token struct {
	Kind    TokenKind
	Scoped  bool // GitHub tells its scopes
	Scopes  []string
	Expires time.Time // zero: never, or GitHub does not say
}

// Needs is what the config asks of a host's token.
type Needs struct {
	Private   bool // one of its repositories is
	Workflows bool // files of workflows may be changed
}

// Repo is a repository that the config names.
type Repo struct {
	Name          string // as the config and people call it
	Host          string
	Unasked       string   // why GitHub was not asked about it; empty: it was
	Trouble       *Trouble // it could not be read
	Current       string   // what GitHub calls it
	Archived      bool
	Disabled      bool
	NoIssues      bool // issues are switched off
	CanPush       bool
	DefaultBranch string
	Methods       []merging.Method // that it allows
	WebSignOff    bool             // GitHub signs commits off that are made in the browser, and wants so of others
	Unreadable    []Unread
	Rules         *merging.Rules // of the default branch; nil: they could not be read
	WorkRules     []string       // kinds of rules for the branches that gh mergexo pushes
	Labels        *Labels        // nil: they could not be read
	Gates         Gates
	LastError     string // of the last pass
	Stopped       string // why nothing is merged into it any more
	Others        []Other
}

// Unread is what a token may not read.
type Unread struct {
	What   string
	Needed bool // something does not work without it
	For    string
}

// Gates is what the config asks of merges.
type Gates struct {
	Reviews   bool
	AutoMerge bool
	Method    merging.Method
	Approvers int      // who give approvals that GitHub counts
	Checks    []string // required by the config
	SignOff   bool
	Speaker   string // as whom pull requests are opened
}

// Labels are those of the config.
type Labels struct {
	Wanted  int
	Missing []string
}

// Other is another installation whose comments were seen.
type Other struct {
	Account string
	At      time.Time
}

// Agent is an agent that the config gives work.
type Agent struct {
	Name    string
	Path    string
	Missing string // why its program cannot be started; with what to do
	Version string
	Drift   string // of its version; empty: it is known to work
	TooOld  bool
	Login   Login
	Sandbox Sandbox
}

// Login is whether an agent's program is logged in.
type Login struct {
	Known bool
	In    bool
	Says  string
	Do    string
}

// Sandbox is what stands around an agent.
type Sandbox struct {
	Says    string
	Hides   bool
	Blocked string // why its turns are blocked
	Do      string
	Writes  []string // what an agent may write beside its checkout and its own home
}

// Folder is one that has to be written.
type Folder struct {
	Path    string
	Trouble string
	Do      string
	New     bool // it is not there yet
}

// Database is the state database.
type Database struct {
	Path    string
	Missing bool
	Trouble string
	Do      string
	Older   bool // its schema is older: the next pass brings it up to date
}

// Disk is how much room there is.
type Disk struct {
	Path string
	Free int64 // bytes
	Most int64 // what one turn may take, by the config; 0: no limit
}

// Schedule is what repeats the pass.
type Schedule struct {
	Installed bool
	Active    bool   // the scheduler has it in force
	Says      string // in words
	Differs   []string
	Trouble   string
}

// Passes is what the database and the state folder say of passes.
type Passes struct {
	Last    time.Time     // zero: none read anything
	Tried   bool          // one was made all the same
	Failed  int           // how many in a row failed
	Why     string        // the last one did
	Paused  string        // everything is: since when and why; empty: it is not
	Budgets *work.Budgets // nil: not known
	Turns   int           // in the last 24 hours
	Cost    float64
	Untold  []Untold
}

// Untold is a target of messages that did not take its last ones.
type Untold struct {
	Target string
	Count  int
	Why    string // the last one did not arrive
}

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Config is the operator's config with every default filled in.
type Config struct {
	Path     string // the file that it was read from
	Runtime  Runtime
	Schedule work.Weights // which implementation is begun first
	Agents   map[string]Agent
	Repos    []Repo // in the file's order
}

// Runtime is the [runtime] table.
type Runtime struct {
	Workers                   int    // turns at one time, over all repositories
	Agent                     string // name in Agents, for whatever [repo.agents] does not say
	TurnTimeout               time.Duration
	IdleTimeout               time.Duration
	RetryBase                 time.Duration
	QuietPeriod               time.Duration
	MinInterval               time.Duration
	IngestTimeout             time.Duration // of one repository in one pass
	SettleAfter               time.Duration
	MaxTurnsPerPass           int
	MaxEventsPerTurn          int
	Budgets                   Budgets
	MaxDisk                   int64 // bytes that a run takes of the disk; 0: no limit
	MaxMemory                 int64 // bytes that a run and all that it starts hold; 0: no limit
	EnableFeedbackLoop        bool
	EnableIssueCommentRouting bool
	Overlap                   bool // false: tick.lock is held for the whole pass
	StateDir                  string
	PromptsDir                string       // the operator's own prompts; may not exist
	Sandbox                   work.Sandbox // around agents whose own table does not say
	Readable                  []string     // folders and files that every agent may read in the sandbox
	Accounts                  []int64      // ids of further GitHub accounts whose marked comments are ours
}

// Budgets are what may be spent before a person must say so. 0 is no limit.
// Costs are what agents report, in US dollars.
type Budgets struct {
	TurnsPerItem   int
	FeedbackRounds int // turns of one item that answer people
	CostPerItem    float64
	CostPerTurn    float64 // of one turn, with all its attempts; its agent is ended while it works
	TokensPerTurn  int     // the same: read, from a cache or not, and written
	TurnsPerDay    int     // of all repositories, in any 24 hours
	CostPerDay     float64
}

// SessionMode says what becomes of a provider's thread between turns.
type SessionMode string

// The session modes.
const (
	SessionResume SessionMode = "resume"
	SessionFresh  SessionMode = "fresh"
)

// The adapters: two command lines that are known, and any program.
const (
	AdapterCodex   = "codex"
	AdapterClaude  = "claude"
	AdapterCommand = "command"
)

// builtIn are the agents that need no table: each is named like its adapter.
var builtIn = []string{AdapterCodex, AdapterClaude}

// Agent is one [agents.NAME] table.
type Agent struct {
	Name    string
	Adapter string
	Command []string // program and arguments; empty for a known command line as it is found on PATH
	Model   string   // codex and claude; empty: their own default
	Effort  string   // codex and claude; empty: their own default
	Args    []string // codex and claude: further arguments
	EnvPass []string // names of variables that it sees beside the allow-list
	Session SessionMode
	Prices  *work.Prices // of its tokens; nil: what it says itself

	Sandbox  work.Sandbox // empty: the runtime's
	Readable []string     // folders and files that it may read in the sandbox, beside the runtime's
	Writable []string     // folders that it may write in the sandbox
}

// Labels are the labels that start and pause work, and those that show where it
// stands.
type Labels struct {
	Design   string
	Bugfix   string
	SmallJob string
	Ignore   string

	Working string
	Blocked string
	Done    string
}

// Flow gives the flow that a label starts.
func (l Labels) Flow(label string) (work.Flow, bool) {
	for _, f := range work.Flows() {
		if name := l.Of(f); name != "" && equalLabel(name, label) {
			return f, true
		}
	}
	return "", false
}

// Of gives the label that starts a flow; empty for a flow that none starts.
func (l Labels) Of(f work.Flow) string {
	switch f {
	case work.FlowDesign:
		return l.Design
	case work.FlowBugfix:
		return l.Bugfix
	case work.FlowSmallJob:
		return l.SmallJob
	case work.FlowImplementation:
		return ""
	}
	return ""
}

// Repo is one [[repo]] table.
type Repo struct {
	Name         work.RepoName
	RemoteURL    string // empty: gh's protocol for the host
	AllowedUsers []string
	Labels       Labels
	KeepIgnored  bool                 // ignored files, such as build caches, survive between turns
	Agents       map[work.Kind]string // names in Config.Agents
	Voice        Voice

	Checks        ChecksPolicy   // when red checks ask for a turn
	RequiredTests []string       // program and arguments that must succeed on what is pushed; none: none
	TestTimeout   time.Duration  // of one run of them
	TestFiles     *regexp.Regexp // a bugfix changes a path that matches; nil: it need not

	// What no push may carry.
	MaxFiles       int      // changed files
	MaxFileBytes   int64    // of each of them
	ProtectedPaths []string // globs of paths that must not change
}

// Repo finds a repository's settings.
func (c *Config) Repo(name work.RepoName) (Repo, bool) {
	for _, r := range c.Repos {
		if r.Name.Equal(name) {
			return r, true
		}
	}
	return Repo{}, false
}

// Called is a repository's owner/name as people write it, with the host where the
// config names one of the same name on another host, too.
func (c *Config) Called(name work.RepoName) string {
	for _, r := range c.Repos {
		if r.Name.Host != name.Host && strings.EqualFold(r.Name.FullName(), name.FullName()) {
			return name.String()
		}
	}
	return name.FullName()
}

// Agent says which agent runs a kind of prompt for a repository.
func (c *Config) Agent(repo work.RepoName, kind work.Kind) (Agent, bool) {
	name := c.Runtime.Agent
	if r, ok := c.Repo(repo); ok && r.Agents[kind] != "" {
		name = r.Agents[kind]
	}
	a, ok := c.Agents[name]
	return a, ok
}

// maxSize bounds a config file, in bytes.
const maxSize = 1 << 20

// Load reads the config at env.ConfigPath. Repositories written without a host
// are on defaultHost. Every problem of the file is reported, each in one line.
func Load(env Env, defaultHost string) (*Config, error) {
	if env.ConfigPath == "" {
		return nil, errors.New("HOME is not set and the user database knows no home folder: set HOME, or name the config by --config or MERGEXO_CONFIG")
	}
	path, err := filepath.Abs(expandHome(env.ConfigPath, env.Home))
	if err != nil {
		return nil, fmt.Errorf("find the config %q: %w", env.ConfigPath, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &MissingError{Path: path}
	case err != nil:
		return nil, fmt.Errorf("read the config: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("read the config: %s is a folder; name the file in it", path)
	case info.Size() > maxSize:
		return nil, fmt.Errorf("read the config: %s has %d bytes; at most %d are read", path, info.Size(), maxSize)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the config: %w", err)
	}
	return Parse(path, data, env, defaultHost)
}

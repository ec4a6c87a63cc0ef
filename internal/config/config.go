package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/score"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Config is the operator's config with every default filled in.
type Config struct {
	Path     string // the file that it was read from
	Runtime  Runtime
	Schedule score.Weights // which implementation is begun first
	Agents   map[string]Agent
	Repos    []Repo   // in the file's order
	Notify   []Notify // who is told outside of GitHub
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
	Budgets                   work.Budgets
	MaxDisk                   int64 // bytes that a run takes of the disk; 0: no limit
	MaxMemory                 int64 // bytes that a run and all that it starts hold; 0: no limit
	EnableFeedbackLoop        bool
	EnableIssueCommentRouting bool
	Overlap                   bool // false: tick.lock is held for the whole pass
	StateDir                  string
	PromptsDir                string       // the operator's own prompts; may not exist
	MetricsFile               string       // that each pass writes for Prometheus; empty: none
	Sandbox                   work.Sandbox // around agents whose own table does not say
	Readable                  []string     // folders and files that every agent may read in the sandbox
	Accounts                  []int64      // ids of further GitHub accounts whose marked comments are ours
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
	Prices  *spending.Prices // of its tokens; nil: what it says itself

	Sandbox  work.Sandbox // empty: the runtime's
	Readable []string     // folders and files that it may read in the sandbox, beside the runtime's
	Writable []string     // folders that it may write in the sandbox
}

// Repo is one [[repo]] table.
type Repo struct {
	Name         work.RepoName
	RemoteURL    string // empty: gh's protocol for the host
	AllowedUsers []string
	Labels       work.Labels
	KeepIgnored  bool                 // ignored files, such as build caches, survive between turns
	Agents       map[work.Kind]string // names in Config.Agents
	Voice        Voice
	Review       Review
	Reviewers    []Reviewer // in their order

	Checks        work.ChecksPolicy // when red checks ask for a turn
	RequiredTests []string          // program and arguments that must succeed on what is pushed; none: none
	TestTimeout   time.Duration     // of one run of them
	TestFiles     *regexp.Regexp    // a bugfix changes a path that matches; nil: it need not

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

// AgentFor says which agent runs a kind of prompt for a repository. Of a review,
// reviewer is who makes it; else it says nothing.
func (c *Config) AgentFor(repo work.RepoName, kind work.Kind, reviewer string) (Agent, bool) {
	name := c.Runtime.Agent
	if r, ok := c.Repo(repo); ok {
		name = cmp.Or(r.Agents[kind], name)
		if x, known := r.Reviewer(reviewer); known && kind == work.KindReview {
			name = cmp.Or(x.Agent, name)
		}
	}
	a, ok := c.Agents[name]
	return a, ok
}

// maxSize bounds a config file, in bytes.
const maxSize = 1 << 20

// Load reads the config at env.ConfigPath. Repositories written without a host
// are on defaultHost. Every problem of the file is reported, each in one line.
func Load(env environ.Env, defaultHost string) (*Config, error) {
	path, data, err := read(env)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env, defaultHost)
}

// read gives the config's text, and where it stands.
func read(env environ.Env) (path string, data []byte, err error) {
	if env.ConfigPath == "" {
		return "", nil, errors.New("HOME is not set and the user database knows no home folder: set HOME, or name the config by --config or MERGEXO_CONFIG")
	}
	path, err = filepath.Abs(environ.ExpandHome(env.ConfigPath, env.Home))
	if err != nil {
		return "", nil, fmt.Errorf("find the config %q: %w", env.ConfigPath, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, &MissingError{Path: path}
	case err != nil:
		return "", nil, fmt.Errorf("read the config: %w", err)
	case info.IsDir():
		return "", nil, fmt.Errorf("read the config: %s is a folder; name the file in it", path)
	case info.Size() > maxSize:
		return "", nil, fmt.Errorf("read the config: %s has %d bytes; at most %d are read", path, info.Size(), maxSize)
	}
	if data, err = os.ReadFile(path); err != nil {
		return "", nil, fmt.Errorf("read the config: %w", err)
	}
	return path, data, nil
}

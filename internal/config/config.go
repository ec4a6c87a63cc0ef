package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Config is the operator's config, defaults included.
type Config struct {
	Path    string // the config file
	Runtime Runtime
	Agents  map[string]Agent
	Repos   []Repo   // in the file's order
	Notify  []Notify // notifications outside of GitHub
}

// Runtime is the [runtime] table.
type Runtime struct {
	Workers     int    // turns in parallel, over all repositories
	Agent       string // name in Agents, for repositories that name none
	TurnTimeout time.Duration
	Budgets     work.Budgets
	MaxDisk     int64 // bytes of disk for one run; 0: no limit
	MaxMemory   int64 // bytes of memory for a run and all processes it starts; 0: no limit
	StateDir    string
	Database    string       // URL of a PostgreSQL database that machines share, without a password, or "$NAME"; see DatabaseAt
	databaseURL string       // the value of the variable NAME
	unsure      bool         // the config is invalid where it names the database
	Machine     string       // by which name other machines know this one; empty: it follows from the state folder
	PromptsDir  string       // the operator's own prompts; may not exist
	MetricsFile string       // file that each pass writes for Prometheus; empty: none
	Sandbox     work.Sandbox // of all agents and required tests
	Readable    []string     // folders and files that every agent may read in the sandbox

	Timings
}

// The adapters: two known command lines, programs that speak the Agent Client Protocol, and any
// program.
const (
	AdapterCodex   = "codex"
	AdapterClaude  = "claude"
	AdapterACP     = "acp"
	AdapterCommand = "command"
)

// builtIn are the agents that need no table, named like their adapters.
var builtIn = []string{AdapterCodex, AdapterClaude}

// Agent is one [agents.NAME] table.
type Agent struct {
	Name    string
	Adapter string
	Command []string // program and arguments; empty: the known command line on PATH
	Model   string   // codex, claude and acp; empty: their own default
	Effort  string   // codex and claude; empty: their own default
	Args    []string // codex and claude: further arguments
	EnvPass []string // names of variables that it sees in addition to the allow-list

	Fallback string // name in Agents of the agent that takes over while its provider is out; empty: none

	Prices *spending.Prices // of its tokens; nil: its own report

	Writable []string // folders that it may write in the sandbox
}

// EnvPass returns the names of all variables that programs of others see in addition to the allow-list.
func (c *Config) EnvPass() (names []string) {
	for _, a := range c.Agents {
		names = append(names, a.EnvPass...)
	}
	for _, n := range c.Notify {
		names = append(names, n.EnvPass...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Repo is one [[repo]] table.
type Repo struct {
	Name         work.RepoName
	RemoteURL    string // empty: gh's protocol for the host
	Account      string // gh's account with which passes work on the repository's host; empty: the one that gh is logged in as
	AllowedUsers []string
	LabelPrefix  string // begins the name of each label
	Labels       work.Labels
	Agent        string // name in Config.Agents of the agent of all turns but reviews; empty: that of the runtime
	ReviewAgent  string // name in Config.Agents of the agent of reviews; empty: that of the other turns
	Voice        Voice
	Review       Review
	Reviewers    []Reviewer     // in their order
	Roadmap      roadmap.Limits // the [repo.roadmap] table

	RequiredTests  []string       // program and arguments that must succeed before a push; empty: none
	Setup          []string       // program and arguments that prepare a checkout before a turn; empty: none
	TestFiles      *regexp.Regexp // a bugfix must change a matching path; nil: no such rule
	ProtectedPaths []string       // globs of paths that no push may change
}

// Repo returns a repository's settings.
func (c *Config) Repo(name work.RepoName) (Repo, bool) {
	for _, r := range c.Repos {
		if r.Name.Equal(name) {
			return r, true
		}
	}
	return Repo{}, false
}

// Called returns a repository's owner/name, with the host if the config has the same name on
// another host.
func (c *Config) Called(name work.RepoName) string {
	for _, r := range c.Repos {
		if r.Name.Host != name.Host && strings.EqualFold(r.Name.FullName(), name.FullName()) {
			return name.String()
		}
	}
	return name.FullName()
}

// AgentFor returns the agent for a kind of prompt in a repository. reviewer is the reviewer of a
// review, and ignored otherwise.
func (c *Config) AgentFor(repo work.RepoName, kind work.Kind, reviewer string) (Agent, bool) {
	name := c.Runtime.Agent
	if r, ok := c.Repo(repo); ok {
		name = cmp.Or(r.Agent, name)
		if kind == work.KindReview {
			x, _ := r.Reviewer(reviewer)
			name = cmp.Or(x.Agent, r.ReviewAgent, name)
		}
	}
	a, ok := c.Agents[name]
	return a, ok
}

// PassLimits returns the longest times that healthy passes take, with much to spare: a pass that
// takes longer hangs. A turn may run its agent and the tests several times.
func (c *Config) PassLimits() work.PassLimits {
	run := c.Runtime
	limits := work.PassLimits{Plan: 15*time.Minute + time.Duration(len(c.Repos))*run.IngestTimeout}
	limits.Pass = limits.Plan + time.Hour + 6*(cmp.Or(run.TurnTimeout, time.Hour)+run.TestTimeout+2*run.SetupTimeout) // set-ups: on the base's files, then on the change's
	return limits
}

// maxSize bounds a config file, in bytes.
const maxSize = 1 << 20

// Load reads the config at env.ConfigPath. Repositories without a host are on defaultHost. The
// error lists every problem of the file, one per line. A file that other users could change is
// refused.
func Load(env environ.Env, defaultHost string) (*Config, error) {
	path, data, err := read(env)
	if err != nil {
		return nil, err
	}
	if why := files.ChangedByOthers(path); why != "" {
		return nil, fmt.Errorf("the config decides which programs run, and %s", why)
	}
	return Parse(path, data, env, defaultHost)
}

// read returns the config's absolute path and text.
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
		return "", nil, fmt.Errorf("read the config: %s has %d bytes; the limit is %d", path, info.Size(), maxSize)
	}
	if data, err = os.ReadFile(path); err != nil {
		return "", nil, fmt.Errorf("read the config: %w", err)
	}
	return path, data, nil
}

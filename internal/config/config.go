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
)

// Config is the operator's config, defaults included. The tags are described at key.
type Config struct {
	Path    string           // the config file
	Runtime Runtime          `toml:"runtime" words:"the machine: agent, workers, limits, budgets, folders"`
	Agents  map[string]Agent `toml:"agents" words:"\"codex\" and \"claude\" exist without a table, too"`
	Repos   []Repo           `toml:"repo" words:"gh mergexo touches only repositories with such a table"`
	Notify  []Notify         `toml:"notify" words:"messages outside of GitHub: a program gets JSON on standard input"`
}

// Runtime is the [runtime] table.
type Runtime struct {
	Agent       string        `toml:"agent" show:"codex" words:"or another of [agents.*]; optional if there is only one"`
	Workers     int           `toml:"workers" default:"2" least:"1" most:"64" words:"parallel turns of this machine, of all repositories"`
	TurnTimeout time.Duration `toml:"turn_timeout" default:"30m" least:"1s" words:"time limit of an agent"`
	Budgets     work.Budgets  `toml:",inline"`
	MaxMemory   int64         `toml:"max_memory" default:"8GiB" least:"64MiB" words:"memory of a run of an agent or of required tests, with all its processes; then it is stopped; \"0\": no limit"` // codex alone needs the least
	MaxDisk     int64         `toml:"max_disk" default:"10GiB" least:"16MiB" words:"size of what a run writes to its checkout, plus its own temporary and home folders; \"0\": no limit"`
	StateDir    string        `toml:"state_dir" show:"~/.local/share/mergexo" words:"default: $XDG_DATA_HOME/mergexo"`
	Database    string        `toml:"database" words:"PostgreSQL database for several machines, such as \"postgres://mergexo@db.example.com/mergexo?sslmode=verify-full\"; or \"$NAME\": the environment variable NAME holds the URL, which may have a password; \"\": state.db in state_dir"`
	databaseURL string        // the value of the variable NAME
	unsure      bool          // the config is invalid where it names the database
	Machine     string        `toml:"machine" words:"name of this machine for the others on its database; default: made of state_dir"`
	PromptsDir  string        `toml:"prompts_dir" default:"prompts" words:"folder, relative to this file, with your own prompts: NAME.tmpl replaces the built-in one"` // may not exist
	Sandbox     work.Sandbox  `toml:"sandbox" default:"auto" words:"sandbox of agents: the best that works; \"required\": as \"auto\", but nothing starts without one that hides files; or \"bwrap\" (Linux), \"sandbox-exec\" (macOS), \"agent\" (the agent's own), \"none\""`
	Readable    []string      `toml:"readable" words:"folders and files that every agent may read in the sandbox, beside those of the system, PATH and toolchains, such as [\"~/.config/mise\"]"`
	MetricsFile string        `toml:"metrics_file" words:"file for Prometheus that each pass writes, such as \"/var/lib/node_exporter/textfile/mergexo.prom\"; \"\": none"`

	Timings
}

// Repo is one [[repo]] table.
type Repo struct {
	Name           work.RepoName  `toml:"name" show:"owner/name" required:"name = \"owner/name\"" words:"the repository, or host/owner/name"`
	RemoteURL      string         `toml:"remote_url" words:"where git fetches and pushes; default: by gh's git_protocol for the host; may be a local path"`
	Account        string         `toml:"account" words:"gh's account with which passes work on this host, also after another one; default: the one that gh is logged in as"`
	AllowedUsers   []string       `toml:"allowed_users" words:"people whose comments and commands count, beside those with write permission; \"login:id\" also fixes the account"`
	Agent          string         `toml:"agent" words:"the agent of this repository, of [agents.*]; default: that of [runtime]"`
	ReviewAgent    string         `toml:"review_agent" words:"the agent that reviews its pull requests; default: its agent"`
	RequiredTests  []string       `toml:"required_tests" words:"such as [\"make\", \"test\"]: must succeed before a push; runs in the agent's sandbox, for 15 minutes at most"`
	Setup          []string       `toml:"setup" words:"such as [\"npm\", \"ci\"]: installs dependencies before a turn; every checkout gets a copy of what it makes"`
	TestFiles      *regexp.Regexp `toml:"test_file_regex" words:"such as \"_test\\\\.go$\": a bugfix must change a matching path"`
	ProtectedPaths []string       `toml:"protected_paths" show:"[\".github/workflows/**\", \"CODEOWNERS\"]" words:"such as these two: replaces the default list, which is longer (\x60gh mergexo config\x60 prints it); case does not matter"`
	Draft          Draft          `toml:"draft" words:"\"until_green\": pull requests are opened as drafts, and marked as ready for review once their checks are green and the reviewing agents approve"`
	LabelPrefix    string         `toml:"label_prefix" default:"agent:" words:"begins the names of the labels: design, bugfix, small-job, roadmap, ignore, review, hold, freeze, working, blocked, done, human-review"`
	Labels         work.Labels    // with the prefix
	Voice          Voice          `toml:"voice" words:"what commits and comments say about who made them"`
	Review         Review         `toml:"review" words:"reviews of pull requests before people spend time on them"`
	Roadmap        roadmap.Limits `toml:"roadmap" words:"how much of a roadmap is worked on at a time"`
	Reviewers      []Reviewer     `toml:"reviewers" words:"the reviewers, in this order; without any such table: quinn"`
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

// Draft says which pull requests are opened as drafts.
type Draft string

// UntilGreen opens all of them as drafts; empty: none.
const UntilGreen Draft = "until_green"

// Repo returns a repository's settings.
func (c *Config) Repo(name work.RepoName) (Repo, bool) {
	for i := range c.Repos { // which are large to copy
		if c.Repos[i].Name.Equal(name) {
			return c.Repos[i], true
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
	case errors.Is(err, fs.ErrNotExist) && env.ConfigNamed:
		return "", nil, &MissingError{path, env.ConfigPath}
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

// Parse parses a config. path is its name in errors.
func Parse(path string, data []byte, env environ.Env, defaultHost string) (*Config, error) {
	p, err := open(path, strings.TrimPrefix(string(data), "\uFEFF"), env, defaultHost)
	if err != nil {
		return nil, err
	}
	p.runtime()
	p.agents()
	for i := range p.config.Repos {
		p.repo(i)
	}
	p.checkFallbacks()
	for i := range p.config.Notify {
		p.notify(i)
	}
	if !p.written["repo"] {
		p.lacks("", "repo", `no [[repo]]: name at least one repository, such as name = "owner/name" under [[repo]]; gh mergexo init adds the one whose clone you are in`)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.config, nil
}

// MissingError means that there is no config.
type MissingError struct {
	Path  string
	Typed string // the path as --config or MERGEXO_CONFIG names it, which may be mistyped; empty: none does
}

func (e *MissingError) Error() string {
	if e.Typed != "" {
		return fmt.Sprintf("no config at %s: --config or MERGEXO_CONFIG names %q, and there is no such file; correct the path, or begin with this one: gh mergexo init", e.Path, e.Typed)
	}
	return fmt.Sprintf(`no config at %s; to begin with one: gh mergexo init (without one there is "gh mergexo demo")`, e.Path)
}

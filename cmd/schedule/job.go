package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/schedule"
)

// plan is the job to schedule on this machine.
type plan struct {
	job      schedule.Job
	programs []machine.Program
	short    string // PATH with only the folders of those programs
	machine  schedule.Machine
	passed   []string // variables that are passed to agents and set here, and those of the database
}

// newPlan makes the plan. To remove a schedule, the config need not be valid.
func newPlan(cfg *config.Config, env environ.Env, now time.Time) (plan, error) {
	path, err := filepath.Abs(env.ConfigPath)
	if err != nil {
		return plan{}, fmt.Errorf("find the config: %w", err)
	}
	p := plan{programs: machine.Programs(cfg, env), passed: append(machine.PassedOn(cfg, env), cfg.Runtime.Hidden()...), machine: machineOf(env)}
	p.job = schedule.Job{
		Config: path, Default: path == filepath.Join(env.Home, ".config", "mergexo", "config.toml"),
		Gh: p.programs[0].Path, Logs: filepath.Join(cfg.Runtime.StateDir, "logs"), Since: now.UTC().Truncate(time.Second),
	}
	all, needed := folders(env.Path, p.programs)
	p.short = strings.Join(needed, string(filepath.ListSeparator))
	p.job.Env = []schedule.Var{{Name: "PATH", Value: strings.Join(all, string(filepath.ListSeparator))}, {Name: "HOME", Value: env.Home}}
	for _, name := range kept {
		if value, _ := env.Lookup(name); value != "" && !holdsPassword(name, value) {
			p.job.Env = append(p.job.Env, schedule.Var{Name: name, Value: value})
		}
	}
	return p, nil
}

func machineOf(env environ.Env) schedule.Machine {
	settings := filepath.Join(env.Home, ".config")
	if dir, _ := env.Lookup("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		settings = dir
	}
	return schedule.Machine{Home: env.Home, ConfigHome: settings, Path: env.Path, Env: env.All(), UID: os.Getuid()}
}

// kept are variables that tell gh, git and this program where to find files and the network, and
// which language and time zone to use. The job gets the ones that are set when it is installed.
var kept = []string{
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GH_CONFIG_DIR", "GH_HOST",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"LANG", "LC_ALL", "LC_CTYPE", "TZ",
}

// holdsPassword reports whether a proxy's URL may hold a password, with or without a scheme.
func holdsPassword(name, value string) bool {
	return strings.HasSuffix(strings.ToLower(name), "_proxy") && strings.Contains(value, "@")
}

// system are folders that are added to every PATH, if they exist.
var system = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// folders returns the folders of PATH that will exist when the job starts, and the ones among them
// that hold the programs.
func folders(path string, programs []machine.Program) (all, needed []string) {
	for _, dir := range append(filepath.SplitList(path), system...) {
		at := lasting(dir)
		if at == "" || slices.Contains(all, at) {
			continue
		}
		all = append(all, at)
		if slices.Contains(system, at) || slices.ContainsFunc(programs, func(p machine.Program) bool { return p.Path != "" && filepath.Dir(p.Path) == dir }) {
			needed = append(needed, at)
		}
	}
	return all, needed
}

// lasting returns the folder; for a shell session's own link, which disappears with the session,
// its target. Empty: not a folder.
func lasting(dir string) string {
	if info, err := os.Stat(dir); !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
		return ""
	}
	if !strings.HasPrefix(dir, "/run/") && !strings.Contains(dir, "/fnm_multishells/") {
		return filepath.Clean(dir)
	}
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return at
}

// fit fits the job to a scheduler: cron's lines are short, so PATH may be shortened.
func (p plan) fit(s schedule.Scheduler, job schedule.Job) (schedule.Job, error) {
	_, err := s.Files(job)
	if _, long := errors.AsType[*schedule.TooLongError](err); long {
		job = job.With("PATH", p.short)
		_, err = s.Files(job)
	}
	return job, err
}

// tried checks that the job would run with its own environment only.
func (p plan) tried(ctx context.Context) error {
	if p.job.Gh == "" {
		return errors.New(machine.NoGh.Says + "; " + machine.NoGh.Do)
	}
	res, err := proc.Run(ctx, proc.Cmd{Path: p.job.Gh, Args: []string{"mergexo", "version"}, Dir: "/", Env: p.job.Pairs(), Wall: tryTime})
	switch {
	case err != nil:
		return err
	case res.TimedOut != proc.NoLimit:
		return fmt.Errorf("%s mergexo version did not end within %s", p.job.Gh, tryTime)
	case res.Code != 0:
		why := strings.Join(strings.Fields(string(res.Stderr)), " ")
		return fmt.Errorf("a scheduler would start %s mergexo, and that does not run: %s; install it: gh extension install mergexo/gh-mergexo", p.job.Gh, why)
	}
	return nil
}

// tryTime exceeds the time of a build: if the extension is a checkout, the first run builds it.
const tryTime = 2 * time.Minute

// loggedIn reports whether gh finds a login in the job's environment.
func (p plan) loggedIn(ctx context.Context, host string) bool {
	res, err := proc.Run(ctx, proc.Cmd{Path: p.job.Gh, Args: []string{"auth", "token", "--hostname", host}, Dir: "/", Env: p.job.Pairs(), Wall: tryTime})
	return err == nil && res.Code == 0
}

// withheld lists variables with secrets that are set here but not in the job: no secret is written
// into a schedule.
func (p plan) withheld(env environ.Env) (all []string) {
	for _, name := range slices.Concat(machine.TokenVariables, p.passed, kept) {
		if value, _ := env.Lookup(name); value != "" && p.job.Get(name) == "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// now makes this machine's plan with the current config.
func now(a *cli.App) (plan, *config.Config, error) {
	cfg, err := a.Config()
	if err != nil {
		return plan{}, nil, err
	}
	p, err := newPlan(cfg, a.Environ(), a.Now())
	return p, cfg, err
}

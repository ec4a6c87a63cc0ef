package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/schedule"
)

// plan is what is to be repeated on this machine, as it is now.
type plan struct {
	job      schedule.Job
	programs []machine.Program
	short    string // PATH with no more than the folders of those programs
	machine  schedule.Machine
	passed   []string // variables that agents are given here
}

// newPlan finds out what is to be repeated. The config need not be valid where something
// is only taken away.
func newPlan(cfg *config.Config, env environ.Env, now time.Time) (plan, error) {
	path, err := filepath.Abs(env.ConfigPath)
	if err != nil {
		return plan{}, fmt.Errorf("find the config: %w", err)
	}
	p := plan{programs: machine.Programs(cfg, env), passed: machine.PassedOn(cfg, env), machine: machineOf(env)}
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
	runDir := fmt.Sprintf("/run/user/%d", os.Getuid())
	if dir, _ := env.Lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		runDir = dir
	}
	return schedule.Machine{Home: env.Home, ConfigHome: settings, Path: env.Path, Env: env.All(), UID: os.Getuid(), RunDir: runDir}
}

// kept are variables that say where gh, git and this program find their files and the
// network, and in which language and zone people read. Where they are set here, the job
// has them, too.
var kept = []string{
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GH_CONFIG_DIR", "GH_HOST",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"LANG", "LC_ALL", "LC_CTYPE", "TZ",
}

// secretNames are variables that a login is in. No secret is written into a schedule.
var secretNames = []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}

// holdsPassword tells whether the address of a proxy may hold one, with a scheme or without.
func holdsPassword(name, value string) bool {
	return strings.HasSuffix(strings.ToLower(name), "_proxy") && strings.Contains(value, "@")
}

// system are folders that every PATH has, if they are there.
var system = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// folders are those of PATH that are there when the job starts, and those of them that
// the programs are in.
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

// lasting is the folder itself, or of a shell's own link, which goes with that shell,
// what it leads to. Empty: it is none.
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

// fit is the job as a scheduler takes it: cron's lines are short, so PATH may have to be.
func (p plan) fit(s schedule.Scheduler, job schedule.Job) (schedule.Job, error) {
	_, err := s.Files(job)
	if _, long := errors.AsType[*schedule.TooLongError](err); long {
		job = job.With("PATH", p.short)
		_, err = s.Files(job)
	}
	return job, err
}

// tried finds out whether the job would run: with its own environment and nothing else.
func (p plan) tried(ctx context.Context) error {
	if p.job.Gh == "" {
		return errors.New("gh is not on PATH: a scheduler starts gh mergexo; install gh from https://cli.github.com")
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

// tryTime is longer than a build of the program takes, which a checkout that is an
// extension makes first.
const tryTime = 2 * time.Minute

// loggedIn tells whether gh finds a login in the job's environment.
func (p plan) loggedIn(ctx context.Context, host string) bool {
	res, err := proc.Run(ctx, proc.Cmd{Path: p.job.Gh, Args: []string{"auth", "token", "--hostname", host}, Dir: "/", Env: p.job.Pairs(), Wall: tryTime})
	return err == nil && res.Code == 0
}

// withheld are the variables with secrets that are set here, and that the job does not
// have.
func (p plan) withheld(env environ.Env) (all []string) {
	for _, name := range slices.Concat(secretNames, p.passed, kept) {
		if value, _ := env.Lookup(name); value != "" && p.job.Get(name) == "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// refuseWindows says what to do on Windows, whose scheduler is told by one line.
func refuseWindows(goos string, every time.Duration, j schedule.Job) error {
	if goos != "windows" {
		return nil
	}
	return fmt.Errorf("on Windows the Task Scheduler repeats passes, and this command does not write to it; type this line yourself:\n  %s\nand to end it: schtasks /Delete /TN %s", schedule.Schtasks(j, every), j.Name())
}

var goos = runtime.GOOS // of this machine

// now makes the plan of this machine, with the config in force.
func now(a *cli.App) (plan, *config.Config, error) {
	cfg, err := a.Config()
	if err != nil {
		return plan{}, nil, err
	}
	p, err := newPlan(cfg, a.Environ(), a.Now())
	return p, cfg, err
}

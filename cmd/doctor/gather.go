package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/doubts"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/github"
)

// Scope says how far a look goes.
type Scope string

// The scopes.
const (
	Everything Scope = "everything"
	Offline    Scope = "offline" // only this machine
)

// Gather collects all facts, each on its own: a failure of one does not affect the others.
func Gather(ctx context.Context, a *cli.App, scope Scope) doctor.Facts {
	cfg, read := loadConfig(a)
	f := machine.Examine(ctx, cfg, a.Environ())
	f.Config, f.Now = read, a.Now()
	f.Config.Doubts = append(doubts.Of(cfg), machine.Doubts(cfg, a.Environ())...)
	f.Hosts = hosts(cfg)
	f.Repos = repositories(cfg)
	remember(ctx, cfg, &f)
	if len(read.Problems) > 0 && f.Passes != nil {
		f.Passes.Budgets = nil // they belong to a config that is not in effect
	}
	if len(read.Problems) == 0 {
		f.Schedule = repeats(ctx, a, cfg)
	}
	if scope == Everything {
		ask(ctx, a, cfg, &f)
		return f
	}
	for i := range f.Repos {
		f.Repos[i].Unasked = "GitHub is not asked here"
	}
	return f
}

// loadConfig reads the config. If that is invalid, it returns the parts that do not depend on it.
func loadConfig(a *cli.App) (*config.Config, doctor.Config) {
	cfg, err := a.Config()
	if err == nil {
		return cfg, doctor.Config{Path: cfg.Path, Repos: len(cfg.Repos)}
	}
	read := doctor.Config{Path: a.Environ().ConfigPath, Problems: strings.Split(err.Error(), "\n")}
	if cfg == nil {
		cfg = config.Without(a.Environ())
		cfg.Runtime.Agent = machine.Installed(cfg, a.Environ())
		cfg.Path, _ = filepath.Abs(read.Path) // stays empty if the folder is unknown
	}
	if missing, ok := errors.AsType[*config.MissingError](err); ok {
		read.Problems, read.Do = []string{"there is no config at " + missing.Path}, "gh mergexo init"
	}
	return cfg, read
}

// hosts returns the hosts of the config's repositories; gh's default host if there are none.
func hosts(cfg *config.Config) []doctor.Host {
	var all []doctor.Host
	add := func(name string) {
		for _, h := range all {
			if h.Name == name {
				return
			}
		}
		token := github.Token(name)
		all = append(all, doctor.Host{Name: name, LoggedIn: token != "", Source: source(name), Token: doctor.Token{Kind: doctor.TokenKind(github.TokenKindOf(token))}})
	}
	for _, r := range cfg.Repos {
		add(r.Name.Host)
	}
	if len(all) == 0 {
		add(github.DefaultHost())
	}
	for i := range all {
		for _, r := range cfg.Repos {
			if r.Name.Host == all[i].Name && !r.Protects(".github/workflows/ci.yml") {
				all[i].Needs.Workflows = true
			}
		}
	}
	return all
}

// source names where a token comes from.
func source(host string) string {
	switch s := github.TokenSource(host); s {
	case "oauth_token":
		return "gh's hosts.yml"
	case "gh":
		return "gh's keyring"
	default:
		return s
	}
}

// repeats returns the schedule that repeats passes with the config.
func repeats(ctx context.Context, a *cli.App, cfg *config.Config) *doctor.Schedule {
	st, err := schedule.Look(ctx, a, cfg)
	if err != nil {
		return &doctor.Schedule{Trouble: err.Error()}
	}
	return &doctor.Schedule{
		Installed: st.Scheduler != "", Active: st.Active, Differs: st.Differs,
		Says: st.Says(),
	}
}

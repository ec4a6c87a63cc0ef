package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// Look makes all checks.
func Look(ctx context.Context, a *cli.App) []doctor.Check { return look(ctx, a, false) }

// look makes all checks. notify also sends a test message to each [[notify]].
func look(ctx context.Context, a *cli.App, notify bool) []doctor.Check {
	cfg, f := gather(ctx, a)
	ask(ctx, a, cfg, &f)
	if notify {
		f.Messages = sendTests(ctx, a, cfg)
	}
	return doctor.Run(f, doctor.AtDoctor)
}

// gather collects the facts that need no network, each on its own: a failure of one does not affect
// the others.
func gather(ctx context.Context, a *cli.App) (*config.Config, doctor.Facts) {
	cfg, read := loadConfig(a)
	f := machine.Examine(ctx, cfg, a.Environ(), a.Now)
	f.Config, f.Now = read, a.Now()
	f.Config.Doubts = append(config.Doubts(cfg), machine.SettingDoubts(cfg, a.Environ())...)
	f.Hosts = hosts(cfg)
	f.Repos = repositories(cfg)
	addStored(ctx, cfg, &f)
	if len(read.Problems) > 0 {
		f.LimitsCost = false // the config is not in effect
		if read.Do == "" {
			f.Agents = nil // the same; without a config, doctor tells which agents there are
		}
	}
	st, err := schedule.Look(ctx, a, cfg)
	if len(read.Problems) == 0 && !schedule.InDemo(a) { // there, nothing is scheduled
		f.Schedule = repeats(st, err)
	}
	return cfg, f
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
	names := machine.Hosts(cfg)
	if len(names) == 0 {
		names = []string{github.DefaultHost()}
	}
	return terminal.Each(names, func(name string) doctor.Host {
		token := github.Token(name)
		return doctor.Host{
			Name: name, LoggedIn: token != "", Source: source(name), Token: doctor.Token{Kind: doctor.TokenKind(github.TokenKindOf(token))},
			Needs: doctor.Needs{Workflows: slices.ContainsFunc(cfg.Repos, func(r config.Repo) bool {
				return r.Name.Host == name && !r.Protects(".github/workflows/ci.yml")
			})},
		}
	})
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
func repeats(st schedule.State, err error) *doctor.Schedule {
	if err != nil {
		return &doctor.Schedule{Trouble: err.Error()}
	}
	return st.Facts()
}

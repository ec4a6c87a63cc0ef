package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Config reads the configuration that --config or the environment names.
func (a *App) Config() (*config.Config, error) {
	cfg, err := config.Load(a.Environ(), github.DefaultHost())
	if _, missing := errors.AsType[*config.MissingError](err); missing {
		return nil, Coded(CodeNoConfig, err)
	}
	if err != nil {
		return nil, Coded(CodeBadConfig, err)
	}
	a.StateDir = cfg.Runtime.StateDir
	a.knowDatabase(&cfg.Runtime)
	for _, name := range cfg.EnvPass() {
		value, _ := a.Environ().Lookup(name)
		a.Secrets().AddVariable(name, value)
	}
	return cfg, Coded(CodeBadConfig, cfg.CheckAccounts(github.KnownAccounts))
}

// knowDatabase keeps the password of the database out of what is printed, and out of the environment of
// other programs.
func (a *App) knowDatabase(run *config.Runtime) {
	a.hidden = run.Hidden()
	a.Secrets().AddAddress(run.DatabaseURL(), "a part of the URL of the database")
	if value, _ := environ.Read().Lookup("PGPASSWORD"); run.DatabaseKey() != "" {
		a.Secrets().Add(value, "the value of PGPASSWORD")
	}
}

// Environ returns the environment, with the config that --config names.
func (a *App) Environ() environ.Env {
	env := environ.Read().Hide(a.hidden)
	if a.ConfigPath != "" {
		env.ConfigPath, env.ConfigNamed = a.ConfigPath, true
	}
	return env
}

// Repos returns the configured repositories, or only the named one.
func Repos(cfg *config.Config, only string) ([]work.RepoName, error) {
	all := terminal.Each(cfg.Repos, func(r config.Repo) work.RepoName { return r.Name })
	if only == "" {
		return all, nil
	}
	if found, ok := short(all, only); ok {
		return []work.RepoName{found}, nil
	}
	wanted, err := work.ParseRepoName(only, github.DefaultHost())
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	if r, ok := cfg.Repo(wanted); ok {
		return []work.RepoName{r.Name}, nil
	}
	short := slices.DeleteFunc(slices.Clone(all), func(n work.RepoName) bool { return !strings.EqualFold(n.FullName(), only) })
	if len(short) == 1 { // on another host than gh's own
		return short, nil
	}
	err = fmt.Errorf("repository %s is not in %s; known: %s", wanted, cfg.Path, Names(all))
	return nil, Coded(CodeUnknownRepository, DidYouMean(err, wanted.FullName(), terminal.Each(all, work.RepoName.FullName), ""))
}

// FindRepo finds the row of a configured repository. Of several rows with that name, it returns the
// one that has it now, or had it last.
func FindRepo(known []work.Repo, name work.RepoName) work.Repo {
	found := work.Repo{Name: name}
	for _, r := range known {
		if !r.Name.Equal(name) {
			continue
		}
		if r.RemovedAt.IsZero() {
			return r
		}
		if r.RemovedAt.After(found.RemovedAt) {
			found = r
		}
	}
	return found
}

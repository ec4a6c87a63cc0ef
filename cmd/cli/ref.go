package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Ref names an issue or pull request.
type Ref struct {
	Repo   work.RepoName
	Number int
}

// Called returns the item's name, with the host if another configured host has the same repository
// name: a person may type it again.
func (r Ref) Called(cfg *config.Config) string {
	return fmt.Sprintf("%s#%d", cfg.Called(r.Repo), r.Number)
}

// Item reads the config and resolves the name of an item.
func (a *App) Item(name string) (*config.Config, Ref, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, Ref{}, err
	}
	configured, err := Repos(cfg, "")
	if err != nil {
		return nil, Ref{}, err
	}
	which, err := parseRef(name, github.DefaultHost(), configured)
	return cfg, which, err
}

// parseRef reads owner/name#12, host/owner/name#12, #12, 12, or the URL of an issue or pull
// request. A missing repository means the only configured one.
func parseRef(s, defaultHost string, repos []work.RepoName) (Ref, error) {
	repo, number, found := strings.Cut(s, "#")
	if !found || strings.Contains(repo, "://") {
		repo, number = splitURL(s)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 {
		return Ref{}, &UsageError{Err: fmt.Errorf("%q is no issue or pull request: want owner/name#12, 12 or its URL", s)}
	}
	if repo == "" {
		if len(repos) != 1 {
			return Ref{}, &UsageError{Err: fmt.Errorf("%d repositories are configured, so #%d is ambiguous: write owner/name#%d", len(repos), n, n)}
		}
		return Ref{repos[0], n}, nil
	}
	if found, ok := short(repos, repo); ok {
		return Ref{found, n}, nil
	}
	name, err := work.ParseRepoName(repo, defaultHost)
	if err != nil {
		return Ref{}, &UsageError{Err: err}
	}
	hosted := strings.Count(repo, "/") == 2
	for _, known := range repos {
		if known.Equal(name) || !hosted && strings.EqualFold(known.FullName(), name.FullName()) {
			return Ref{known, n}, nil
		}
	}
	return Ref{}, Coded(CodeUnknownRepository, fmt.Errorf("repository %s is not in the config; known: %s", name, Names(repos)))
}

// short finds the one configured repository with this name, without its owner.
func short(repos []work.RepoName, name string) (work.RepoName, bool) {
	named := slices.DeleteFunc(slices.Clone(repos), func(r work.RepoName) bool { return !strings.EqualFold(r.Name, name) })
	if len(named) != 1 {
		return work.RepoName{}, false
	}
	return named[0], true
}

// splitURL cuts https://host/owner/name/pull/12 into repository and number; a bare number has no
// repository. Scheme, port and what follows the number are ignored.
func splitURL(s string) (repo, number string) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "", s
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) < 4 || (parts[2] != "issues" && parts[2] != "pull") {
		return "", ""
	}
	return strings.Join([]string{u.Hostname(), parts[0], parts[1]}, "/"), parts[3]
}

// Names lists repositories in a sentence, with hosts if there are several.
func Names(repos []work.RepoName) string {
	all := make([]string, len(repos))
	for i, r := range repos {
		if all[i] = r.FullName(); slices.ContainsFunc(repos, func(o work.RepoName) bool { return o.Host != r.Host }) {
			all[i] = r.String()
		}
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// AgentNamed finds an agent of the config.
func AgentNamed(cfg *config.Config, name string) (config.Agent, error) {
	ag, ok := cfg.Agents[name]
	if !ok {
		return ag, &UsageError{Err: fmt.Errorf("unknown agent %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(cfg.Agents)), ", "))}
	}
	return ag, nil
}

package cmd

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// ref names an issue or pull request as people do.
type ref struct {
	repo   work.RepoName
	number int
}

// called is the item with its repository's host where that is needed: what a person
// types after it must not mean the other host's.
func (r ref) called(cfg *config.Config) string {
	return fmt.Sprintf("%s#%d", cfg.Called(r.repo), r.number)
}

// item reads the config, and finds the item of it that is named.
func (a *app) item(name string) (*config.Config, ref, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, ref{}, err
	}
	configured, err := repos(cfg, "")
	if err != nil {
		return nil, ref{}, err
	}
	which, err := parseRef(name, github.DefaultHost(), configured)
	return cfg, which, err
}

// parseRef reads owner/name#12, host/owner/name#12, #12 or 12, and the address
// of an issue or pull request. Without a repository the only one there is is
// meant.
func parseRef(s, defaultHost string, repos []work.RepoName) (ref, error) {
	repo, number, found := strings.Cut(s, "#")
	if !found || strings.Contains(repo, "://") {
		repo, number = splitURL(s)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 {
		return ref{}, &usageError{fmt.Errorf("%q names no issue or pull request: want owner/name#12, #12 or its address", s)}
	}
	if repo == "" {
		if len(repos) != 1 {
			return ref{}, &usageError{fmt.Errorf("%d repositories are configured: which one's #%d is meant? Write owner/name#%d", len(repos), n, n)}
		}
		return ref{repos[0], n}, nil
	}
	name, err := work.ParseRepoName(repo, defaultHost)
	if err != nil {
		return ref{}, &usageError{err}
	}
	hosted := strings.Count(repo, "/") == 2
	for _, known := range repos {
		if known.Equal(name) || !hosted && strings.EqualFold(known.FullName(), name.FullName()) {
			return ref{known, n}, nil
		}
	}
	return ref{}, fmt.Errorf("repository %s is not configured; known: %s", name, names(repos))
}

// splitURL cuts https://host/owner/name/pull/12 into repository and number; a
// bare number has no repository. The scheme, a port and what is after the number
// say nothing about which item is meant.
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

func names(repos []work.RepoName) string {
	all := make([]string, len(repos))
	for i, r := range repos {
		if all[i] = r.FullName(); slices.ContainsFunc(repos, func(o work.RepoName) bool { return o.Host != r.Host }) {
			all[i] = r.String()
		}
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

package setup

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// remoteTime limits how long git may take to read its config.
const remoteTime = 10 * time.Second

// remoteRepositories returns the repositories of the folder's remotes in gh's order: only the one
// chosen by gh repo set-default, or else upstream, github, origin, others.
func remoteRepositories(ctx context.Context, env environ.Env) []work.RepoName {
	git, err := proc.LookPath("git", env.Path)
	if err != nil {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	ask := func(args ...string) string {
		res, err := proc.Run(ctx, proc.Cmd{Path: git, Args: args, Dir: dir, Env: env.Git(), Wall: remoteTime})
		if err != nil || res.Code != 0 {
			return ""
		}
		return string(res.Stdout)
	}
	return named(ask("remote", "-v"), ask("config", "--get-regexp", `^remote\..*\.gh-resolved$`))
}

// named parses git's list of remotes and gh's default among them.
func named(remotes, resolved string) []work.RepoName {
	type remote struct {
		called string
		repo   work.RepoName
	}
	var all []remote
	for line := range strings.Lines(remotes) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if repo, ok := repoOf(fields[1]); ok {
			all = append(all, remote{fields[0], repo})
		}
	}
	rank := []string{"origin", "github", "upstream"}
	sorted.By(all, func(a, b remote) int {
		return cmp.Compare(slices.Index(rank, strings.ToLower(b.called)), slices.Index(rank, strings.ToLower(a.called)))
	})
	var repos []work.RepoName
	for _, r := range all {
		if strings.Contains(resolved, "remote."+r.called+".gh-resolved base") {
			return []work.RepoName{r.repo}
		}
		if !slices.ContainsFunc(repos, r.repo.Equal) {
			repos = append(repos, r.repo)
		}
	}
	return repos
}

// repoOf parses a remote's URL; false if its host is not a GitHub host.
func repoOf(address string) (work.RepoName, bool) {
	host, path := "", ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, path = u.Hostname(), u.Path
	} else if before, after, ok := strings.Cut(address, ":"); ok && !strings.Contains(before, "/") { // git@host:owner/name.git
		host, path = before[strings.LastIndexByte(before, '@')+1:], after
	}
	host = strings.ToLower(host)
	if host == "ssh.github.com" || host == "www.github.com" {
		host = "github.com"
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || strings.Count(path, "/") != 1 {
		return work.RepoName{}, false
	}
	repo, err := work.ParseRepoName(host+"/"+path, host)
	return repo, err == nil
}

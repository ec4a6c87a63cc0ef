package github

import (
	"github.com/cli/go-gh/v2/pkg/config"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// RemoteURL is where git finds a repository: by ssh if gh's git_protocol for
// the host says so, else by https, as `gh repo clone` does.
func RemoteURL(repo work.RepoName) string {
	if protocol(repo.Host) == "ssh" {
		return "git@" + repo.Host + ":" + repo.FullName() + ".git"
	}
	return "https://" + repo.Host + "/" + repo.FullName() + ".git"
}

// protocol reads git_protocol: the host's own, else the general one.
func protocol(host string) string {
	cfg, err := config.Read(nil)
	if err != nil {
		return ""
	}
	for _, keys := range [][]string{{"hosts", host, "git_protocol"}, {"git_protocol"}} {
		if p, err := cfg.Get(keys); err == nil && p != "" {
			return p
		}
	}
	return ""
}

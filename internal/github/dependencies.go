package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// BlockedBy reads the issues that an issue is blocked by: at most 50, so that one page has them. It
// leaves out those that the account may not see. It is empty if the issue or its dependencies are
// gone.
func (c *Client) BlockedBy(ctx context.Context, repo work.RepoName, number int) ([]work.Blocker, error) {
	type blocker struct {
		Issue
		home string
	}
	list, err := transport.ReadAll(ctx, c.api, fmt.Sprintf("repos/%s/issues/%d/dependencies/blocked_by?per_page=100", repo.FullName(), number),
		func(w wireIssue) blocker { return blocker{w.issue(), w.RepositoryURL} })
	if IsStatus(err, http.StatusNotFound, http.StatusGone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s is blocked by: %w", work.Ref(repo, number), err)
	}
	blockers := make([]work.Blocker, 0, len(list))
	for _, b := range list {
		home, err := repoOfURL(b.home, repo.Host)
		if err != nil {
			return nil, fmt.Errorf("read what %s is blocked by: %w", work.Ref(repo, number), err)
		}
		blockers = append(blockers, work.Blocker{Ref: work.Dependency{Repo: home, Number: b.Number}.String(), State: b.Dependency()})
	}
	return blockers, nil
}

// repoOfURL reads the repository of an API address, such as https://api.github.com/repos/octo/app.
func repoOfURL(url, host string) (work.RepoName, error) {
	_, name, _ := strings.Cut(url, "/repos/")
	return work.ParseRepoName(name, host)
}

// Dependency returns the state of an issue that another one waits for.
func (i Issue) Dependency() work.DependencyState {
	switch {
	case i.State == "open":
		return work.DependencyOpen
	case i.StateReason == "not_planned" || i.StateReason == "duplicate":
		return work.DependencyDropped
	}
	return work.DependencyClosed
}

package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// agentsVersion is the version of the API that has GitHub's own agents.
const agentsVersion = "2026-03-10"

// AgentMerge reports whether Agent Merge is on for a pull request: GitHub's own agent then fixes its
// red checks and conflicts. It is not on where the account may not see it, and on a host without it.
// With status 503 GitHub cannot tell.
func (c *Client) AgentMerge(ctx context.Context, repo work.RepoName, number int) (bool, error) {
	_, err := c.api.Send(ctx, transport.Call{
		Method: http.MethodGet, URL: fmt.Sprintf("agents/repos/%s/pulls/%d/agent-merge", repo.FullName(), number), Version: agentsVersion,
	})
	switch {
	case err == nil:
		return true, nil
	case IsStatus(err, http.StatusForbidden, http.StatusNotFound, http.StatusGone):
		return false, nil
	}
	return false, fmt.Errorf("read whether Agent Merge is on for %s: %w", work.Ref(repo, number), err)
}

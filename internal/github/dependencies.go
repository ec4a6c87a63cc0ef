package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// BlockedBy reads the issues that an issue is blocked by: at most 50, so that one page has them. It
// leaves out those that the account may not see. It is empty if the issue or its dependencies are
// gone.
func (c *Client) BlockedBy(ctx context.Context, repo work.RepoName, number int) ([]work.Blocker, error) {
	list, err := transport.ReadAll(ctx, c.api, blockersPath(repo, number)+"?per_page=100", c.issue)
	if IsStatus(err, http.StatusNotFound, http.StatusGone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s is blocked by: %w", work.Ref(repo, number), err)
	}
	blockers := make([]work.Blocker, len(list))
	for n, i := range list {
		blockers[n] = work.Blocker{Ref: i.Ref(), State: i.Dependency()}
	}
	return blockers, nil
}

// AddBlocker makes an issue blocked by another one, which is named by its database id.
func (c *Client) AddBlocker(ctx context.Context, repo work.RepoName, number int, blocker int64) error {
	request := struct {
		ID int64 `json:"issue_id"`
	}{blocker}
	if err := c.api.Write(ctx, http.MethodPost, blockersPath(repo, number), request, &wireIssue{}); err != nil {
		return fmt.Errorf("say what %s is blocked by: %w", work.Ref(repo, number), err)
	}
	return nil
}

// RemoveBlocker removes what AddBlocker made.
func (c *Client) RemoveBlocker(ctx context.Context, repo work.RepoName, number int, blocker int64) error {
	if err := c.api.Write(ctx, http.MethodDelete, blockersPath(repo, number)+"/"+strconv.FormatInt(blocker, 10), nil, nil); err != nil {
		return fmt.Errorf("remove what %s is blocked by: %w", work.Ref(repo, number), err)
	}
	return nil
}

func blockersPath(repo work.RepoName, number int) string {
	return fmt.Sprintf("repos/%s/issues/%d/dependencies/blocked_by", repo.FullName(), number)
}

// SubIssues reads the sub-issues of an issue in the order that people gave them: at most 100, so
// that one page has them. It leaves out those that the account may not see. It is false if the issue
// is gone, or its host has no sub-issues.
func (c *Client) SubIssues(ctx context.Context, repo work.RepoName, number int) (children []Issue, ok bool, err error) {
	children, err = transport.ReadAll(ctx, c.api, fmt.Sprintf("repos/%s/issues/%d/sub_issues?per_page=100", repo.FullName(), number), c.issue)
	if err == nil {
		return children, true, nil
	}
	if err = c.unlessGone(ctx, repo, err); err != nil {
		return nil, false, fmt.Errorf("list the sub-issues of %s: %w", work.Ref(repo, number), err)
	}
	return nil, false, nil
}

// NewChild is a new issue that is a sub-issue from its first moment on.
type NewChild struct {
	RepoNodeID   string // required
	ParentNodeID string // required
	Title        string
	Body         string
}

// Child is an issue that CreateChild opened.
type Child struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

// CreateChild opens a sub-issue.
func (c *Client) CreateChild(ctx context.Context, n NewChild) (Child, error) {
	data, url, err := transport.GraphQLStrict[struct {
		Created struct {
			Issue Child `json:"issue"`
		} `json:"createIssue"`
	}](ctx, c.api, transport.Writes, createChildQuery(), map[string]any{"repo": n.RepoNodeID, "parent": n.ParentNodeID, "title": n.Title, "body": n.Body})
	if err == nil && data.Created.Issue.Number == 0 {
		err = &transport.UnclearError{Err: &transport.BodyError{URL: url, Err: errors.New("no issue")}}
	}
	if err != nil {
		return Child{}, fmt.Errorf("open a sub-issue: %w", err)
	}
	return data.Created.Issue, nil
}

// CloseIssue closes an issue for a reason: work.CloseCompleted or work.CloseNotPlanned.
func (c *Client) CloseIssue(ctx context.Context, repo work.RepoName, number int, reason string) error {
	request := struct {
		State  string `json:"state"`
		Reason string `json:"state_reason"`
	}{"closed", reason}
	if err := c.api.Write(ctx, http.MethodPatch, issuePath(repo, number), request, &wireIssue{}); err != nil {
		return fmt.Errorf("close issue %s: %w", work.Ref(repo, number), err)
	}
	return nil
}

// UpdateIssue replaces the title or the text of an issue or pull request, or both. What is empty is
// not sent, so that it stays as a person edits it at the same time.
func (c *Client) UpdateIssue(ctx context.Context, repo work.RepoName, number int, title, body string) error {
	request := struct {
		Title string `json:"title,omitempty"`
		Body  string `json:"body,omitempty"`
	}{title, body}
	if err := c.api.Write(ctx, http.MethodPatch, issuePath(repo, number), request, &wireIssue{}); err != nil {
		return fmt.Errorf("edit issue %s: %w", work.Ref(repo, number), err)
	}
	return nil
}

func issuePath(repo work.RepoName, number int) string {
	return fmt.Sprintf("repos/%s/issues/%d", repo.FullName(), number)
}

// repoOfURL reads the repository of an API address, such as https://api.github.com/repos/octo/app.
func repoOfURL(url, host string) (work.RepoName, error) {
	_, name, _ := strings.Cut(url, "/repos/")
	return work.ParseRepoName(name, host)
}

// refOfURL reads the reference of an issue's API address; empty if it is none.
func refOfURL(url, host string) string {
	home, number, _ := strings.Cut(url, "/issues/")
	repo, err := repoOfURL(home, host)
	n, bad := strconv.Atoi(number)
	if err != nil || bad != nil || n <= 0 {
		return ""
	}
	return work.Dependency{Repo: repo, Number: n}.String()
}

// Ref names the issue as work.Dependency.String does.
func (i Issue) Ref() string { return work.Dependency{Repo: i.Repo, Number: i.Number}.String() }

// Dependency returns the state of an issue that another one waits for.
func (i Issue) Dependency() work.DependencyState {
	switch {
	case i.State == "open":
		return work.DependencyOpen
	case i.StateReason == work.CloseNotPlanned || i.StateReason == "duplicate":
		return work.DependencyDropped
	}
	return work.DependencyClosed
}

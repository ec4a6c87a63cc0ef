package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Repository is a repository as GitHub reports it.
type Repository struct {
	NodeID        string // survives renames and transfers
	ID            int64
	Current       work.RepoName // the current name
	DefaultBranch string
	Archived      bool
	Disabled      bool
	HasIssues     bool
	CanPush       bool // our account has push permission, as far as GitHub reports it
	Methods       []merging.Method
	WebSignOff    bool
}

type wireRepository struct {
	ID            int64  `json:"id"`
	NodeID        string `json:"node_id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Archived      bool   `json:"archived"`
	Disabled      bool   `json:"disabled"`
	HasIssues     bool   `json:"has_issues"`
	Merge         bool   `json:"allow_merge_commit"`
	Squash        bool   `json:"allow_squash_merge"`
	Rebase        bool   `json:"allow_rebase_merge"`
	WebSignOff    bool   `json:"web_commit_signoff_required"`
	Permissions   struct {
		Pull bool `json:"pull"`
		Push bool `json:"push"`
	} `json:"permissions"`
}

func (w wireRepository) Check() error {
	if w.ID == 0 || w.NodeID == "" || !strings.Contains(w.FullName, "/") {
		return errors.New("no repository")
	}
	return nil
}

// Repository reads a repository by its current or any former name.
func (c *Client) Repository(ctx context.Context, name work.RepoName) (Repository, error) {
	r, err := c.repository(ctx, "repos/"+name.FullName(), name.Host)
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %s: %w", name.FullName(), err)
	}
	return r, nil
}

// RepositoryByID reads a repository by its id, which survives renames. GitHub's own redirects lead
// to this address.
func (c *Client) RepositoryByID(ctx context.Context, host string, id int64) (Repository, error) {
	r, err := c.repository(ctx, fmt.Sprintf("repositories/%d", id), host)
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %d: %w", id, err)
	}
	return r, nil
}

func (c *Client) repository(ctx context.Context, address, host string) (Repository, error) {
	a, err := c.api.Follow(ctx, address)
	if err != nil {
		return Repository{}, err
	}
	var w wireRepository
	if err := a.Decode(&w); err != nil {
		return Repository{}, err
	}
	current, err := work.ParseRepoName(w.FullName, host)
	if err != nil {
		return Repository{}, &transport.BodyError{URL: a.URL, Err: err}
	}
	r := Repository{
		NodeID: w.NodeID, ID: w.ID, Current: current, DefaultBranch: w.DefaultBranch,
		Archived: w.Archived, Disabled: w.Disabled, HasIssues: w.HasIssues, WebSignOff: w.WebSignOff,
		CanPush: w.Permissions.Push || !w.Permissions.Pull, // for an app GitHub reports neither, although it can read
	}
	for _, m := range []struct {
		allowed bool
		method  merging.Method
	}{{w.Squash, merging.Squash}, {w.Merge, merging.MergeCommit}, {w.Rebase, merging.Rebase}} {
		if m.allowed {
			r.Methods = append(r.Methods, m.method)
		}
	}
	return r, nil
}

// escapePath escapes a path but keeps its slashes.
func escapePath(s string) string {
	parts := strings.Split(s, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

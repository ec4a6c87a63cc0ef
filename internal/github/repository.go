package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Repository is what GitHub says of a repository.
type Repository struct {
	NodeID        string // survives renames and transfers
	ID            int64
	Current       work.RepoName // its name today
	DefaultBranch string
	Archived      bool
	CanPush       bool // whether our account may, as far as GitHub says
}

type wireRepository struct {
	ID            int64  `json:"id"`
	NodeID        string `json:"node_id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Archived      bool   `json:"archived"`
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

// Repository reads a repository, by any name that it ever had.
func (c Repositories) Repository(ctx context.Context, name work.RepoName) (Repository, error) {
	r, err := c.repository(ctx, "repos/"+name.FullName(), name.Host)
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %s: %w", name.FullName(), err)
	}
	return r, nil
}

// RepositoryByID reads a repository by what it keeps, whatever its name is: where
// GitHub's own redirects lead.
func (c Repositories) RepositoryByID(ctx context.Context, host string, id int64) (Repository, error) {
	r, err := c.repository(ctx, fmt.Sprintf("repositories/%d", id), host)
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %d: %w", id, err)
	}
	return r, nil
}

func (c Repositories) repository(ctx context.Context, address, host string) (Repository, error) {
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
		return Repository{}, &BodyError{URL: a.URL, Err: err}
	}
	return Repository{
		NodeID: w.NodeID, ID: w.ID, Current: current, DefaultBranch: w.DefaultBranch,
		Archived: w.Archived, CanPush: w.Permissions.Push || !w.Permissions.Pull, // of an app it says neither, and it does read
	}, nil
}

// escapePath keeps the slashes of a branch name.
func escapePath(s string) string {
	parts := strings.Split(s, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

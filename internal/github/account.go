package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func (w wireUser) Check() error {
	if w.ID == 0 || w.Login == "" {
		return errors.New("no user")
	}
	return nil
}

// Viewer is the account whose token we hold. With the ETag of the last answer
// it costs nothing when unchanged.
func (c *Client) Viewer(ctx context.Context, etag string) (acc work.Account, newETag string, notModified bool, err error) {
	a, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: "user", ETag: etag})
	if err != nil {
		return work.Account{}, "", false, fmt.Errorf("read own account: %w", err)
	}
	if a.Status == http.StatusNotModified {
		return work.Account{}, etag, true, nil
	}
	var w wireUser
	if err := a.Decode(&w); err != nil {
		return work.Account{}, "", false, fmt.Errorf("read own account: %w", err)
	}
	return account(&w), a.Header.Get("Etag"), false, nil
}

type wirePermission struct {
	Permission string `json:"permission"`
	RoleName   string `json:"role_name"`
	User       struct {
		ID          int64 `json:"id"`
		Permissions struct {
			Triage bool `json:"triage"`
		} `json:"permissions"`
	} `json:"user"`
}

func (w wirePermission) Check() error {
	switch w.Permission {
	case "admin", "write", "read", "none":
		return nil
	}
	return fmt.Errorf("permission %q", w.Permission)
}

// level tells triage, which permission counts as read, by the role or by what a
// role of the organization's own includes.
func (w wirePermission) level() string {
	if w.Permission == "read" && (w.RoleName == "triage" || w.User.Permissions.Triage) {
		return "triage"
	}
	return w.Permission
}

// Permission is what an account may do in a repository: admin, write, triage,
// read or none. GitHub counts maintain as write. It is asked for by login, which
// may be another one than when the account was seen, or another account's by now.
func (c *Client) Permission(ctx context.Context, repo work.RepoName, who work.Account) (string, error) {
	level, id, err := c.permissionOf(ctx, repo, who.Login)
	if err != nil || id == who.ID || level != "none" && id == 0 {
		return level, err
	}
	var now wireUser
	err = c.api.Get(ctx, fmt.Sprintf("user/%d", who.ID), &now)
	switch {
	case IsStatus(err, http.StatusNotFound): // the account was deleted
		return "none", nil
	case err != nil:
		return "", fmt.Errorf("read what %q is called now: %w", who.Login, err)
	case now.ID != who.ID || strings.EqualFold(now.Login, who.Login):
		return "none", nil
	}
	level, id, err = c.permissionOf(ctx, repo, now.Login)
	if err == nil && id != 0 && id != who.ID {
		level = "none"
	}
	return level, err
}

// permissionOf is what the account with a login may do, and its id; 0: there is none.
func (c *Client) permissionOf(ctx context.Context, repo work.RepoName, login string) (level string, id int64, err error) {
	var w wirePermission
	err = c.api.Get(ctx, "repos/"+repo.FullName()+"/collaborators/"+url.PathEscape(login)+"/permission", &w)
	if IsStatus(err, http.StatusNotFound) { // not a user, such as a deleted account
		return "none", 0, nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("read permission of %q on %s: %w", login, repo.FullName(), err)
	}
	return w.level(), w.User.ID, nil
}

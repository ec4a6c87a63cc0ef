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

// Viewer returns the token's account. With the ETag of the last answer, an unchanged one costs
// nothing.
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

// level distinguishes triage, for which permission is read, by the role or by the permissions of a
// custom role.
func (w wirePermission) level() string {
	if w.Permission == "read" && (w.RoleName == "triage" || w.User.Permissions.Triage) {
		return "triage"
	}
	return w.Permission
}

// Permission returns an account's permission in a repository: admin, write, triage, read or none.
// GitHub reports maintain as write. GitHub takes a login, and the account may have been renamed, or
// its login taken by another account, since it was seen; then the id decides.
func (c *Client) Permission(ctx context.Context, repo work.RepoName, who work.Account) (string, error) {
	level, id, err := c.permissionOf(ctx, repo, who.Login)
	if err != nil || who.ID == 0 || id == who.ID || level != "none" && id == 0 {
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

// KnowsLogin reports whether GitHub has an account with this login. It is false only if GitHub says so:
// after an error it is true. GitHub does not tell apps here.
func (c *Client) KnowsLogin(ctx context.Context, repo work.RepoName, login string) (bool, error) {
	if strings.HasSuffix(login, "[bot]") {
		return true, nil
	}
	level, id, err := c.permissionOf(ctx, repo, login)
	return err != nil || level != "none" || id != 0, err
}

// permissionOf returns the permission and the id of the account with a login; id is 0 if there is
// none.
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

package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Access is the questions about what may be done.
type Access struct{ api *transport.Client }

// New makes the questions over a client.
func New(api *transport.Client) Access { return Access{api} }

type wireViewer struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (w wireViewer) Check() error {
	if w.ID == 0 || w.Login == "" {
		return errors.New("no user")
	}
	return nil
}

// Login is whose token it is, and what GitHub tells of it. An app's installation has no
// account, which GitHub says by refusing: the login is empty then.
func (c Access) Login(ctx context.Context) (login string, t Token, err error) {
	a, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: "user"})
	if refused, ok := errors.AsType[*transport.Error](err); ok && refused.Status == http.StatusForbidden && strings.Contains(refused.Message, "integration") {
		return "", Token{}, nil
	}
	if err != nil {
		return "", Token{}, fmt.Errorf("read own account: %w", err)
	}
	var w wireViewer
	if err := a.Decode(&w); err != nil {
		return "", Token{}, fmt.Errorf("read own account: %w", err)
	}
	t.Scopes, t.Scoped = scopes(a.Header.Values("X-Oauth-Scopes"))
	t.Expires = expiry(a.Header.Get("Github-Authentication-Token-Expiration"))
	return w.Login, t, nil
}

// Repository is what the account may do in a repository, and what holds for everybody.
type Repository struct {
	Current       work.RepoName // its name today
	DefaultBranch string
	Private       bool
	Archived      bool
	Disabled      bool
	HasIssues     bool
	CanPush       bool
	Methods       []merging.Method
	WebSignOff    bool
}

type wireRepository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Private       bool   `json:"private"`
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
	if w.ID == 0 || !strings.Contains(w.FullName, "/") {
		return errors.New("no repository")
	}
	return nil
}

// Repository reads a repository, by any name that it ever had.
func (c Access) Repository(ctx context.Context, name work.RepoName) (Repository, error) {
	a, err := c.api.Follow(ctx, "repos/"+name.FullName())
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %s: %w", name.FullName(), err)
	}
	var w wireRepository
	if err := a.Decode(&w); err != nil {
		return Repository{}, fmt.Errorf("read repository %s: %w", name.FullName(), err)
	}
	current, err := work.ParseRepoName(w.FullName, name.Host)
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %s: %w", name.FullName(), err)
	}
	r := Repository{
		Current: current, DefaultBranch: w.DefaultBranch, Private: w.Private, Archived: w.Archived, Disabled: w.Disabled, HasIssues: w.HasIssues,
		CanPush: w.Permissions.Push || !w.Permissions.Pull, WebSignOff: w.WebSignOff, // of an app it says neither, and it does read
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

type wireRule struct {
	Type string `json:"type"`
}

func (w wireRule) Check() error {
	if w.Type == "" {
		return errors.New("no rule")
	}
	return nil
}

// RuleKinds are the kinds of rules that rulesets have for a branch, which need not exist;
// false where GitHub does not tell them.
func (c Access) RuleKinds(ctx context.Context, repo work.RepoName, branch string) (kinds []string, told bool, err error) {
	address := fmt.Sprintf("repos/%s/rules/branches/%s?per_page=100", repo.FullName(), url.PathEscape(branch))
	kinds, err = transport.Every(ctx, c.api, address, func(w wireRule) string { return w.Type })
	if refused, ok := errors.AsType[*transport.Error](err); ok && (refused.Status == http.StatusNotFound || refused.Status == http.StatusForbidden) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the rules of branch %q of %s: %w", branch, repo.FullName(), err)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), true, nil
}

// escaped keeps the slashes of a branch's name.
func escaped(branch string) string {
	parts := strings.Split(branch, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

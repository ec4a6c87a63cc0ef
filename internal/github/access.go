package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

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

// Login returns the token's account and properties. An app's installation has no account, and
// GitHub refuses the request: then it is empty.
func (c *Client) Login(ctx context.Context) (who work.Account, t TokenInfo, err error) {
	a, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: "user"})
	if refused, ok := errors.AsType[*transport.Error](err); ok && refused.Status == http.StatusForbidden && strings.Contains(refused.Message, "integration") {
		return who, TokenInfo{}, nil
	}
	if err != nil {
		return who, TokenInfo{}, fmt.Errorf("read own account: %w", err)
	}
	var w wireViewer
	if err := a.Decode(&w); err != nil {
		return who, TokenInfo{}, fmt.Errorf("read own account: %w", err)
	}
	t.Scopes, t.Scoped = tokenScopes(a.Header.Values("X-Oauth-Scopes"))
	t.Expires = tokenExpiry(a.Header.Get("Github-Authentication-Token-Expiration"))
	return work.Account{ID: w.ID, Login: w.Login}, t, nil
}

// RuleKinds returns the types of the ruleset rules for a branch, which need not exist; false if
// GitHub does not show them.
func (c *Client) RuleKinds(ctx context.Context, repo work.RepoName, branch string) (kinds []string, told bool, err error) {
	address := fmt.Sprintf("repos/%s/rules/branches/%s?per_page=100", repo.FullName(), url.PathEscape(branch))
	kinds, err = transport.ReadAll(ctx, c.api, address, func(w wireRule) string { return w.Type })
	if refused, ok := errors.AsType[*transport.Error](err); ok && (refused.Status == http.StatusNotFound || refused.Status == http.StatusForbidden) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the rules of branch %q of %s: %w", branch, repo.FullName(), err)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), true, nil
}

// Unreadable is a part of a repository that a token may not read.
type Unreadable struct {
	What   string
	Needed bool   // nothing works without it
	For    string // what does not work without it
}

// readable is a part of a repository with its own permission.
type readable struct {
	Unreadable
	hides int // status that may also mean a missing permission: 404 does not tell more
	path  func(branch string) string
}

// readables has a cheap request for each part.
var readables = []readable{
	{Unreadable{"files", true, "nothing can be fetched or pushed"}, 0, func(b string) string { return "git/ref/heads/" + escapePath(b) }},
	{Unreadable{"issues", true, "work begins with an issue"}, http.StatusNotFound, func(string) string { return "issues?per_page=1" }},
	{Unreadable{"pull requests", true, "none can be followed"}, http.StatusNotFound, func(string) string { return "pulls?per_page=1&state=all" }},
	{
		Unreadable{"checks", false, "of what runs on a head only commit statuses and workflow runs are seen (fine-grained tokens never may)"},
		0,
		func(b string) string { return "commits/" + url.PathEscape(b) + "/check-runs?per_page=1" },
	},
	{Unreadable{"commit statuses", false, "those of other systems are not seen"}, 0, func(b string) string { return "commits/" + url.PathEscape(b) + "/status?per_page=1" }},
}

// Unreadable tries to read each part of a repository that needs its own permission. Parts about
// which GitHub gives no clear answer are in the error instead.
func (c *Client) Unreadable(ctx context.Context, repo work.RepoName, branch string) ([]Unreadable, error) {
	var kept []Unreadable
	var unknown error
	for _, r := range readables {
		_, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: "repos/" + repo.FullName() + "/" + r.path(branch)})
		refused, ok := errors.AsType[*transport.Error](err)
		switch {
		case err == nil:
		case ok && (refused.Status == http.StatusForbidden || refused.Status == r.hides):
			kept = append(kept, r.Unreadable)
		case ok && refused.Status < http.StatusInternalServerError: // an empty repository has no branch: not a matter of permission
		default:
			unknown = errors.Join(unknown, fmt.Errorf("read %s of %s: %w", r.What, repo.FullName(), err))
		}
	}
	return kept, unknown
}

// TokenKind is the kind of a token.
type TokenKind string

// Kinds of tokens.
const (
	ClassicToken     TokenKind = "classic"
	OAuthToken       TokenKind = "oauth"        // from gh's own login
	FineGrainedToken TokenKind = "fine-grained" // with permissions per repository
	AppToken         TokenKind = "app"          // of an installation, or of a user through an app
	UnknownToken     TokenKind = ""             // from before prefixes, or of another kind of host
)

// TokenKindOf returns a token's kind by its prefix.
func TokenKindOf(token string) TokenKind {
	for prefix, kind := range map[string]TokenKind{"ghp_": ClassicToken, "gho_": OAuthToken, "github_pat_": FineGrainedToken, "ghs_": AppToken, "ghu_": AppToken} {
		if strings.HasPrefix(token, prefix) {
			return kind
		}
	}
	return UnknownToken
}

// TokenInfo is what GitHub reports about the token of a request.
type TokenInfo struct {
	Scoped  bool // scopes were reported, as for classic and OAuth tokens
	Scopes  []string
	Expires time.Time // zero: never, or not reported
}

// expiryForms are the header's time formats; they differ between hosts.
var expiryForms = []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700", time.RFC3339}

// tokenExpiry parses the header; zero if its format is unknown.
func tokenExpiry(header string) time.Time {
	for _, form := range expiryForms {
		if at, err := time.Parse(form, header); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// tokenScopes parses the header. It is present, if empty, for tokens that can have scopes.
func tokenScopes(header []string) (all []string, told bool) {
	for name := range strings.SplitSeq(strings.Join(header, ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all, len(header) > 0
}

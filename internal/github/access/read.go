package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Unreadable is something of a repository that a token is kept from.
type Unreadable struct {
	What   string
	Needed bool   // nothing goes without it
	For    string // what does not
}

// readable is something of a repository that has a permission of its own.
type readable struct {
	Unreadable
	hides int // the status that stands for a missing permission, too: 404 tells no more than that
	path  func(branch string) string
}

// readables are all of them, with the least that GitHub gives of each.
var readables = []readable{
	{Unreadable{"files", true, "nothing can be fetched or pushed"}, 0, func(b string) string { return "git/ref/heads/" + escaped(b) }},
	{Unreadable{"issues", true, "work begins with an issue"}, http.StatusNotFound, func(string) string { return "issues?per_page=1" }},
	{Unreadable{"pull requests", true, "none can be followed"}, http.StatusNotFound, func(string) string { return "pulls?per_page=1&state=all" }},
	{
		Unreadable{"checks", false, "of what runs on a head only commit statuses and workflow runs are seen (fine-grained tokens never may)"},
		0,
		func(b string) string { return "commits/" + url.PathEscape(b) + "/check-runs?per_page=1" },
	},
	{Unreadable{"commit statuses", false, "those of other systems are not seen"}, 0, func(b string) string { return "commits/" + url.PathEscape(b) + "/status?per_page=1" }},
}

// Unreadable tries to read each thing of a repository that a token may be kept from. What
// GitHub gives no answer about is in the error, and in no list.
func (c Access) Unreadable(ctx context.Context, repo work.RepoName, branch string) ([]Unreadable, error) {
	var kept []Unreadable
	var unknown error
	for _, r := range readables {
		_, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: "repos/" + repo.FullName() + "/" + r.path(branch)})
		refused, ok := errors.AsType[*transport.Error](err)
		switch {
		case err == nil:
		case ok && (refused.Status == http.StatusForbidden || refused.Status == r.hides):
			kept = append(kept, r.Unreadable)
		case ok && refused.Status < http.StatusInternalServerError: // an empty repository has no branch: that is no matter of permission
		default:
			unknown = errors.Join(unknown, fmt.Errorf("read %s of %s: %w", r.What, repo.FullName(), err))
		}
	}
	return kept, unknown
}

package actions

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// related is what the actions on a roadmap's issues need from GitHub.
type related interface {
	Issue(ctx context.Context, repo work.RepoName, number int) (github.Issue, bool, error)
	IssueWherever(ctx context.Context, repo work.RepoName, number int) (github.Issue, bool, error)
	IssuesSince(ctx context.Context, repo work.RepoName, since time.Time) ([]github.Issue, error)
	SubIssues(ctx context.Context, repo work.RepoName, number int) ([]github.Issue, bool, error)
	CreateIssue(ctx context.Context, repo work.RepoName, title, body string) (github.Issue, error)
	CreateChild(ctx context.Context, n github.NewChild) (github.Child, error)
	BlockedBy(ctx context.Context, repo work.RepoName, number int) ([]work.Blocker, error)
	AddBlocker(ctx context.Context, repo work.RepoName, number int, blocker int64) error
	RemoveBlocker(ctx context.Context, repo work.RepoName, number int, blocker int64) error
	CloseIssue(ctx context.Context, repo work.RepoName, number int, reason string) error
	UpdateIssue(ctx context.Context, repo work.RepoName, number int, title, body string) error
}

// child opens the sub-issue of a roadmap's node. Number is the roadmap's issue, Target the node. It
// has no label, so that nothing begins before its edges are set. The result is its number. Without a
// node it opens a follow-up of any issue, on a host without sub-issues as an issue of its own.
type child struct{ parent string } // node id of the roadmap's issue; empty: the host has no sub-issues

// find looks among the sub-issues of the roadmap's issue, and among all issues that changed since it
// was opened: a person may have removed the sub-issue from its parent. One that was transferred is
// not opened again.
func (e *child) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	parent, ok, err := s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
	if err == nil && !ok {
		err = &overError{why: "the roadmap's issue is gone", how: work.EndedGone}
	}
	if err != nil {
		return observation{}, false, err
	}
	e.parent = parent.NodeID
	children, ok, err := s.GitHub.SubIssues(ctx, s.Repo.Current, a.Number)
	if err == nil && !ok {
		if e.parent = ""; !a.Followup() {
			err = &overError{why: "this host has no sub-issues", how: work.EndedRefused}
		}
	}
	if err != nil {
		return observation{}, false, err
	}
	if seen, ok, err := e.among(s, a, children); ok || err != nil {
		return seen, ok, err
	}
	since := lookSince(a)
	switch {
	case since.IsZero() && a.Followup() && e.parent != "": // its parent may be years old
		return observation{}, false, nil
	case since.IsZero():
		since = parent.CreatedAt
	}
	all, err := s.GitHub.IssuesSince(ctx, s.Repo.Current, since)
	if err != nil {
		return observation{}, false, err
	}
	return e.among(s, a, all)
}

// among finds the sub-issue. Further copies with our text are closed.
func (*child) among(s Scope, a work.Action, all []github.Issue) (observation, bool, error) {
	var found []posted
	for _, i := range all {
		switch {
		case !isOurs(s, a, i.Body, i.Author):
		case !i.Repo.Equal(s.Repo.Current):
			return observation{}, false, &overError{why: "a person transferred it to " + i.Repo.FullName(), how: work.EndedTransferred}
		default:
			found = append(found, posted{int64(i.Number), i.URL, i.Body, i.Author, i.CreatedAt})
		}
	}
	seen, ok := chooseCopy(a, found)
	return seen, ok, nil
}

// do looks again after a refusal, and after a send whose predecessor had no answer: GitHub may have
// opened an issue that it could not link, and an earlier copy may show only now.
func (e *child) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	if e.parent == "" {
		seen, err := issue{}.do(ctx, s, a)
		return seen, overIfRefused(err)
	}
	made, err := s.GitHub.CreateChild(ctx, github.NewChild{RepoNodeID: s.Repo.NodeID, ParentNodeID: e.parent, Title: a.Title, Body: a.Body})
	if _, refused := github.RefusalOf(err); refused || err == nil && a.Sends > 1 {
		if seen, ok, look := e.find(ctx, s, a); ok && look == nil {
			return seen, nil
		}
	}
	return observation{id: strconv.Itoa(made.Number), url: made.URL}, overIfRefused(err)
}

// overIfRefused ends an action that GitHub refuses for its content, such as a hundredth and first
// sub-issue, or for lack of permission: sending it again changes nothing. "Taken" is the word for
// what exists, which lists may not show yet, and for a sibling that is being added at this moment.
func overIfRefused(err error) error {
	refusal, refused := github.RefusalOf(err)
	switch {
	case !refused:
		return err
	case strings.Contains(refusal.Text, "already been taken"):
		return &transport.UnclearError{Err: err}
	}
	return &overError{why: "GitHub refused it: " + refusal.Text, how: work.EndedRefused}
}

// listedPart returns an issue as the list of the parts of the action's roadmap shows it: one list shows all.
func listedPart(ctx context.Context, s Scope, a work.Action, d work.Dependency) (is github.Issue, ok bool, err error) {
	roadmap, err := strconv.Atoi(a.Extra)
	if err != nil {
		return is, false, nil //nolint:nilerr // it belongs to no roadmap
	}
	all, _, err := s.GitHub.SubIssues(ctx, s.Repo.Current, roadmap)
	if at := slices.IndexFunc(all, func(i github.Issue) bool { return i.Number == d.Number && i.Repo.Equal(d.Repo) }); at >= 0 {
		return all[at], true, err
	}
	return is, false, err
}

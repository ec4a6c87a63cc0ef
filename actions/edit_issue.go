package actions

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// editIssue replaces the title and the text of an issue that we opened. Base is the work.IssueHash
// of what it replaces: what a person edited since stays. Body ends with the token of the issue, so
// that the issue is still found by it.
type editIssue struct{ is github.Issue }

func (e *editIssue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	is, ok, err := s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
	e.is = is
	switch {
	case err != nil:
	case !ok:
		err = &overError{why: "the issue is gone", how: work.EndedGone}
	case is.Title == a.Title && sameBody(is.Body, a.Body):
		return observation{id: strconv.Itoa(a.Number), url: is.URL}, true, nil
	case work.IssueHash(is.Title, is.Body) != a.Base:
		err = &overError{why: "a person edited the issue", how: work.EndedEdited}
	}
	return observation{}, false, err
}

// do sends only what differs: the other one may be edited by a person right now.
func (e *editIssue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	title, body := a.Title, a.Body
	if title == e.is.Title {
		title = ""
	}
	if sameBody(body, e.is.Body) {
		body = ""
	}
	err := s.GitHub.UpdateIssue(ctx, s.Repo.Current, a.Number, title, body)
	return observation{id: strconv.Itoa(a.Number)}, overIfRefused(err)
}

package actions

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// editIssue replaces the title and the text of an issue that we opened. Base is the work.IssueHash
// of what it replaces: what a person edited since stays. Body ends with the token of the issue, so
// that the issue is still found by it.
type editIssue struct{}

func (editIssue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	is, ok, err := s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
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

func (editIssue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	err := s.GitHub.UpdateIssue(ctx, s.Repo.Current, a.Number, a.Title, a.Body)
	return observation{id: strconv.Itoa(a.Number)}, overIfRefused(err)
}

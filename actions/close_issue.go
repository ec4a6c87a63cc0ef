package actions

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// closeIssue closes an issue; Target is the reason. An issue that anybody closed counts too, for
// whichever reason.
type closeIssue struct{}

func (closeIssue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	is, ok, err := s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
	if err == nil && !ok {
		err = &overError{why: "the issue is gone", how: work.EndedGone}
	}
	return observation{id: strconv.Itoa(a.Number), url: is.URL}, err == nil && is.State != "open", err
}

func (closeIssue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	err := s.GitHub.CloseIssue(ctx, s.Repo.Current, a.Number, a.Target)
	return observation{id: strconv.Itoa(a.Number)}, overIfRefused(err)
}

package actions

import (
	"cmp"
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// editPull replaces the title of a pull request that we opened, its text, or both; what is empty stays.
// What stands below the text, the line about its issue and our markers, stays, too. Base is the
// work.IssueHash of what the agent saw: what a person edited since stays.
type editPull struct{ pull github.Pull }

func (e *editPull) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	if !ok || p.State != work.PullOpen {
		return observation{}, false, &overError{why: "the pull request is not open any more", how: work.EndedGone}
	}
	e.pull = p
	text, _ := work.SplitPull(p.Body)
	if p.Title == cmp.Or(a.Title, p.Title) && (a.Body == "" || sameBody(text, a.Body)) {
		return observation{id: strconv.Itoa(a.Number), url: p.URL}, true, nil
	}
	if work.IssueHash(p.Title, p.Body) != a.Base {
		err = &overError{why: "a person edited the pull request", how: work.EndedEdited}
	}
	return observation{}, false, err
}

// do returns a refusal as it is, so that its turn is tried again and shown: nothing else would say that the
// edit was not made.
func (e *editPull) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	body := a.Body
	if body != "" {
		_, tail := work.SplitPull(e.pull.Body)
		body += "\n\n" + tail
	}
	err := s.GitHub.UpdateIssue(ctx, s.Repo.Current, a.Number, a.Title, body)
	return observation{id: strconv.Itoa(a.Number), url: e.pull.URL}, err
}

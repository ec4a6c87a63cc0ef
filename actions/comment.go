package actions

import (
	"context"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// comments is what comment and remove need from GitHub.
type comments interface {
	CommentsOf(ctx context.Context, repo work.RepoName, number int, since time.Time) ([]github.Comment, error)
	CreateComment(ctx context.Context, repo work.RepoName, number int, body string) (github.Comment, error)
	Comment(ctx context.Context, repo work.RepoName, id int64) (github.Comment, bool, error)
	UpdateComment(ctx context.Context, repo work.RepoName, id int64, body string) error
	DeleteComment(ctx context.Context, repo work.RepoName, id int64) error
}

// comment is a comment in the conversation of an issue or pull request.
type comment struct{}

func (comment) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	all, err := s.GitHub.CommentsOf(ctx, s.Repo.Current, a.Number, lookSince(a))
	if err != nil {
		return observation{}, false, err
	}
	got, ok := copies(s, a, all, func(c github.Comment) posted { return posted{c.ID, c.URL, c.Body, c.Author, c.CreatedAt} })
	return got, ok, nil
}

func (comment) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	c, err := s.GitHub.CreateComment(ctx, s.Repo.Current, a.Number, a.Body)
	if err != nil {
		return observation{}, err
	}
	return observation{id: strconv.FormatInt(c.ID, 10), url: c.URL}, nil
}

// lookSlack covers the difference between GitHub's clock and ours.
const lookSlack = 10 * time.Minute

// lookSince returns the time since when an action is looked for. A row that was never sent is
// looked for without a limit: it may have been sent before the database was lost. A sent row cannot
// be on GitHub from before it was planned.
func lookSince(a work.Action) time.Time {
	if a.Sends == 0 || a.PlannedAt.IsZero() {
		return time.Time{}
	}
	return a.PlannedAt.Add(-lookSlack)
}

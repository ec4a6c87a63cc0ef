package ingest

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

func (h *Reading) readIssues(ctx context.Context) (err error) {
	w := batch.Walk[github.Issue]{Name: batch.WalkIssues, Address: github.IssuesURL, List: h.R.GitHub.ListIssues, Since: &h.Repo.IssuesSince, Updated: func(i github.Issue) time.Time { return i.UpdatedAt }}
	h.ListedIssues, _, err = w.Read(ctx, h.Batch)
	return err
}

func (h *Reading) readComments(ctx context.Context) (err error) {
	w := batch.Walk[github.Comment]{Name: batch.WalkComments, Address: github.CommentsURL, List: h.R.GitHub.ListComments, Since: &h.Repo.CommentsSince, Updated: func(c github.Comment) time.Time { return c.UpdatedAt }}
	h.ListedComments, _, err = w.Read(ctx, h.Batch)
	return err
}

func (h *Reading) readReviewComments(ctx context.Context) (err error) {
	w := batch.Walk[github.ReviewComment]{Name: batch.WalkReviewComments, Address: github.ReviewCommentsURL, List: h.R.GitHub.ListReviewComments, Since: &h.Repo.ReviewCommentsSince, Updated: func(c github.ReviewComment) time.Time { return c.UpdatedAt }}
	h.ReviewComments, _, err = w.Read(ctx, h.Batch)
	return err
}

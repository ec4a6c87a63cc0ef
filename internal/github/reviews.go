package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

type wireReview struct {
	ID          int64     `json:"id"`
	NodeID      string    `json:"node_id"`
	State       string    `json:"state"`
	Body        string    `json:"body"`
	User        *wireUser `json:"user"`
	CommitID    string    `json:"commit_id"`
	SubmittedAt time.Time `json:"submitted_at"` // absent in a draft
	HTMLURL     string    `json:"html_url"`
}

func (w wireReview) Check() error {
	if w.ID == 0 || w.State == "" {
		return errors.New("no review")
	}
	return nil
}

func (w wireReview) review() Review {
	return Review{
		ID: w.ID, NodeID: w.NodeID, State: w.State, Body: w.Body, Author: account(w.User), CommitOID: w.CommitID,
		SubmittedAt: w.SubmittedAt, UpdatedAt: w.SubmittedAt, URL: w.HTMLURL,
	}
}

func reviewsPath(repo work.RepoName, pull int) string {
	return fmt.Sprintf("repos/%s/pulls/%d/reviews", repo.FullName(), pull)
}

// Reviews lists the reviews of a pull request, oldest first; the only drafts are our own. REST does
// not report edits, so UpdatedAt is SubmittedAt.
func (c *Client) Reviews(ctx context.Context, repo work.RepoName, pull int) ([]Review, error) {
	reviews, err := transport.ReadAll(ctx, c.api, reviewsPath(repo, pull)+"?per_page=100", wireReview.review)
	if err != nil {
		return nil, fmt.Errorf("list reviews of %s: %w", work.Ref(repo, pull), err)
	}
	return reviews, nil
}

// OwnPendingReview reports whether our account has a draft review on a pull request. GitHub then
// refuses our replies and reviews, and shows the draft to nobody else.
func (c *Client) OwnPendingReview(ctx context.Context, repo work.RepoName, pull int) (bool, error) {
	reviews, err := c.Reviews(ctx, repo, pull)
	return slices.ContainsFunc(reviews, func(r Review) bool { return r.State == pending }), err
}

// Events of a review.
const (
	ReviewApproves = "APPROVE"
	ReviewRequests = "REQUEST_CHANGES"
	ReviewComments = "COMMENT"
)

// NewReview is a review of one commit of a pull request, submitted at creation.
type NewReview struct {
	CommitOID string // the reviewed commit
	Event     string // ReviewApproves, ReviewRequests or ReviewComments
	Body      string // GitHub requires one unless the review approves
	Comments  []NewReviewComment
}

// NewReviewComment is a comment on a line of the new side of the diff. GitHub accepts no file
// comments in a review.
type NewReviewComment struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Body string `json:"body"`
}

type wireNewComment struct {
	NewReviewComment
	Side string `json:"side"`
}

// CreateReview submits a review with its comments.
func (c *Client) CreateReview(ctx context.Context, repo work.RepoName, pull int, n NewReview) (Review, error) {
	comments := make([]wireNewComment, 0, len(n.Comments))
	for _, x := range n.Comments {
		comments = append(comments, wireNewComment{x, "RIGHT"})
	}
	request := struct {
		CommitID string           `json:"commit_id"`
		Event    string           `json:"event"`
		Body     string           `json:"body"`
		Comments []wireNewComment `json:"comments"`
	}{n.CommitOID, n.Event, n.Body, comments}
	var w wireReview
	if err := c.api.Write(ctx, http.MethodPost, reviewsPath(repo, pull), request, &w); err != nil {
		return Review{}, fmt.Errorf("review %s: %w", work.Ref(repo, pull), err)
	}
	return w.review(), nil
}

// EditReview replaces a review's text; comments and verdict stay.
func (c *Client) EditReview(ctx context.Context, repo work.RepoName, pull int, id int64, body string) (Review, error) {
	var w wireReview
	if err := c.api.Write(ctx, http.MethodPut, fmt.Sprintf("%s/%d", reviewsPath(repo, pull), id), bodyRequest{body}, &w); err != nil {
		return Review{}, fmt.Errorf("edit review %d of %s: %w", id, work.Ref(repo, pull), err)
	}
	return w.review(), nil
}

// DismissReview dismisses an approval or a request for changes. On a protected branch only some
// accounts may. GitHub refuses to dismiss a review that only comments.
func (c *Client) DismissReview(ctx context.Context, repo work.RepoName, pull int, id int64, message string) (Review, error) {
	request := struct {
		Message string `json:"message"`
		Event   string `json:"event"`
	}{message, "DISMISS"}
	var w wireReview
	if err := c.api.Write(ctx, http.MethodPut, fmt.Sprintf("%s/%d/dismissals", reviewsPath(repo, pull), id), request, &w); err != nil {
		return Review{}, fmt.Errorf("dismiss review %d of %s: %w", id, work.Ref(repo, pull), err)
	}
	return w.review(), nil
}

// CommentsOfReview lists the diff comments of a review.
func (c *Client) CommentsOfReview(ctx context.Context, repo work.RepoName, pull int, id int64) ([]ReviewComment, error) {
	comments, err := transport.ReadAll(ctx, c.api, fmt.Sprintf("%s/%d/comments?per_page=100", reviewsPath(repo, pull), id), wireReviewComment.comment)
	if err != nil {
		return nil, fmt.Errorf("list the comments of review %d of %s: %w", id, work.Ref(repo, pull), err)
	}
	return comments, nil
}

type wireRequested struct {
	Users *[]wireUser `json:"users"`
}

func (w wireRequested) Check() error {
	if w.Users == nil {
		return errors.New("no list of reviewers")
	}
	return nil
}

func requestedPath(repo work.RepoName, pull int) string {
	return fmt.Sprintf("repos/%s/pulls/%d/requested_reviewers", repo.FullName(), pull)
}

// RequestedReviewers lists the people whose review is requested and pending.
func (c *Client) RequestedReviewers(ctx context.Context, repo work.RepoName, pull int) ([]work.Account, error) {
	var w wireRequested
	if err := c.api.Get(ctx, requestedPath(repo, pull), &w); err != nil {
		return nil, fmt.Errorf("list the requested reviewers of %s: %w", work.Ref(repo, pull), err)
	}
	all := make([]work.Account, 0, len(*w.Users))
	for _, u := range *w.Users {
		all = append(all, account(&u))
	}
	return all, nil
}

// RequestReviewers requests reviews from people. GitHub refuses the author and non-collaborators;
// then it requests none at all.
func (c *Client) RequestReviewers(ctx context.Context, repo work.RepoName, pull int, logins ...string) error {
	request := struct {
		Reviewers []string `json:"reviewers"`
	}{logins}
	var w wirePull
	if err := c.api.Write(ctx, http.MethodPost, requestedPath(repo, pull), request, &w); err != nil {
		return fmt.Errorf("request the review of %s: %w", work.Ref(repo, pull), err)
	}
	return nil
}

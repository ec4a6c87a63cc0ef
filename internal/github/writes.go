package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

type bodyRequest struct {
	Body string `json:"body"`
}

// CreateComment adds a comment to the conversation of an issue or pull request.
func (c *Client) CreateComment(ctx context.Context, repo work.RepoName, number int, body string) (Comment, error) {
	var w wireComment
	address := fmt.Sprintf("repos/%s/issues/%d/comments", repo.FullName(), number)
	if err := c.api.Write(ctx, http.MethodPost, address, bodyRequest{body}, &w); err != nil {
		return Comment{}, fmt.Errorf("comment on %s: %w", work.Ref(repo, number), err)
	}
	return w.comment(), nil
}

// Reply adds a comment to a review thread. top must be the thread's first comment; GitHub accepts
// no other.
func (c *Client) Reply(ctx context.Context, repo work.RepoName, pull int, top int64, body string) (ReviewComment, error) {
	var w wireReviewComment
	address := fmt.Sprintf("repos/%s/pulls/%d/comments/%d/replies", repo.FullName(), pull, top)
	if err := c.api.Write(ctx, http.MethodPost, address, bodyRequest{body}, &w); err != nil {
		return ReviewComment{}, fmt.Errorf("reply to review comment %d of %s: %w", top, work.Ref(repo, pull), err)
	}
	return w.comment(), nil
}

// NewPull is a new pull request from a branch of the same repository.
type NewPull struct {
	Title string
	Body  string
	Head  string // branch
	Base  string // branch
	Draft bool   // where a repository may have no drafts, NoDrafts is true for the error
}

// CreatePull opens a pull request.
func (c *Client) CreatePull(ctx context.Context, repo work.RepoName, n NewPull) (Pull, error) {
	var w wirePull
	request := struct {
		Title string `json:"title"`
		Body  string `json:"body"`
		Head  string `json:"head"`
		Base  string `json:"base"`
		Draft bool   `json:"draft,omitempty"`
	}(n)
	if err := c.api.Write(ctx, http.MethodPost, "repos/"+repo.FullName()+"/pulls", request, &w); err != nil {
		return Pull{}, fmt.Errorf("open pull request of branch %q: %w", n.Head, err)
	}
	return w.pull(), nil
}

// MarkReady marks a draft as ready for review. Only GraphQL does so. Of one that is no draft any more GitHub says
// nothing.
func (c *Client) MarkReady(ctx context.Context, pullNodeID string) error {
	_, _, err := transport.GraphQLStrict[struct{}](ctx, c.api, transport.Writes, readyQuery(), map[string]any{"pull": pullNodeID})
	if err != nil {
		return fmt.Errorf("mark pull request %s as ready for review: %w", pullNodeID, err)
	}
	return nil
}

// ClosePull closes a pull request and keeps its branch.
func (c *Client) ClosePull(ctx context.Context, repo work.RepoName, number int) (Pull, error) {
	var w wirePull
	request := struct {
		State string `json:"state"`
	}{"closed"}
	if err := c.api.Write(ctx, http.MethodPatch, fmt.Sprintf("repos/%s/pulls/%d", repo.FullName(), number), request, &w); err != nil {
		return Pull{}, fmt.Errorf("close pull request %s: %w", work.Ref(repo, number), err)
	}
	return w.pull(), nil
}

// ReactionTarget is the kind of object that a reaction is added to.
type ReactionTarget string

// Targets of a reaction. An issue is identified by its number, a comment by its id.
const (
	ReactIssue         ReactionTarget = "issue"
	ReactComment       ReactionTarget = "comment"
	ReactReviewComment ReactionTarget = "review_comment"
)

type wireReaction struct {
	ID int64 `json:"id"`
}

func (w wireReaction) Check() error {
	if w.ID == 0 {
		return errors.New("no reaction")
	}
	return nil
}

// React adds a reaction, such as eyes. Repeating it has no effect.
func (c *Client) React(ctx context.Context, repo work.RepoName, on ReactionTarget, id int64, content string) error {
	var address string
	switch on {
	case ReactIssue:
		address = fmt.Sprintf("repos/%s/issues/%d", repo.FullName(), id)
	case ReactComment:
		address = commentPath(repo, id)
	case ReactReviewComment:
		address = reviewCommentPath(repo, id)
	}
	request := struct {
		Content string `json:"content"`
	}{content}
	if err := c.api.Write(ctx, http.MethodPost, address+"/reactions", request, &wireReaction{}); err != nil {
		return fmt.Errorf("react to %s %d: %w", on, id, err)
	}
	return nil
}

// DeleteComment removes a conversation comment.
func (c *Client) DeleteComment(ctx context.Context, repo work.RepoName, id int64) error {
	if err := c.api.Write(ctx, http.MethodDelete, commentPath(repo, id), nil, nil); err != nil {
		return fmt.Errorf("delete comment %d: %w", id, err)
	}
	return nil
}

// DeleteReviewComment removes a diff comment.
func (c *Client) DeleteReviewComment(ctx context.Context, repo work.RepoName, id int64) error {
	if err := c.api.Write(ctx, http.MethodDelete, reviewCommentPath(repo, id), nil, nil); err != nil {
		return fmt.Errorf("delete review comment %d: %w", id, err)
	}
	return nil
}

// UpdateComment replaces the text of a conversation comment.
func (c *Client) UpdateComment(ctx context.Context, repo work.RepoName, id int64, body string) error {
	if err := c.api.Write(ctx, http.MethodPatch, commentPath(repo, id), bodyRequest{body}, &wireComment{}); err != nil {
		return fmt.Errorf("update comment %d: %w", id, err)
	}
	return nil
}

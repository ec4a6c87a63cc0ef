package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Comment is a comment in the conversation of an issue or pull request.
type Comment struct {
	ID        int64
	NodeID    string
	Number    int // of the issue or pull request
	Body      string
	URL       string
	Author    work.Account
	CreatedAt time.Time
	UpdatedAt time.Time
	Word      work.Word // not from lists
}

type wireComment struct {
	ID        int64     `json:"id"`
	NodeID    string    `json:"node_id"`
	IssueURL  string    `json:"issue_url"`
	Body      string    `json:"body"`
	HTMLURL   string    `json:"html_url"`
	User      *wireUser `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (w wireComment) Check() error {
	if w.ID == 0 || lastNumber(w.IssueURL) == 0 {
		return errors.New("no comment")
	}
	return nil
}

func (w wireComment) comment() Comment {
	return Comment{
		ID: w.ID, NodeID: w.NodeID, Number: lastNumber(w.IssueURL), Body: w.Body, URL: w.HTMLURL,
		Author: account(w.User), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

// lastNumber returns the number at the end of an API URL, 0 if there is none.
func lastNumber(address string) int {
	n, err := strconv.Atoi(address[strings.LastIndexByte(address, '/')+1:])
	if err != nil {
		return 0
	}
	return n
}

type wireReviewComment struct {
	ID             int64     `json:"id"`
	NodeID         string    `json:"node_id"`
	PullRequestURL string    `json:"pull_request_url"`
	InReplyTo      int64     `json:"in_reply_to_id"`
	ReviewID       int64     `json:"pull_request_review_id"`
	Path           string    `json:"path"`
	Line           int       `json:"line"`
	DiffHunk       string    `json:"diff_hunk"`
	Body           string    `json:"body"`
	HTMLURL        string    `json:"html_url"`
	User           *wireUser `json:"user"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

func (w wireReviewComment) Check() error {
	if w.ID == 0 || lastNumber(w.PullRequestURL) == 0 {
		return errors.New("no review comment")
	}
	return nil
}

func (w wireReviewComment) comment() ReviewComment {
	return ReviewComment{
		ID: w.ID, NodeID: w.NodeID, Pull: lastNumber(w.PullRequestURL), InReplyTo: w.InReplyTo,
		ReviewID: w.ReviewID, Path: w.Path, Line: w.Line, DiffHunk: w.DiffHunk,
		Body: w.Body, URL: w.HTMLURL, Author: account(w.User), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

// ListComments reads one page of a repository's conversation comments.
func (c *Client) ListComments(ctx context.Context, p transport.PageRequest) (transport.Page[Comment], error) {
	out, err := transport.ReadPage(ctx, c.api, p, wireComment.comment)
	if err != nil {
		return out, fmt.Errorf("list comments: %w", err)
	}
	return out, nil
}

// ListReviewComments reads one page of a repository's diff comments.
func (c *Client) ListReviewComments(ctx context.Context, p transport.PageRequest) (transport.Page[ReviewComment], error) {
	out, err := transport.ReadPage(ctx, c.api, p, wireReviewComment.comment)
	if err != nil {
		return out, fmt.Errorf("list review comments: %w", err)
	}
	return out, nil
}

// CommentsOf reads the conversation of an issue or pull request, oldest first; only comments
// changed at since or later.
func (c *Client) CommentsOf(ctx context.Context, repo work.RepoName, number int, since time.Time) ([]Comment, error) {
	comments, err := transport.ReadAll(ctx, c.api, listURL(repo, fmt.Sprintf("issues/%d/comments", number), since), wireComment.comment)
	if err != nil {
		return nil, fmt.Errorf("list comments of %s: %w", work.Ref(repo, number), err)
	}
	return newest(comments, func(c Comment) int64 { return c.ID }), nil
}

// ReviewCommentsOf reads the diff comments of a pull request, oldest first; only those changed at
// since or later.
func (c *Client) ReviewCommentsOf(ctx context.Context, repo work.RepoName, pull int, since time.Time) ([]ReviewComment, error) {
	comments, err := transport.ReadAll(ctx, c.api, listURL(repo, fmt.Sprintf("pulls/%d/comments", pull), since), wireReviewComment.comment)
	if err != nil {
		return nil, fmt.Errorf("list review comments of %s: %w", work.Ref(repo, pull), err)
	}
	return newest(comments, func(c ReviewComment) int64 { return c.ID }), nil
}

// newest returns each comment as it was read last, oldest comment first. A comment that is edited
// while a list of changes is read moves others to the next page: they are read twice.
func newest[T any](all []T, id func(T) int64) []T {
	seen := map[int64]bool{}
	var out []T
	for _, c := range slices.Backward(all) {
		if !seen[id(c)] {
			seen[id(c)] = true
			out = append(out, c)
		}
	}
	sorted.By(out, func(a, b T) int { return cmp.Compare(id(a), id(b)) })
	return out
}

// Comment reads one conversation comment; false if it was deleted.
func (c *Client) Comment(ctx context.Context, repo work.RepoName, id int64) (Comment, bool, error) {
	var w wireComment
	ok, err := find(ctx, c.api, commentPath(repo, id), &w)
	if err != nil || !ok {
		return Comment{}, false, err
	}
	return w.comment(), true, nil
}

// ReviewComment reads one diff comment; false if it was deleted.
func (c *Client) ReviewComment(ctx context.Context, repo work.RepoName, id int64) (ReviewComment, bool, error) {
	var w wireReviewComment
	ok, err := find(ctx, c.api, reviewCommentPath(repo, id), &w)
	if err != nil || !ok {
		return ReviewComment{}, false, err
	}
	return w.comment(), true, nil
}

func commentPath(repo work.RepoName, id int64) string {
	return fmt.Sprintf("repos/%s/issues/comments/%d", repo.FullName(), id)
}

func reviewCommentPath(repo work.RepoName, id int64) string {
	return fmt.Sprintf("repos/%s/pulls/comments/%d", repo.FullName(), id)
}

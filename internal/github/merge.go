package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// MergeOrder is the input of Merge.
type MergeOrder struct {
	SHA     string         // required; the head to merge: GitHub refuses if it moved
	Method  merging.Method // required
	Title   string         // of the commit; empty: GitHub's default
	Message string
}

type wireMerged struct {
	SHA    string `json:"sha"`
	Merged bool   `json:"merged"`
}

func (w wireMerged) Check() error {
	if w.SHA == "" || !w.Merged {
		return errors.New("nothing was merged")
	}
	return nil
}

// Merge merges a pull request and returns the new commit of the base. [RefusalOf] reads refusals
// from the error.
func (c *Client) Merge(ctx context.Context, repo work.RepoName, number int, o MergeOrder) (string, error) {
	commit, err := c.merge(ctx, repo, number, o)
	if err != nil {
		return "", fmt.Errorf("merge %s: %w", work.Ref(repo, number), err)
	}
	return commit, nil
}

func (c *Client) merge(ctx context.Context, repo work.RepoName, number int, o MergeOrder) (string, error) {
	switch {
	case o.SHA == "":
		return "", errNoHead
	case o.Method == "":
		return "", errors.New("no method is named")
	}
	request := struct {
		SHA     string         `json:"sha"`
		Method  merging.Method `json:"merge_method"`
		Title   string         `json:"commit_title,omitempty"`
		Message string         `json:"commit_message,omitempty"`
	}(o)
	var w wireMerged
	err := c.api.Write(ctx, http.MethodPut, fmt.Sprintf("repos/%s/pulls/%d/merge", repo.FullName(), number), request, &w)
	return w.SHA, err
}

// Enqueue adds a pull request to the end of its base's merge queue, if head is still its head.
func (c *Client) Enqueue(ctx context.Context, pullNodeID, head string) (merging.Queue, error) {
	q, err := c.enqueue(ctx, pullNodeID, head)
	if err != nil {
		return merging.Queue{}, fmt.Errorf("put pull request %s into the merge queue: %w", pullNodeID, err)
	}
	return q, nil
}

func (c *Client) enqueue(ctx context.Context, id, head string) (merging.Queue, error) {
	if head == "" {
		return merging.Queue{}, errNoHead
	}
	data, url, err := transport.GraphQLStrict[struct {
		Enqueued struct {
			Entry wireEntry `json:"mergeQueueEntry"`
		} `json:"enqueuePullRequest"`
	}](ctx, c.api, transport.Writes, enqueueQuery(), map[string]any{"pull": id, "head": head})
	if err != nil {
		return merging.Queue{}, err
	}
	e := data.Enqueued.Entry
	if e.State == "" {
		return merging.Queue{}, &transport.UnclearError{Err: &transport.BodyError{URL: url, Err: errors.New("no entry of the queue")}}
	}
	return merging.Queue{Required: true, In: true, State: e.State, Position: e.Position, Group: e.Head.OID}, nil
}

// Dequeue removes a pull request from its base's merge queue.
func (c *Client) Dequeue(ctx context.Context, pullNodeID string) error {
	_, _, err := transport.GraphQLStrict[struct{}](ctx, c.api, transport.Writes, dequeueQuery(), map[string]any{"pull": pullNodeID})
	if err != nil {
		return fmt.Errorf("take pull request %s out of the merge queue: %w", pullNodeID, err)
	}
	return nil
}

// UpdateBranch makes GitHub merge the base into the head's branch. The head moves shortly after.
func (c *Client) UpdateBranch(ctx context.Context, repo work.RepoName, number int, head string) error {
	if head == "" {
		return fmt.Errorf("update the branch of %s: %w", work.Ref(repo, number), errNoHead)
	}
	request := struct {
		Head string `json:"expected_head_sha"`
	}{head}
	if err := c.api.Write(ctx, http.MethodPut, fmt.Sprintf("repos/%s/pulls/%d/update-branch", repo.FullName(), number), request, nil); err != nil {
		return fmt.Errorf("update the branch of %s: %w", work.Ref(repo, number), err)
	}
	return nil
}

// errNoHead refuses requests that would apply to any head.
var errNoHead = errors.New("the merge names no head: only a checked commit is merged")

package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github/queries"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Details reads up to 10 pull requests completely, following every inner page.
// What names no pull request that we may see comes back as missing.
func (c Sweeps) Details(ctx context.Context, nodeIDs []string) ([]PullDetail, []string, error) {
	details, missing, err := c.details(ctx, nodeIDs)
	if err != nil {
		return nil, nil, fmt.Errorf("read details of %d pull requests: %w", len(nodeIDs), err)
	}
	return details, missing, nil
}

func (c Sweeps) details(ctx context.Context, nodeIDs []string) ([]PullDetail, []string, error) {
	if len(nodeIDs) > MaxDetails {
		return nil, nil, fmt.Errorf("more than %d", MaxDetails)
	}
	if len(nodeIDs) == 0 {
		return nil, nil, nil
	}
	g, err := transport.GraphQL[struct {
		Nodes []wireDetail `json:"nodes"`
	}](ctx, c.api, transport.Reads, queries.Details(), map[string]any{"ids": nodeIDs})
	if err != nil {
		return nil, nil, err
	}
	nodes := g.Data.Nodes
	missing, err := missingNodes(g.GraphErrors, nodes, wireDetail.kind, nodeIDs)
	if err != nil {
		return nil, nil, err
	}
	var out []PullDetail
	for i := range nodes {
		w := &nodes[i]
		if slices.Contains(missing, nodeIDs[i]) {
			continue
		}
		if err := c.completeDetail(ctx, w); err != nil {
			return nil, nil, err
		}
		detail, err := w.detail()
		if err != nil {
			return nil, nil, &transport.BodyError{URL: g.URL, Err: err}
		}
		out = append(out, detail)
	}
	return out, missing, nil
}

// completeDetail reads the pages of a pull request's connections that the
// first query left out.
func (c Sweeps) completeDetail(ctx context.Context, w *wireDetail) error {
	if err := transport.MoreResumed(ctx, c.api, "reviews", queries.Reviews(), w.ID, w.UpdatedAt, &w.Reviews, func(n wireNode) transport.Connection[wireGraphReview] { return n.Reviews }); err != nil {
		return fmt.Errorf("more reviews of %d: %w", w.Number, err)
	}
	if err := transport.MoreResumed(ctx, c.api, "threads", queries.Threads(), w.ID, w.UpdatedAt, &w.Threads, func(n wireNode) transport.Connection[wireThread] { return n.Threads }); err != nil {
		return fmt.Errorf("more threads of %d: %w", w.Number, err)
	}
	for i := range w.Threads.Nodes {
		t := &w.Threads.Nodes[i]
		if err := transport.MoreResumed(ctx, c.api, "comments", queries.Comments(), t.ID, w.UpdatedAt, &t.Comments, func(n wireNode) transport.Connection[wireGraphComment] { return n.Comments }); err != nil {
			return fmt.Errorf("more comments of a thread of %d: %w", w.Number, err)
		}
	}
	if w.Rollup == nil {
		return nil
	}
	if err := transport.More(ctx, c.api, queries.Checks(), w.Rollup.ID, &w.Rollup.Contexts, func(n wireNode) transport.Connection[wireCheck] { return n.Contexts }); err != nil {
		return fmt.Errorf("more checks of %d: %w", w.Number, err)
	}
	return nil
}

// wireNode is a node with one of the connections that are read on.
type wireNode struct {
	Reviews  transport.Connection[wireGraphReview]  `json:"reviews"`
	Threads  transport.Connection[wireThread]       `json:"reviewThreads"`
	Comments transport.Connection[wireGraphComment] `json:"comments"`
	Contexts transport.Connection[wireCheck]        `json:"contexts"`
}

// ResolveThread marks a review thread as resolved. To resolve it twice is to
// resolve it once.
func (c Sweeps) ResolveThread(ctx context.Context, threadNodeID string) error {
	if err := c.resolveThread(ctx, threadNodeID); err != nil {
		return fmt.Errorf("resolve thread %s: %w", threadNodeID, err)
	}
	return nil
}

func (c Sweeps) resolveThread(ctx context.Context, id string) error {
	data, url, err := transport.GraphQLStrict[struct {
		Resolve struct {
			Thread struct {
				IsResolved bool `json:"isResolved"`
			} `json:"thread"`
		} `json:"resolveReviewThread"`
	}](ctx, c.api, transport.Writes, queries.Resolve(), map[string]any{"thread": id})
	if err != nil {
		return err
	}
	if !data.Resolve.Thread.IsResolved {
		return &transport.UnclearError{Err: &transport.BodyError{URL: url, Err: errors.New("the thread is not resolved")}}
	}
	return nil
}

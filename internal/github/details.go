package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/queries"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// PullDetail is everything that a poll needs of one pull request, but its
// conversation.
type PullDetail struct {
	Pull
	Reviews []Review
	Threads []Thread
	Checks  []Check // of the head; those that the token may see

	Labels       []string
	LabelChanges int // how often labels were set or taken away
	CommentCount int // of the conversation
}

// Review is a review's verdict and summary. A PENDING one is a draft of our
// own account, which GitHub shows to nobody else.
type Review struct {
	ID          int64
	NodeID      string
	State       string // COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED or PENDING
	Body        string
	Author      work.Account
	CommitOID   string
	SubmittedAt time.Time
	UpdatedAt   time.Time
	URL         string
}

// Thread is a conversation on a diff.
type Thread struct {
	NodeID   string
	Resolved bool
	Outdated bool
	Path     string
	Line     int   // 0 when outdated, or on the whole file
	Top      int64 // id of its first comment, to which replies go; 0 when all are gone
	Comments []ReviewComment
}

// Check is a check run or a commit status of a head.
type Check struct {
	Name       string
	Status     string // COMPLETED, or what it does still
	Conclusion string // SUCCESS, FAILURE, …; empty until completed
	URL        string
	Kind       string // CheckRun or StatusContext
	ID         string
	Summary    string    // of a status
	EndedAt    time.Time // zero while it runs
}

// reviewPending is the state of a draft.
const reviewPending = "PENDING"

// statusContext is the kind of a check that is a commit status.
const statusContext = "StatusContext"

// Details reads up to 10 pull requests completely, following every inner page.
// What names no pull request that we may see comes back as missing.
func (c Pulls) Details(ctx context.Context, nodeIDs []string) ([]PullDetail, []string, error) {
	details, missing, err := c.details(ctx, nodeIDs)
	if err != nil {
		return nil, nil, fmt.Errorf("read details of %d pull requests: %w", len(nodeIDs), err)
	}
	return details, missing, nil
}

func (c Pulls) details(ctx context.Context, nodeIDs []string) ([]PullDetail, []string, error) {
	if len(nodeIDs) > MaxDetails {
		return nil, nil, fmt.Errorf("more than %d", MaxDetails)
	}
	if len(nodeIDs) == 0 {
		return nil, nil, nil
	}
	g, err := c.api.GraphQL(ctx, transport.Reads, queries.Details(), map[string]any{"ids": nodeIDs})
	if err != nil {
		return nil, nil, err
	}
	var data struct {
		Nodes []json.RawMessage `json:"nodes"`
	}
	if err := json.Unmarshal(g.Data, &data); err != nil {
		return nil, nil, &BodyError{URL: g.URL, Err: err}
	}
	present, missing, err := nodesOf(g, data.Nodes, nodeIDs)
	if err != nil {
		return nil, nil, err
	}
	var out []PullDetail
	for i := range nodeIDs {
		raw, ok := present[i]
		if !ok {
			continue
		}
		var w wireDetail
		if err := json.Unmarshal(raw, &w); err != nil {
			return nil, nil, &BodyError{URL: g.URL, Err: err}
		}
		if err := c.completeDetail(ctx, &w); err != nil {
			return nil, nil, err
		}
		detail, err := w.detail()
		if err != nil {
			return nil, nil, &BodyError{URL: g.URL, Err: err}
		}
		out = append(out, detail)
	}
	return out, missing, nil
}

// completeDetail reads the pages of a pull request's connections that the
// first query left out.
func (c Pulls) completeDetail(ctx context.Context, w *wireDetail) error {
	if err := transport.More(ctx, c.api, queries.Reviews(), w.ID, &w.Reviews, func(n wireNode) transport.Connection[wireGraphReview] { return n.Reviews }); err != nil {
		return fmt.Errorf("more reviews of %d: %w", w.Number, err)
	}
	if err := transport.More(ctx, c.api, queries.Threads(), w.ID, &w.Threads, func(n wireNode) transport.Connection[wireThread] { return n.Threads }); err != nil {
		return fmt.Errorf("more threads of %d: %w", w.Number, err)
	}
	for i := range w.Threads.Nodes {
		t := &w.Threads.Nodes[i]
		if err := transport.More(ctx, c.api, queries.Comments(), t.ID, &t.Comments, func(n wireNode) transport.Connection[wireGraphComment] { return n.Comments }); err != nil {
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
func (c Pulls) ResolveThread(ctx context.Context, threadNodeID string) error {
	if err := c.resolveThread(ctx, threadNodeID); err != nil {
		return fmt.Errorf("resolve thread %s: %w", threadNodeID, err)
	}
	return nil
}

func (c Pulls) resolveThread(ctx context.Context, id string) error {
	g, err := c.api.GraphQL(ctx, transport.Writes, queries.Resolve(), map[string]any{"thread": id})
	if err != nil {
		return err
	}
	var data struct {
		Resolve struct {
			Thread struct {
				IsResolved bool `json:"isResolved"`
			} `json:"thread"`
		} `json:"resolveReviewThread"`
	}
	if err := g.Strict(transport.Writes, &data); err != nil {
		return err
	}
	if !data.Resolve.Thread.IsResolved {
		return &UnclearError{Err: &BodyError{URL: g.URL, Err: errors.New("the thread is not resolved")}}
	}
	return nil
}

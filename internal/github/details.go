package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Details reads up to 10 pull requests completely, following every inner page. Ids of no pull
// request that the token may see are returned as missing. With an error it returns those that were
// read completely before.
func (c *Client) Details(ctx context.Context, nodeIDs []string) ([]PullDetail, []string, error) {
	return c.DetailsSince(ctx, nodeIDs, nil)
}

// DetailsSince is Details, but of a pull request with a time, by node id, it reads only the reviews
// and threads that began at that time or later, and some earlier ones. If it left out any, the
// detail's Since is that time. Changes of earlier ones, and further comments in long threads, are
// then read only by chance.
func (c *Client) DetailsSince(ctx context.Context, nodeIDs []string, since map[string]time.Time) ([]PullDetail, []string, error) {
	details, missing, err := c.details(ctx, nodeIDs, since)
	if err != nil {
		return details, missing, fmt.Errorf("read details of %d pull requests: %w", len(nodeIDs), err)
	}
	return details, missing, nil
}

func (c *Client) details(ctx context.Context, nodeIDs []string, since map[string]time.Time) ([]PullDetail, []string, error) {
	if len(nodeIDs) > MaxDetails {
		return nil, nil, fmt.Errorf("more than %d", MaxDetails)
	}
	if len(nodeIDs) == 0 {
		return nil, nil, nil
	}
	g, err := transport.GraphQL[struct {
		Nodes []wireDetail `json:"nodes"`
	}](ctx, c.api, transport.Reads, detailsQuery(), map[string]any{"ids": nodeIDs})
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
		at := since[nodeIDs[i]]
		if err := c.completeDetail(ctx, w, at); err != nil {
			return out, nil, err
		}
		detail, err := w.detail()
		if err != nil {
			return nil, nil, &transport.BodyError{URL: g.URL, Err: err}
		}
		if w.cut() {
			detail.Since = at
		}
		out = append(out, detail)
	}
	return out, missing, nil
}

// completeDetail reads the remaining pages of a pull request's connections: of reviews and threads
// those since a time, unless it is zero.
func (c *Client) completeDetail(ctx context.Context, w *wireDetail, since time.Time) error {
	whole := since.IsZero()
	reviewed := func(all []wireGraphReview) bool { return !whole && len(all) > 0 && all[0].UpdatedAt.Before(since) }
	if err := transport.Earlier(ctx, c.api, reviewsQuery(), w.ID, &w.Reviews, func(n wireNode) transport.Connection[wireGraphReview] { return n.Reviews }, reviewed); err != nil {
		return fmt.Errorf("more reviews of %d: %w", w.Number, err)
	}
	threaded := func(all []wireThread) bool { return !whole && len(all) > 0 && all[0].begun().Before(since) }
	if err := transport.Earlier(ctx, c.api, threadsQuery(), w.ID, &w.Threads, func(n wireNode) transport.Connection[wireThread] { return n.Threads }, threaded); err != nil {
		return fmt.Errorf("more threads of %d: %w", w.Number, err)
	}
	for i := range w.Threads.Nodes {
		t := &w.Threads.Nodes[i]
		if !whole && t.begun().Before(since) {
			continue
		}
		if err := transport.More(ctx, c.api, commentsQuery(), t.ID, &t.Comments, func(n wireNode) transport.Connection[wireGraphComment] { return n.Comments }); err != nil {
			return fmt.Errorf("more comments of a thread of %d: %w", w.Number, err)
		}
	}
	if w.Rollup == nil {
		return nil
	}
	if err := transport.More(ctx, c.api, checksQuery(), w.Rollup.ID, &w.Rollup.Contexts, func(n wireNode) transport.Connection[wireCheck] { return n.Contexts }); err != nil {
		return fmt.Errorf("more checks of %d: %w", w.Number, err)
	}
	return nil
}

// wireNode is a node with a further page of one connection.
type wireNode struct {
	Reviews  transport.Connection[wireGraphReview]  `json:"reviews"`
	Threads  transport.Connection[wireThread]       `json:"reviewThreads"`
	Comments transport.Connection[wireGraphComment] `json:"comments"`
	Contexts transport.Connection[wireCheck]        `json:"contexts"`
}

// ResolveThread marks a review thread as resolved. Repeating it has no effect.
func (c *Client) ResolveThread(ctx context.Context, threadNodeID string) error {
	if err := c.resolveThread(ctx, threadNodeID); err != nil {
		return fmt.Errorf("resolve thread %s: %w", threadNodeID, err)
	}
	return nil
}

func (c *Client) resolveThread(ctx context.Context, id string) error {
	data, url, err := transport.GraphQLStrict[struct {
		Resolve struct {
			Thread struct {
				IsResolved bool `json:"isResolved"`
			} `json:"thread"`
		} `json:"resolveReviewThread"`
	}](ctx, c.api, transport.Writes, resolveQuery(), map[string]any{"thread": id})
	if err != nil {
		return err
	}
	if !data.Resolve.Thread.IsResolved {
		return &transport.UnclearError{Err: &transport.BodyError{URL: url, Err: errors.New("the thread is not resolved")}}
	}
	return nil
}

type wireDatabaseID struct {
	ID transport.BigInt `json:"fullDatabaseId"`
}

type wireDetail struct {
	Kind       string           `json:"__typename"`
	ID         string           `json:"id"`
	Number     int              `json:"number"`
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	URL        string           `json:"url"`
	State      string           `json:"state"`
	Draft      bool             `json:"isDraft"`
	HeadRef    string           `json:"headRefName"`
	HeadRefOID string           `json:"headRefOid"`
	CrossRepo  bool             `json:"isCrossRepository"`
	BaseRef    string           `json:"baseRefName"`
	Base       wireRef          `json:"baseRef"`
	Mergeable  string           `json:"mergeable"`
	Merge      wireCommit       `json:"mergeCommit"`
	Author     *transport.Actor `json:"author"`
	MergedBy   *transport.Actor `json:"mergedBy"`
	CreatedAt  time.Time        `json:"createdAt"`
	UpdatedAt  time.Time        `json:"updatedAt"`
	ClosedAt   time.Time        `json:"closedAt"`
	MergedAt   time.Time        `json:"mergedAt"`
	HeadRepo   struct {
		FullName string    `json:"nameWithOwner"`
		PushedAt time.Time `json:"pushedAt"`
	} `json:"headRepository"`
	Labels struct {
		Nodes []wireLabel `json:"nodes"`
	} `json:"labels"`
	LabelEvents struct {
		Total int `json:"totalCount"`
	} `json:"timelineItems"`
	BaseChanges struct {
		Nodes []struct {
			At time.Time `json:"createdAt"`
		} `json:"nodes"`
	} `json:"baseChanges"`
	Comments struct {
		Total int `json:"totalCount"`
	} `json:"comments"`
	Reviews transport.Connection[wireGraphReview] `json:"reviews"`
	Threads transport.Connection[wireThread]      `json:"reviewThreads"`
	Rollup  *wireRollup                           `json:"statusCheckRollup"`
	HeadAt  *struct {
		Target struct {
			OID    string `json:"oid"`
			Status *struct {
				Contexts []wireCheck `json:"contexts"`
			} `json:"status"`
		} `json:"target"`
	} `json:"headRef"` // null when the branch is gone
}

func (w wireDetail) kind() string { return w.Kind }

// cut reports whether pages of reviews, threads or comments in threads were not read.
func (w *wireDetail) cut() bool {
	return w.Reviews.PageInfo.HasPreviousPage || w.Threads.PageInfo.HasPreviousPage ||
		slices.ContainsFunc(w.Threads.Nodes, func(t wireThread) bool { return t.Comments.PageInfo.HasNextPage })
}

// checks returns the checks of the head: the rollup's, or only the statuses if the token may not
// see the rollup.
func (w wireDetail) checks() []wireCheck {
	switch {
	case w.Rollup != nil:
		return w.Rollup.Contexts.Nodes
	case w.HeadAt == nil || w.HeadAt.Target.Status == nil || w.HeadAt.Target.OID != w.HeadRefOID:
		return nil
	}
	return w.HeadAt.Target.Status.Contexts
}

type wireRollup struct {
	ID       string                          `json:"id"`
	State    string                          `json:"state"`
	Contexts transport.Connection[wireCheck] `json:"contexts"`
}

func (w wireDetail) detail() (PullDetail, error) {
	state, err := pullState(w.State)
	if err != nil || w.ID == "" || w.Number == 0 || w.HeadRefOID == "" {
		return PullDetail{}, errors.Join(errors.New("no pull request"), err)
	}
	d := PullDetail{Pull: Pull{
		NodeID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.URL, State: state,
		Draft: w.Draft, Head: w.HeadRef, HeadOID: w.HeadRefOID,
		HeadRepo: w.HeadRepo.FullName, HeadPushed: w.HeadRepo.PushedAt, CrossRepo: w.CrossRepo, Base: w.BaseRef, BaseOID: w.Base.Target.OID,
		Mergeable: w.Mergeable, MergeCommit: w.Merge.OID, Author: w.Author.Account(),
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, ClosedAt: w.ClosedAt, MergedAt: w.MergedAt,
	}, LabelChanges: w.LabelEvents.Total, CommentCount: w.Comments.Total, BranchGone: w.HeadAt == nil}
	if !w.MergedAt.IsZero() {
		d.MergedBy = w.MergedBy.Account()
	}
	for _, changed := range w.BaseChanges.Nodes {
		d.BaseChanged = changed.At
	}
	for _, l := range w.Labels.Nodes {
		d.Labels = append(d.Labels, l.Name)
	}
	for _, r := range w.Reviews.Nodes {
		if r.ID == "" || r.DatabaseID == 0 {
			return PullDetail{}, errors.New("no review")
		}
		d.Reviews = append(d.Reviews, r.review())
	}
	for _, t := range w.Threads.Nodes {
		thread, err := t.thread(w.Number)
		if err != nil {
			return PullDetail{}, err
		}
		d.Threads = append(d.Threads, thread)
	}
	hidden := false // a check that the token may not see
	for _, check := range w.checks() {
		if check.Kind == "" {
			hidden = true
			continue
		}
		d.Checks = append(d.Checks, check.check())
	}
	if w.Rollup != nil {
		d.Rollup = w.Rollup.State
		if others := withoutOurStatus(d.Checks); !hidden && len(others) < len(d.Checks) {
			d.Rollup = rollup(others)
		}
		if len(Failed(d.Checks)) == 0 && slices.ContainsFunc(d.Checks, func(c Check) bool { return c.Conclusion == work.NeverStarted }) {
			d.Rollup = work.NeverStarted
		}
	}
	return d, nil
}

// rollup recomputes GitHub's rollup without our own status.
func rollup(all []Check) string {
	order := []string{"", "SUCCESS", "PENDING", "FAILURE", "ERROR"}
	worst := 0
	for _, c := range all {
		state := "FAILURE"
		switch c.Conclusion {
		case "":
			state = "PENDING"
		case "SUCCESS", "NEUTRAL", "SKIPPED":
			state = "SUCCESS"
		case "ERROR":
			state = "ERROR"
		}
		worst = max(worst, slices.Index(order, state))
	}
	return order[worst]
}

type wireGraphReview struct {
	wireWord
	ID          string           `json:"id"`
	DatabaseID  transport.BigInt `json:"fullDatabaseId"`
	State       string           `json:"state"`
	Body        string           `json:"body"`
	URL         string           `json:"url"`
	Author      *transport.Actor `json:"author"`
	Commit      wireCommit       `json:"commit"`
	SubmittedAt time.Time        `json:"submittedAt"`
	UpdatedAt   time.Time        `json:"updatedAt"`
}

func (w wireGraphReview) review() Review {
	return Review{
		ID: int64(w.DatabaseID), NodeID: w.ID, State: w.State, Body: w.Body, Author: w.Author.Account(),
		CommitOID: w.Commit.OID, SubmittedAt: w.SubmittedAt, UpdatedAt: w.UpdatedAt, URL: w.URL, Word: w.word(),
	}
}

type wireThread struct {
	ID       string                                 `json:"id"`
	Resolved bool                                   `json:"isResolved"`
	Comments transport.Connection[wireGraphComment] `json:"comments"`
}

// begun returns when the first comment of a thread was written; zero if it has none.
func (w *wireThread) begun() time.Time {
	if len(w.Comments.Nodes) == 0 {
		return time.Time{}
	}
	return w.Comments.Nodes[0].CreatedAt
}

func (w wireThread) thread(pull int) (Thread, error) {
	if w.ID == "" {
		return Thread{}, errors.New("no thread")
	}
	t := Thread{NodeID: w.ID, Resolved: w.Resolved}
	for _, c := range w.Comments.Nodes {
		if c.DatabaseID == 0 {
			return Thread{}, errors.New("no review comment")
		}
		t.Comments = append(t.Comments, c.comment(pull))
	}
	if len(t.Comments) > 0 {
		t.Top = t.Comments[0].ID
	}
	return t, nil
}

type wireGraphComment struct {
	wireWord
	ID         string           `json:"id"`
	DatabaseID transport.BigInt `json:"fullDatabaseId"`
	State      string           `json:"state"`
	Body       string           `json:"body"`
	URL        string           `json:"url"`
	Path       string           `json:"path"`
	Line       int              `json:"line"`
	DiffHunk   string           `json:"diffHunk"`
	Author     *transport.Actor `json:"author"`
	ReplyTo    wireDatabaseID   `json:"replyTo"`
	Review     wireDatabaseID   `json:"pullRequestReview"`
	CreatedAt  time.Time        `json:"createdAt"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

func (w wireGraphComment) comment(pull int) ReviewComment {
	return ReviewComment{
		ID: int64(w.DatabaseID), NodeID: w.ID, Pull: pull, InReplyTo: int64(w.ReplyTo.ID),
		ReviewID: int64(w.Review.ID), Path: w.Path, Line: w.Line, DiffHunk: w.DiffHunk,
		Body: w.Body, URL: w.URL, Author: w.Author.Account(), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		Pending: w.State == pending, Word: w.word(),
	}
}

// wireCheck is a CheckRun or a StatusContext.
type wireCheck struct {
	Kind        string    `json:"__typename"`
	CompletedAt time.Time `json:"completedAt"`
	CreatedAt   time.Time `json:"createdAt"`
	ID          string    `json:"id"`
	DatabaseID  int64     `json:"databaseId"`
	Name        string    `json:"name"`
	Status      string    `json:"status"`
	Conclusion  string    `json:"conclusion"`
	DetailsURL  string    `json:"detailsUrl"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	TargetURL   string    `json:"targetUrl"`
	Says        string    `json:"description"`
}

func (w wireCheck) check() Check {
	if w.Kind == "CheckRun" {
		c := Check{Name: w.Name, Status: w.Status, Conclusion: w.Conclusion, URL: w.DetailsURL, Kind: w.Kind, ID: w.ID, EndedAt: w.CompletedAt}
		if w.DatabaseID != 0 {
			c.ID = strconv.FormatInt(w.DatabaseID, 10)
		}
		return c
	}
	c := Check{Name: w.Context, Status: "COMPLETED", Conclusion: w.State, URL: w.TargetURL, Kind: w.Kind, ID: w.ID, Summary: w.Says, EndedAt: w.CreatedAt}
	if w.State == "PENDING" || w.State == "EXPECTED" {
		c.Status, c.Conclusion, c.EndedAt = w.State, "", time.Time{}
	}
	return c
}

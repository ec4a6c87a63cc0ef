package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// MaxBoxes is the maximum number of pull requests of one Boxes.
const MaxBoxes = 20

// BoxRead is the merge box of one pull request, or why it could not be read.
type BoxRead struct {
	Box merging.Box
	Err error
}

// Box is Boxes for a single pull request.
func (c *Client) Box(ctx context.Context, repo work.RepoName, of merging.BoxOf) (merging.Box, error) {
	all, err := c.boxes(ctx, []merging.BoxOf{of})
	if err == nil {
		err = all[0].Err
	}
	if err != nil {
		return merging.Box{}, fmt.Errorf("read the merge box of %s: %w", work.Ref(repo, of.Number), err)
	}
	return all[0].Box, nil
}

// Boxes reads the content of GitHub's merge boxes of up to 20 pull requests and the brakes beside
// them (labels, the issue, an open issue with the freeze label), in one request unless lists are
// long. An error about one of them does not fail the others. The boxes have no rules of the base;
// for these see [Client.Rules].
func (c *Client) Boxes(ctx context.Context, repo work.RepoName, of []merging.BoxOf) ([]BoxRead, error) {
	all, err := c.boxes(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("read %d merge boxes of %s: %w", len(of), repo.FullName(), err)
	}
	return all, nil
}

func (c *Client) boxes(ctx context.Context, of []merging.BoxOf) ([]BoxRead, error) {
	if len(of) > MaxBoxes {
		return nil, fmt.Errorf("more than %d", MaxBoxes)
	}
	vars := map[string]any{}
	for i, o := range of {
		for name, value := range map[string]any{"id": o.PullNodeID, "labels": []string{o.Freeze}, "freezes": o.Freeze != "", "issue": o.Issue, "asked": o.Issue != 0} {
			vars[name+strconv.Itoa(i)] = value
		}
	}
	at := c.api.Now()
	g, err := transport.GraphQL[map[string]*wireBox](ctx, c.api, transport.Reads, boxesQuery(len(of)), vars)
	if err != nil {
		return nil, err
	}
	errs := map[string][]transport.GraphError{} // by alias
	for _, e := range g.Errors {
		if len(e.Path) == 0 {
			return nil, e.Refusal(g.URL)
		}
		alias := fmt.Sprint(e.Path[0])
		errs[alias] = append(errs[alias], e)
	}
	out := make([]BoxRead, len(of))
	for i, o := range of {
		alias := fmt.Sprint("p", i)
		out[i].Box, out[i].Err = c.readBox(ctx, o, (*g.Data)[alias], transport.GraphErrors{Errors: errs[alias], URL: g.URL})
		out[i].Box.At = at
	}
	return out, nil
}

// readBox converts one pull request of an answer, after it read what is missing of its lists.
func (c *Client) readBox(ctx context.Context, of merging.BoxOf, w *wireBox, g transport.GraphErrors) (merging.Box, error) {
	hidden, err := hiddenChecks(g)
	if err != nil {
		return merging.Box{}, err
	}
	if w == nil || w.ID != of.PullNodeID || w.Number != of.Number {
		return merging.Box{}, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("no pull request %d", of.Number)}
	}
	if err := c.completeBox(ctx, w); err != nil {
		return merging.Box{}, err
	}
	b, err := w.box(of.Issue)
	if err != nil {
		return merging.Box{}, &transport.BodyError{URL: g.URL, Err: err}
	}
	b.ChecksKnown = !hidden
	return b, nil
}

// hiddenChecks reports whether the token may not see the checks; the rest of the answer is still
// valid. A hidden place in a merge queue counts as unknown, and an issue that GitHub does not find
// as unwanted. Any other error fails the box.
func hiddenChecks(g transport.GraphErrors) (bool, error) {
	hidden := false
	for _, e := range g.Errors {
		at := func(field string) bool {
			return e.Type == transport.TypeForbidden && slices.Contains(e.Path, any(field))
		}
		switch {
		case at("statusCheckRollup"):
			hidden = true
		case at("status"), at("mergeQueueEntry"):
		case e.Type == transport.TypeNotFound && slices.Contains(e.Path, any("issue")):
		default:
			return false, e.Refusal(g.URL)
		}
	}
	return hidden, nil
}

// errMoved means that a pull request got a push while its lists were read.
var errMoved = errors.New("the head moved while its lists were read")

// completeBox reads the remaining pages of the lists. All pages must be of the same head.
func (c *Client) completeBox(ctx context.Context, w *wireBox) error {
	moved := false
	same := func(n wireBoxPage) { moved = moved || n.Head != w.Head }
	if err := transport.More(ctx, c.api, boxReviewsQuery(), w.ID, &w.Reviews, func(n wireBoxPage) transport.Connection[wireBoxReview] { same(n); return n.Reviews }); err != nil {
		return fmt.Errorf("more reviews: %w", err)
	}
	if err := transport.More(ctx, c.api, boxThreadsQuery(), w.ID, &w.Threads, func(n wireBoxPage) transport.Connection[wireBoxThread] { same(n); return n.Threads }); err != nil {
		return fmt.Errorf("more threads: %w", err)
	}
	if w.Rollup != nil {
		if err := transport.More(ctx, c.api, boxChecksQuery(), w.ID, &w.Rollup.Contexts, func(n wireBoxPage) transport.Connection[wireBoxCheck] { same(n); return n.Rollup.Contexts }); err != nil {
			return fmt.Errorf("more checks: %w", err)
		}
	}
	if moved {
		return errMoved
	}
	return nil
}

type wireCommit struct {
	OID string `json:"oid"`
}

type wireRef struct {
	Target wireCommit `json:"target"`
}

type wireBoxRollup struct {
	ID       string                             `json:"id"`
	Contexts transport.Connection[wireBoxCheck] `json:"contexts"`
}

// wireBox is a pull request. References are null if their branch was deleted.
type wireBox struct {
	ID          string           `json:"id"`
	Number      int              `json:"number"`
	State       string           `json:"state"`
	Draft       bool             `json:"isDraft"`
	Head        string           `json:"headRefOid"`
	Base        string           `json:"baseRefName"`
	UpdatedAt   time.Time        `json:"updatedAt"`
	Mergeable   string           `json:"mergeable"`
	Status      string           `json:"mergeStateStatus"`
	Decision    string           `json:"reviewDecision"`
	Body        string           `json:"body"`
	Labels      wireNames        `json:"labels"`
	MergedBy    *transport.Actor `json:"mergedBy"`
	MergeCommit wireCommit       `json:"mergeCommit"`
	HasQueue    bool             `json:"isMergeQueueEnabled"`
	InQueue     bool             `json:"isInMergeQueue"`
	Entry       wireEntry        `json:"mergeQueueEntry"`
	Queued      struct {
		Nodes []wireQueued `json:"nodes"`
	} `json:"timelineItems"`
	BaseRef wireRef `json:"baseRef"`
	HeadRef struct {
		Target wireTarget `json:"target"`
	} `json:"headRef"`
	Reviews    transport.Connection[wireBoxReview] `json:"reviews"`
	Threads    transport.Connection[wireBoxThread] `json:"reviewThreads"`
	Rollup     *wireBoxRollup                      `json:"statusCheckRollup"`
	Repository wireBoxRepository                   `json:"repository"`
}

// wireBoxPage is a pull request with one further page of a list.
type wireBoxPage struct {
	Head    string                              `json:"headRefOid"`
	Reviews transport.Connection[wireBoxReview] `json:"reviews"`
	Threads transport.Connection[wireBoxThread] `json:"reviewThreads"`
	Rollup  wireBoxRollup                       `json:"statusCheckRollup"`
}

// wireNames are the labels of an issue or a pull request.
type wireNames struct {
	Nodes []wireLabel `json:"nodes"`
}

func (w wireNames) sorted() (all []string) {
	for _, l := range w.Nodes {
		all = append(all, l.Name)
	}
	slices.Sort(all)
	return all
}

// wireBoxIssue is the issue of a pull request's work item.
type wireBoxIssue struct {
	Number    int       `json:"number"`
	State     string    `json:"state"`
	Reason    string    `json:"stateReason"`
	UpdatedAt time.Time `json:"updatedAt"`
	Labels    wireNames `json:"labels"`
}

type wireBoxRepository struct {
	Issue        wireBoxIssue `json:"issue"`
	Squash       bool         `json:"squashMergeAllowed"`
	Merge        bool         `json:"mergeCommitAllowed"`
	Rebase       bool         `json:"rebaseMergeAllowed"`
	DeleteBranch bool         `json:"deleteBranchOnMerge"`
	Permission   string       `json:"viewerPermission"`
	Issues       struct {
		Nodes []struct {
			Number int `json:"number"`
		} `json:"nodes"`
	} `json:"issues"`
}

// methods returns the methods that the repository allows.
func (w wireBoxRepository) methods() []merging.Method {
	allowed := map[merging.Method]bool{merging.Squash: w.Squash, merging.MergeCommit: w.Merge, merging.Rebase: w.Rebase}
	return slices.DeleteFunc(merging.Methods(), func(m merging.Method) bool { return !allowed[m] })
}

type wireEntry struct {
	By       *transport.Actor `json:"enqueuer"`
	State    string           `json:"state"`
	Position int              `json:"position"`
	Head     wireCommit       `json:"headCommit"`
}

// by returns who enqueued the pull request; zero if there is no entry.
func (w wireEntry) by() work.Account {
	if w.By == nil {
		return work.Account{}
	}
	return w.By.Account()
}

// wireQueued is an event of the merge queue: added or removed.
type wireQueued struct {
	Kind   string           `json:"__typename"`
	At     time.Time        `json:"createdAt"`
	By     *transport.Actor `json:"actor"`
	Reason string           `json:"reason"`
	Group  wireCommit       `json:"beforeCommit"`
}

// out returns the last removal from the queue, nil if the pull request is queued or was merged by
// the queue.
func (w *wireBox) out() *merging.QueueExit {
	n := len(w.Queued.Nodes)
	if w.InQueue || n < 2 {
		return nil
	}
	put, left := w.Queued.Nodes[n-2], w.Queued.Nodes[n-1]
	if put.Kind != "AddedToMergeQueueEvent" || left.Kind != "RemovedFromMergeQueueEvent" || strings.EqualFold(left.Reason, "merged") {
		return nil
	}
	return &merging.QueueExit{Put: put.At, PutBy: put.By.Account(), At: left.At, By: left.By.Account(), Group: left.Group.OID, Reason: strings.ReplaceAll(strings.ToLower(left.Reason), "_", " ")}
}

type wireBoxThread struct {
	Resolved bool `json:"isResolved"`
}

type wireBoxReview struct {
	ID     transport.BigInt `json:"fullDatabaseId"`
	State  string           `json:"state"`
	Author *transport.Actor `json:"author"`
	Commit wireCommit       `json:"commit"`
	At     time.Time        `json:"submittedAt"`
}

func (w *wireBox) box(issue int) (merging.Box, error) {
	state, err := pullState(w.State)
	if err != nil || w.Head == "" || w.Base == "" || w.Status == "" || w.UpdatedAt.IsZero() {
		return merging.Box{}, errors.Join(errors.New("no merge box"), err)
	}
	b := merging.Box{
		State: state, Draft: w.Draft, Head: w.Head, Base: w.Base, BaseTip: w.BaseRef.Target.OID,
		Mergeable: w.Mergeable, Status: w.Status, Decision: w.Decision, UpdatedAt: w.UpdatedAt,
		Queue:   merging.Queue{Required: w.HasQueue, In: w.InQueue, State: w.Entry.State, Position: w.Entry.Position, Group: w.Entry.Head.OID, By: w.Entry.by()},
		Methods: w.Repository.methods(), DeleteBranch: w.Repository.DeleteBranch, Permission: w.Repository.Permission,
	}
	if state == work.PullMerged {
		b.MergedBy, b.MergeCommit = w.MergedBy.Account(), w.MergeCommit.OID
	}
	b.Queue.Out = w.out()
	b.Labels, b.Closes = w.Labels.sorted(), closesIssue(w.Body, issue)
	if issue != 0 {
		is := w.Repository.Issue
		wanted := is.Number == issue && (is.State == "OPEN" || is.Reason == "COMPLETED")
		b.Issue = merging.Issue{Number: issue, Wanted: wanted, Labels: is.Labels.sorted(), UpdatedAt: is.UpdatedAt}
	}
	if open := w.Repository.Issues.Nodes; len(open) > 0 {
		b.Freeze = open[0].Number
	}
	for _, t := range w.Threads.Nodes {
		if !t.Resolved {
			b.Threads++
		}
	}
	for _, r := range w.Reviews.Nodes {
		if r.ID == 0 || r.State == "" {
			return merging.Box{}, errors.New("no review")
		}
		if r.State != "PENDING" { // skip our own account's draft
			b.Reviews = append(b.Reviews, merging.Review{ID: int64(r.ID), State: r.State, Head: r.Commit.OID, By: r.Author.Account(), At: r.At})
		}
	}
	b.Checks, b.Expected = mergeChecks(w.checks(), boxState)
	for _, check := range w.checks() {
		if strings.EqualFold(check.Context, review.StatusContext) {
			b.StatusText, b.StatusAt = check.Says, check.CreatedAt
		}
	}
	return b, nil
}

// checks returns the checks of the head: the rollup's, or only the statuses if the token may not
// see the rollup.
func (w *wireBox) checks() []wireBoxCheck {
	switch at := w.HeadRef.Target; {
	case w.Rollup != nil:
		return w.Rollup.Contexts.Nodes
	case at.OID == w.Head:
		return at.Status.Contexts
	}
	return nil
}

var (
	closingWord   = lazy.Regexp(`(?i)(?:^|[^\p{L}\p{N}_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#([0-9]+)`)
	hiddenComment = lazy.Regexp(`(?s)<!--.*?(?:-->|$)`)
)

// closesIssue reports whether the text of a pull request says that its merge closes an issue.
func closesIssue(body string, issue int) bool {
	for _, m := range closingWord().FindAllStringSubmatch(hiddenComment().ReplaceAllString(body, ""), -1) {
		if m[1] == strconv.Itoa(issue) {
			return true
		}
	}
	return false
}

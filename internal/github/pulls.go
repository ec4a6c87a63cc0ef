package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

type wireBranch struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

type wirePull struct {
	NodeID      string     `json:"node_id"`
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	Body        string     `json:"body"`
	HTMLURL     string     `json:"html_url"`
	State       string     `json:"state"`
	Draft       bool       `json:"draft"`
	Locked      bool       `json:"locked"`
	Head        wireBranch `json:"head"`
	Base        wireBranch `json:"base"`
	Mergeable   *bool      `json:"mergeable"`
	MergeCommit string     `json:"merge_commit_sha"`
	User        *wireUser  `json:"user"`
	MergedBy    *wireUser  `json:"merged_by"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	ClosedAt    time.Time  `json:"closed_at"`
	MergedAt    time.Time  `json:"merged_at"`
}

func (w wirePull) Check() error {
	if w.Number == 0 || w.NodeID == "" || w.Head.SHA == "" || w.Base.Ref == "" {
		return errors.New("no pull request")
	}
	if w.State != "open" && w.State != "closed" {
		return fmt.Errorf("pull request is %q", w.State)
	}
	return nil
}

func (w wirePull) pull() Pull {
	p := Pull{
		NodeID: w.NodeID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.HTMLURL,
		State: work.PullState(w.State), Draft: w.Draft,
		Head: w.Head.Ref, HeadOID: w.Head.SHA, Base: w.Base.Ref, BaseOID: w.Base.SHA,
		Mergeable: unknownMergeable, CrossRepo: true, Author: account(w.User),
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, ClosedAt: w.ClosedAt, MergedAt: w.MergedAt,
	}
	if w.Head.Repo != nil {
		p.HeadRepo = w.Head.Repo.FullName
		p.CrossRepo = w.Base.Repo == nil || !strings.EqualFold(w.Base.Repo.FullName, p.HeadRepo)
	}
	if !w.MergedAt.IsZero() {
		p.State = work.PullMerged
		p.MergeCommit = w.MergeCommit // before the merge it is a test merge commit
		p.MergedBy = account(w.MergedBy)
	}
	if w.Mergeable != nil {
		p.Mergeable = conflicting
		if *w.Mergeable {
			p.Mergeable = mergeable
		}
	}
	return p
}

// Pull reads one pull request; false if there is none of that number.
func (c *Client) Pull(ctx context.Context, repo work.RepoName, number int) (Pull, bool, error) {
	var w wirePull
	ok, err := find(ctx, c.api, fmt.Sprintf("repos/%s/pulls/%d", repo.FullName(), number), &w)
	if err != nil || !ok {
		return Pull{}, false, err
	}
	return w.pull(), true, nil
}

// PullsByHead lists all pull requests, open or closed, whose head is a branch of that name owned by
// the repository's owner. A fork of the same owner matches, too; HeadRepo shows which.
func (c *Client) PullsByHead(ctx context.Context, repo work.RepoName, branch string) ([]Pull, error) {
	q := url.Values{"state": {"all"}, "head": {repo.Owner + ":" + branch}, "per_page": {"100"}}
	pulls, err := transport.ReadAll(ctx, c.api, "repos/"+repo.FullName()+"/pulls?"+q.Encode(), wirePull.pull)
	if err != nil {
		return nil, fmt.Errorf("list pull requests of branch %q: %w", branch, err)
	}
	return pulls, nil
}

type wirePullCommit struct {
	SHA    string `json:"sha"`
	Commit struct {
		Message string `json:"message"`
	} `json:"commit"`
	Author    *wireUser  `json:"author"`    // null where no account has the commit's address
	Committer *wireUser  `json:"committer"` // likewise
	Parents   []struct{} `json:"parents"`
}

func (wirePullCommit) Check() error { return nil }

func (w wirePullCommit) commit() work.Commit {
	return work.Commit{OID: w.SHA, Message: w.Commit.Message, Author: account(w.Author), Committer: account(w.Committer), Parents: len(w.Parents)}
}

// PullCommits lists a pull request's commits, oldest first; GitHub lists at most 250.
func (c *Client) PullCommits(ctx context.Context, repo work.RepoName, number int) ([]work.Commit, error) {
	commits, err := transport.ReadAll(ctx, c.api, fmt.Sprintf("repos/%s/pulls/%d/commits?per_page=100", repo.FullName(), number), wirePullCommit.commit)
	if err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", work.Ref(repo, number), err)
	}
	return commits, nil
}

// Pull is a pull request. Rollup is set by GraphQL reads only, and listings leave Mergeable
// unknown.
type Pull struct {
	NodeID      string
	Number      int
	Title       string
	Body        string
	URL         string
	State       work.PullState
	Draft       bool
	Head        string // branch
	HeadOID     string
	HeadRepo    string    // full name; empty when the fork was deleted
	HeadPushed  time.Time // the last push to any branch of that repository; set by GraphQL reads only
	CrossRepo   bool      // from a fork
	Base        string    // branch
	BaseOID     string
	Mergeable   string       // MERGEABLE, CONFLICTING or UNKNOWN
	Rollup      string       // SUCCESS, FAILURE, ERROR, PENDING, EXPECTED; of details, work.NeverStarted if that is all that is wrong; empty when there are no checks
	MergeCommit string       // once merged
	MergedBy    work.Account // not in listings
	Author      work.Account
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ClosedAt    time.Time
	MergedAt    time.Time
}

// Values of Pull.Mergeable.
const (
	mergeable        = "MERGEABLE"
	conflicting      = "CONFLICTING"
	unknownMergeable = "UNKNOWN" // not computed yet; reading it starts the computation
)

// PullDetail is a pull request with all that a poll needs, except its conversation.
type PullDetail struct {
	Pull
	Reviews []Review
	Threads []Thread
	Checks  []Check   // of the head, as far as the token may see them
	Since   time.Time // if set, Reviews and Threads lack some that began before

	Labels       []string
	BaseChanged  time.Time // when the base was last changed or force-pushed; zero: never
	LabelChanges int       // number of times a label was added or removed
	CommentCount int       // in the conversation
	BranchGone   bool      // its branch is deleted
}

// Review is a review's verdict and summary. A PENDING one is our own account's draft, which GitHub
// shows to nobody else.
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
	Word        work.Word // set only by Details
}

// Thread is a conversation on a diff.
type Thread struct {
	NodeID   string
	Resolved bool
	Top      int64 // id of its first comment, the target of replies; 0 if all comments are deleted
	Comments []ReviewComment
}

// Check is a check run or a commit status of a head.
type Check struct {
	Name       string
	Status     string // COMPLETED, or an earlier status
	Conclusion string // SUCCESS, FAILURE, …; empty until completed
	URL        string
	Kind       string // CheckRun or StatusContext
	ID         string
	Summary    string    // of a commit status
	EndedAt    time.Time // zero while it runs
}

// pending is the State of a draft review.
const pending = "PENDING"

// statusContext is the Kind of a commit status.
const statusContext = "StatusContext"

// ReviewComment is a comment on a pull request's diff.
type ReviewComment struct {
	ID        int64
	NodeID    string
	Pull      int
	InReplyTo int64 // the first comment of the thread; 0 for that comment itself
	ReviewID  int64
	Path      string
	Line      int // 0 when outdated, or on the whole file
	DiffHunk  string
	Body      string
	URL       string
	Author    work.Account
	CreatedAt time.Time
	UpdatedAt time.Time
	Pending   bool      // part of our own account's draft review; set only by Details
	Word      work.Word // set only by Details
}

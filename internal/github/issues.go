package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Issue is an issue, or the issue side of a pull request.
type Issue struct {
	ID          int64
	NodeID      string
	Number      int
	Title       string
	Body        string
	URL         string
	State       string // open or closed
	StateReason string // completed, not_planned, reopened, or empty
	Author      work.Account
	Labels      []string
	Assignees   []work.Account
	IsPull      bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ClosedAt    time.Time
	Blockers    Blockers
	SubIssues   SubIssues
	Comments    int           // how many anybody wrote
	Parent      string        // the issue whose sub-issue it is, as work.Dependency.String; empty: none, or one that the account may not see
	Repo        work.RepoName // the repository that has it
}

// Blockers counts the issues that an issue is blocked by. A host without dependencies (GitHub
// Enterprise Server before 3.19) is not Supported; a pull request is neither.
type Blockers struct {
	Supported bool
	Open, All int
}

// SubIssues counts the sub-issues of an issue. A host without sub-issues (GitHub Enterprise Server
// before 3.17) is not Supported; a pull request is neither.
type SubIssues struct {
	Supported bool
	Total     int
}

type wireUser struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// account converts a user; REST has null for a deleted account.
func account(u *wireUser) work.Account {
	if u == nil {
		return work.Account{Login: transport.Ghost}
	}
	return work.Account{ID: u.ID, Login: u.Login, Bot: u.Type == "Bot" || transport.IsBotLogin(u.Login)}
}

type wireIssue struct {
	ID          int64       `json:"id"`
	NodeID      string      `json:"node_id"`
	Number      int         `json:"number"`
	Title       string      `json:"title"`
	Body        string      `json:"body"`
	HTMLURL     string      `json:"html_url"`
	State       string      `json:"state"`
	StateReason string      `json:"state_reason"`
	User        *wireUser   `json:"user"`
	Labels      []wireLabel `json:"labels"`
	Assignees   []wireUser  `json:"assignees"`
	PullRequest *struct{}   `json:"pull_request"`
	Comments    int         `json:"comments"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
	ClosedAt    time.Time   `json:"closed_at"`

	RepositoryURL string `json:"repository_url"`
	Dependencies  *struct {
		Open int `json:"blocked_by"`
		All  int `json:"total_blocked_by"`
	} `json:"issue_dependencies_summary"`
	SubIssues *struct {
		Total int `json:"total"`
	} `json:"sub_issues_summary"`
	ParentURL string `json:"parent_issue_url"`
}

func (w wireIssue) Check() error {
	if w.ID == 0 || w.Number == 0 || w.State == "" || w.RepositoryURL == "" {
		return errors.New("no issue")
	}
	return nil
}

// issue converts an issue.
func (c *Client) issue(w wireIssue) Issue {
	i := Issue{
		ID: w.ID, NodeID: w.NodeID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.HTMLURL,
		State: w.State, StateReason: w.StateReason, Author: account(w.User),
		IsPull: w.PullRequest != nil, Comments: w.Comments,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, ClosedAt: w.ClosedAt,
	}
	for _, l := range w.Labels {
		i.Labels = append(i.Labels, l.Name)
	}
	if w.Dependencies != nil {
		i.Blockers = Blockers{true, w.Dependencies.Open, w.Dependencies.All}
	}
	for _, u := range w.Assignees {
		i.Assignees = append(i.Assignees, account(&u))
	}
	if w.SubIssues != nil {
		i.SubIssues = SubIssues{true, w.SubIssues.Total}
	}
	i.Repo, _ = repoOfURL(w.RepositoryURL, c.api.Host())
	i.Parent = refOfURL(w.ParentURL, c.api.Host())
	return i
}

// ListIssues reads one page of issues and pull requests.
func (c *Client) ListIssues(ctx context.Context, p transport.PageRequest) (transport.Page[Issue], error) {
	out, err := transport.ReadPage(ctx, c.api, p, c.issue)
	if err != nil {
		return out, fmt.Errorf("list issues: %w", err)
	}
	return out, nil
}

// Issue reads one issue. It is false if the issue was deleted or transferred, or may not be seen. A
// repository that moved is a *transport.MovedError.
func (c *Client) Issue(ctx context.Context, repo work.RepoName, number int) (Issue, bool, error) {
	var w wireIssue
	err := c.api.Get(ctx, issuePath(repo, number), &w)
	if err == nil {
		return c.issue(w), true, nil
	}
	if err = c.unlessGone(ctx, repo, err); err != nil {
		return Issue{}, false, fmt.Errorf("read issue %s: %w", work.Ref(repo, number), err)
	}
	return Issue{}, false, nil
}

// unlessGone returns the error of a request for an issue, or nil if it says that the issue was
// deleted or transferred, or may not be seen.
func (c *Client) unlessGone(ctx context.Context, repo work.RepoName, err error) error {
	if IsStatus(err, http.StatusNotFound, http.StatusGone) {
		return nil
	}
	if _, moved := errors.AsType[*transport.MovedError](err); !moved {
		return err
	}
	// GitHub redirects for a transferred issue and for a renamed repository alike. Reading the
	// repository shows which.
	_, err = c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: "repos/" + repo.FullName()})
	return err
}

// IssueWherever reads an issue even if its repository was renamed or it was transferred. It is
// false if the issue was deleted or may not be seen.
func (c *Client) IssueWherever(ctx context.Context, repo work.RepoName, number int) (Issue, bool, error) {
	a, err := c.api.Follow(ctx, issuePath(repo, number))
	if IsStatus(err, http.StatusNotFound, http.StatusGone) {
		return Issue{}, false, nil
	}
	var w wireIssue
	if err == nil {
		err = a.Decode(&w)
	}
	if err != nil {
		return Issue{}, false, fmt.Errorf("read issue %s: %w", work.Ref(repo, number), err)
	}
	return c.issue(w), true, nil
}

// TimelineEvent is one entry of an issue's timeline. Commits and cross-references have no id.
type TimelineEvent struct {
	ID          int64
	NodeID      string
	Event       string // labeled, closed, reopened, merged, …
	Label       string // labeled, unlabeled
	Actor       work.Account
	CreatedAt   time.Time
	CommitOID   string
	RenamedFrom string // renamed: the former title
	FromPull    int    // cross-referenced: the referring pull request; 0 if it is an issue
}

type wireTimelineEvent struct {
	ID     int64     `json:"id"`
	NodeID string    `json:"node_id"`
	Event  string    `json:"event"`
	Label  wireLabel `json:"label"`
	Rename struct {
		From string `json:"from"`
	} `json:"rename"`
	Actor     *wireUser `json:"actor"`
	User      *wireUser `json:"user"` // of comments and reviews
	CreatedAt time.Time `json:"created_at"`
	CommitID  string    `json:"commit_id"`
	SHA       string    `json:"sha"` // of commits
	Source    struct {
		Issue struct {
			Number      int       `json:"number"`
			PullRequest *struct{} `json:"pull_request"`
		} `json:"issue"`
	} `json:"source"` // of cross-references
}

func (w wireTimelineEvent) Check() error { return nil } // its kinds have no field in common

func (w wireTimelineEvent) event() TimelineEvent {
	e := TimelineEvent{
		ID: w.ID, NodeID: w.NodeID, Event: w.Event, Label: w.Label.Name, Actor: account(w.Actor),
		CreatedAt: w.CreatedAt, CommitOID: w.CommitID, RenamedFrom: w.Rename.From,
	}
	if w.Actor == nil && w.User != nil {
		e.Actor = account(w.User)
	}
	if e.CommitOID == "" {
		e.CommitOID = w.SHA
	}
	if w.Source.Issue.PullRequest != nil {
		e.FromPull = w.Source.Issue.Number
	}
	return e
}

// TimelineOf reads the whole timeline of an issue or pull request, oldest first.
func (c *Client) TimelineOf(ctx context.Context, repo work.RepoName, number int) ([]TimelineEvent, error) {
	address := fmt.Sprintf("repos/%s/issues/%d/timeline?per_page=100", repo.FullName(), number)
	events, err := transport.ReadAll(ctx, c.api, address, wireTimelineEvent.event)
	if err != nil {
		return nil, fmt.Errorf("read timeline of %s: %w", work.Ref(repo, number), err)
	}
	return events, nil
}

// IssuesSince lists issues, without pull requests, that changed since a time; all for the zero
// time.
func (c *Client) IssuesSince(ctx context.Context, repo work.RepoName, since time.Time) ([]Issue, error) {
	all, err := transport.ReadAll(ctx, c.api, listURL(repo, "issues", since, "state", "all", "sort", "updated", "direction", "desc"), c.issue)
	if err != nil {
		return nil, fmt.Errorf("list issues: %w", err)
	}
	issues := all[:0]
	for _, i := range all {
		if !i.IsPull {
			issues = append(issues, i)
		}
	}
	return issues, nil
}

// CreateIssue opens an issue.
func (c *Client) CreateIssue(ctx context.Context, repo work.RepoName, title, body string) (Issue, error) {
	var w wireIssue
	request := struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}{title, body}
	if err := c.api.Write(ctx, http.MethodPost, "repos/"+repo.FullName()+"/issues", request, &w); err != nil {
		return Issue{}, fmt.Errorf("open an issue: %w", err)
	}
	return c.issue(w), nil
}

// Text is the content of an issue.
type Text struct {
	Title, Body string
	EditedAt    time.Time // last edit of the body; zero: never
}

type wireText struct {
	Title    string    `json:"title"`
	Body     string    `json:"body"`
	EditedAt time.Time `json:"lastEditedAt"`
}

// Text reads the content of an issue by its node id. It is false if it was deleted or may not be seen.
func (c *Client) Text(ctx context.Context, nodeID string) (Text, bool, error) {
	data, _, err := transport.GraphQLStrict[struct {
		Node *wireText `json:"node"`
	}](ctx, c.api, transport.Reads, textQuery(), map[string]any{"id": nodeID})
	switch {
	case IsStatus(err, http.StatusNotFound):
		return Text{}, false, nil
	case err != nil:
		return Text{}, false, fmt.Errorf("read the text of %s: %w", nodeID, err)
	case data.Node == nil:
		return Text{}, false, nil
	}
	return Text(*data.Node), true, nil
}

package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// History has content and events of issues and pull requests by number. It contains only lists that
// were read completely.
type History struct {
	Issues   map[int]Issue           // without id, repository and what only lists and single reads count
	Texts    map[string]Text         // of issues, by node id
	Comments map[int][]Comment       // conversations
	Labels   map[int][]TimelineEvent // added and removed labels; events have node ids but no ids
	Commits  map[int][]work.Commit   // of pull requests
}

func newHistory() History {
	return History{
		Issues: map[int]Issue{}, Texts: map[string]Text{}, Comments: map[int][]Comment{},
		Labels: map[int][]TimelineEvent{}, Commits: map[int][]work.Commit{},
	}
}

// Join adds the content of o.
func (h *History) Join(o History) {
	if h.Issues == nil {
		*h = newHistory()
	}
	maps.Copy(h.Issues, o.Issues)
	maps.Copy(h.Texts, o.Texts)
	maps.Copy(h.Comments, o.Comments)
	maps.Copy(h.Labels, o.Labels)
	maps.Copy(h.Commits, o.Commits)
}

type wireTalk struct {
	wireWord
	ID         string           `json:"id"`
	DatabaseID transport.BigInt `json:"fullDatabaseId"`
	Body       string           `json:"body"`
	URL        string           `json:"url"`
	Author     *transport.Actor `json:"author"`
	CreatedAt  time.Time        `json:"createdAt"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

type wireLabelled struct {
	Kind      string           `json:"__typename"`
	ID        string           `json:"id"`
	CreatedAt time.Time        `json:"createdAt"`
	Actor     *transport.Actor `json:"actor"`
	Label     struct {
		Name string `json:"name"`
	} `json:"label"`
}

type wirePullHistory struct {
	Number   int                                `json:"number"`
	Comments transport.Connection[wireTalk]     `json:"comments"`
	Labels   transport.Connection[wireLabelled] `json:"timelineItems"`
	Commits  transport.Connection[struct {
		Commit struct {
			OID     string `json:"oid"`
			Message string `json:"message"`
		} `json:"commit"`
	}] `json:"commits"`
}

type wireIssueHistory struct {
	ID         string           `json:"id"`
	Number     int              `json:"number"`
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	URL        string           `json:"url"`
	State      string           `json:"state"`
	UpdatedAt  time.Time        `json:"updatedAt"`
	EditedAt   time.Time        `json:"lastEditedAt"`
	Author     *transport.Actor `json:"author"`
	Repository struct {
		ID string `json:"id"`
	} `json:"repository"`
	Labels transport.Connection[struct {
		Name string `json:"name"`
	}] `json:"labels"`
	Comments transport.Connection[wireTalk]     `json:"comments"`
	Events   transport.Connection[wireLabelled] `json:"timelineItems"`
}

func (h *History) addPull(w *wirePullHistory) {
	h.addTalk(w.Number, w.Comments)
	h.addLabels(w.Number, w.Labels)
	if w.Commits.PageInfo.HasNextPage {
		return
	}
	commits := make([]work.Commit, len(w.Commits.Nodes))
	for i, c := range w.Commits.Nodes {
		commits[i] = work.Commit{OID: c.Commit.OID, Message: c.Commit.Message}
	}
	h.Commits[w.Number] = commits
}

func (h *History) addIssue(w *wireIssueHistory) {
	h.addTalk(w.Number, w.Comments)
	if w.Labels.PageInfo.HasNextPage {
		return
	}
	is := Issue{
		NodeID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.URL, State: strings.ToLower(w.State),
		Author: w.Author.Account(), UpdatedAt: w.UpdatedAt,
	}
	for _, l := range w.Labels.Nodes {
		is.Labels = append(is.Labels, l.Name)
	}
	h.Issues[w.Number] = is
	h.Texts[w.ID] = Text{Title: w.Title, Body: w.Body, EditedAt: w.EditedAt}
	h.addLabels(w.Number, w.Events)
}

func (h *History) addTalk(number int, list transport.Connection[wireTalk]) {
	if list.PageInfo.HasNextPage {
		return
	}
	talk := make([]Comment, 0, len(list.Nodes))
	for _, w := range list.Nodes {
		if w.DatabaseID == 0 {
			return
		}
		talk = append(talk, Comment{
			Word: w.word(),
			ID:   int64(w.DatabaseID), NodeID: w.ID, Number: number, Body: w.Body, URL: w.URL,
			Author: w.Author.Account(), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		})
	}
	h.Comments[number] = talk
}

// addLabels skips the timeline of an issue whose title changed: readers of titles compare event
// ids, which GraphQL does not have.
func (h *History) addLabels(number int, list transport.Connection[wireLabelled]) {
	if list.PageInfo.HasNextPage {
		return
	}
	events := make([]TimelineEvent, 0, len(list.Nodes))
	for _, w := range list.Nodes {
		e := TimelineEvent{NodeID: w.ID, Event: "labeled", Label: w.Label.Name, Actor: w.Actor.Account(), CreatedAt: w.CreatedAt}
		switch w.Kind {
		case "LabeledEvent":
		case "UnlabeledEvent":
			e.Event = "unlabeled"
		default:
			return
		}
		events = append(events, e)
	}
	h.Labels[number] = events
}

// OpenPullsPage is a page of the open pull requests, oldest first, with their repository.
type OpenPullsPage struct {
	Repo  RepoNode
	Pulls []Pull // without the fields of single reads: mergeability, checks
	All   int    // number of open ones on all pages
	Next  string // cursor of the next page; empty: this is the last
}

type wireOpenPull struct {
	ID        string           `json:"id"`
	Number    int              `json:"number"`
	Title     string           `json:"title"`
	Body      string           `json:"body"`
	URL       string           `json:"url"`
	Draft     bool             `json:"isDraft"`
	Head      string           `json:"headRefName"`
	HeadOID   string           `json:"headRefOid"`
	CrossRepo bool             `json:"isCrossRepository"`
	Base      string           `json:"baseRefName"`
	Author    *transport.Actor `json:"author"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdatedAt time.Time        `json:"updatedAt"`
}

func (w wireOpenPull) pull() (Pull, error) {
	if w.ID == "" || w.Number == 0 || w.HeadOID == "" {
		return Pull{}, errors.New("no pull request")
	}
	return Pull{
		NodeID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.URL, State: work.PullOpen, Draft: w.Draft,
		Head: w.Head, HeadOID: w.HeadOID, CrossRepo: w.CrossRepo, Base: w.Base, Mergeable: unknownMergeable,
		Author: w.Author.Account(), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}, nil
}

type wireOpenPullsPage struct {
	Repository struct {
		ID    string `json:"id"`
		Pulls struct {
			transport.Connection[wireOpenPull]
			All int `json:"totalCount"`
		} `json:"pullRequests"`
	} `json:"repository"`
}

// OpenPullsPage reads a page of up to 100 open pull requests: the first for an empty after,
// otherwise the one that follows. They are sorted by age, so that none is skipped when others are
// closed between two pages.
func (c *Client) OpenPullsPage(ctx context.Context, repo work.RepoName, after string) (OpenPullsPage, error) {
	p, err := c.openPullsPage(ctx, repo, after)
	if err != nil {
		return OpenPullsPage{}, fmt.Errorf("list the open pull requests: %w", err)
	}
	return p, nil
}

func (c *Client) openPullsPage(ctx context.Context, repo work.RepoName, after string) (OpenPullsPage, error) {
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name}
	if after != "" {
		vars["after"] = after
	}
	data, url, err := transport.GraphQLStrict[wireOpenPullsPage](ctx, c.api, transport.Reads, openPullsQuery(), vars)
	if err != nil {
		return OpenPullsPage{}, err
	}
	if data.Repository.ID == "" {
		return OpenPullsPage{}, &transport.BodyError{URL: url, Err: errors.New("no repository")}
	}
	list := data.Repository.Pulls
	page := OpenPullsPage{Repo: RepoNode{NodeID: data.Repository.ID}, All: list.All}
	if list.PageInfo.HasNextPage {
		if page.Next = list.PageInfo.EndCursor; page.Next == "" || page.Next == after {
			return OpenPullsPage{}, &transport.BodyError{URL: url, Err: errors.New("the pages run in a circle")}
		}
	}
	for _, w := range list.Nodes {
		p, err := w.pull()
		if err != nil {
			return OpenPullsPage{}, &transport.BodyError{URL: url, Err: err}
		}
		page.Pulls = append(page.Pulls, p)
	}
	return page, nil
}

// MaxHistories is the maximum number of pull requests of one Histories.
const MaxHistories = 20

// PullWithIssue is a pull request with the issue that it is for.
type PullWithIssue struct {
	NodeID string
	Issue  int
}

type wireHistories struct {
	Nodes      []*wirePullHistory         `json:"nodes"`
	Repository map[string]json.RawMessage `json:"repository"` // issues by their names in the document, and the id
}

// Histories reads the content and events of up to 20 pull requests and of their issues, for about
// two points. Lists that do not fit into one answer, and parts with errors, are left out; read them
// individually.
func (c *Client) Histories(ctx context.Context, repo work.RepoName, asked []PullWithIssue) (History, error) {
	h, err := c.histories(ctx, repo, asked)
	if err != nil {
		return History{}, fmt.Errorf("read the histories of %d pull requests: %w", len(asked), err)
	}
	return h, nil
}

func (c *Client) histories(ctx context.Context, repo work.RepoName, asked []PullWithIssue) (History, error) {
	if len(asked) > MaxHistories {
		return History{}, fmt.Errorf("more than %d", MaxHistories)
	}
	ids := make([]string, len(asked))
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name, "ids": ids}
	for i, a := range asked {
		ids[i], vars[fmt.Sprintf("n%d", i)] = a.NodeID, a.Issue
	}
	g, err := transport.GraphQL[wireHistories](ctx, c.api, transport.Reads, historiesQuery(len(asked)), vars)
	if err != nil {
		return History{}, err
	}
	spoiled, err := failedParts(g.GraphErrors)
	if err != nil {
		return History{}, err
	}
	data := g.Data
	h := newHistory()
	for i, w := range data.Nodes {
		if w != nil && w.Number != 0 && !spoiled[fmt.Sprint("nodes", i)] {
			h.addPull(w)
		}
	}
	var repoID string
	if err := json.Unmarshal(data.Repository["id"], &repoID); err != nil {
		return History{}, &transport.BodyError{URL: g.URL, Err: err}
	}
	for i, a := range asked {
		name := fmt.Sprintf("i%d", i)
		var w *wireIssueHistory
		if err := json.Unmarshal(data.Repository[name], &w); err != nil {
			return History{}, &transport.BodyError{URL: g.URL, Err: err}
		}
		if w != nil && w.Number == a.Issue && w.Repository.ID == repoID && !spoiled[name] { // else it is gone or was transferred
			h.addIssue(w)
		}
	}
	return h, nil
}

// failedParts returns the parts of an answer that have errors: issues by alias, pull requests by
// index. Any other error fails the whole answer.
func failedParts(g transport.GraphErrors) (map[string]bool, error) {
	parts := map[string]bool{}
	for _, e := range g.Errors {
		if len(e.Path) < 2 {
			return nil, e.Refusal(g.URL)
		}
		switch {
		case e.Path[0] == any("repository") && e.Path[1] != any("id"):
			parts[fmt.Sprint(e.Path[1])] = true
		case e.Path[0] == any("nodes"):
			parts[fmt.Sprint("nodes", e.Path[1])] = true
		default:
			return nil, e.Refusal(g.URL)
		}
	}
	return parts, nil
}

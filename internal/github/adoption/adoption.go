// Package adoption reads what a lost database knew from as few answers as there can be:
// the open pull requests of a repository page by page, and what was said and done on many
// of them, and on their issues, at once.
package adoption

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/queries"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Adoption are these requests.
type Adoption struct{ api *transport.Client }

// New makes the requests over a client.
func New(c *github.Client) Adoption { return Adoption{c.Client} }

// Page is a page of the open pull requests, oldest first, and of which repository it is.
type Page struct {
	Repo  github.Identity
	Pulls []github.Pull // without what single reads show: mergeability, checks
	All   int           // open ones on all pages
	Next  string        // what the next page is asked for by; empty: there is none
}

type wirePull struct {
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

func (w wirePull) pull() (github.Pull, error) {
	if w.ID == "" || w.Number == 0 || w.HeadOID == "" {
		return github.Pull{}, errors.New("no pull request")
	}
	return github.Pull{
		NodeID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.URL, State: work.PullOpen, Draft: w.Draft,
		Head: w.Head, HeadOID: w.HeadOID, CrossRepo: w.CrossRepo, Base: w.Base, Mergeable: github.UnknownMergeable,
		Author: w.Author.Account(), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}, nil
}

type wirePage struct {
	Repository struct {
		ID    string `json:"id"`
		Pulls struct {
			transport.Connection[wirePull]
			All int `json:"totalCount"`
		} `json:"pullRequests"`
	} `json:"repository"`
}

// OpenPage reads a page of up to 100 open pull requests: the first one, or the one after
// another by what that names as next. It is told by their age, so that none is passed over
// when others are closed between two pages.
func (c Adoption) OpenPage(ctx context.Context, repo work.RepoName, after string) (Page, error) {
	p, err := c.openPage(ctx, repo, after)
	if err != nil {
		return Page{}, fmt.Errorf("list the open pull requests: %w", err)
	}
	return p, nil
}

func (c Adoption) openPage(ctx context.Context, repo work.RepoName, after string) (Page, error) {
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name}
	if after != "" {
		vars["after"] = after
	}
	data, url, err := transport.GraphQLStrict[wirePage](ctx, c.api, transport.Reads, queries.OpenPulls(), vars)
	if err != nil {
		return Page{}, err
	}
	if data.Repository.ID == "" {
		return Page{}, &transport.BodyError{URL: url, Err: errors.New("no repository")}
	}
	list := data.Repository.Pulls
	page := Page{Repo: github.Identity{NodeID: data.Repository.ID}, All: list.All}
	if list.PageInfo.HasNextPage {
		if page.Next = list.PageInfo.EndCursor; page.Next == "" || page.Next == after {
			return Page{}, &transport.BodyError{URL: url, Err: errors.New("the pages run in a circle")}
		}
	}
	for _, w := range list.Nodes {
		p, err := w.pull()
		if err != nil {
			return Page{}, &transport.BodyError{URL: url, Err: err}
		}
		page.Pulls = append(page.Pulls, p)
	}
	return page, nil
}

// MaxHistories is the most pull requests of one Histories.
const MaxHistories = 20

// Asked is a pull request with the issue that it comes from.
type Asked struct {
	NodeID string
	Issue  int
}

type wireHistories struct {
	Nodes      []*wirePullHistory         `json:"nodes"`
	Repository map[string]json.RawMessage `json:"repository"` // issues by their names in the document, and the id
}

// Histories reads what was said and done on up to 20 pull requests and on their issues, for
// about two points. What one answer does not show whole, or at all, is left out: it is for
// single reads.
func (c Adoption) Histories(ctx context.Context, repo work.RepoName, asked []Asked) (History, error) {
	h, err := c.histories(ctx, repo, asked)
	if err != nil {
		return History{}, fmt.Errorf("read the histories of %d pull requests: %w", len(asked), err)
	}
	return h, nil
}

func (c Adoption) histories(ctx context.Context, repo work.RepoName, asked []Asked) (History, error) {
	if len(asked) > MaxHistories {
		return History{}, fmt.Errorf("more than %d", MaxHistories)
	}
	ids := make([]string, len(asked))
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name, "ids": ids}
	for i, a := range asked {
		ids[i], vars[fmt.Sprintf("n%d", i)] = a.NodeID, a.Issue
	}
	g, err := transport.GraphQL[wireHistories](ctx, c.api, transport.Reads, queries.Histories(len(asked)), vars)
	if err != nil {
		return History{}, err
	}
	spoiled, err := spoiledBy(g.GraphErrors)
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
		if w != nil && w.Number == a.Issue && w.Repository.ID == repoID && !spoiled[name] { // else it is gone, or moved away
			h.addIssue(w)
		}
	}
	return h, nil
}

// spoiledBy are the parts of an answer of which errors tell: an issue by its name in the
// document, a pull request by its place. Any other error spoils the answer.
func spoiledBy(g transport.GraphErrors) (map[string]bool, error) {
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

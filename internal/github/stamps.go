package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// MaxStamps is the maximum number of repositories of one query, GitHub's limit of nodes.
const MaxStamps = 100

// RepoStamps is what GitHub shows of a repository without its lists.
type RepoStamps struct {
	FullName string // the current owner/name
	Archived bool
	Issues   time.Time // newest updatedAt of its issues; zero: it has none
	Pulls    time.Time // the same for its pull requests
}

type wireStamps struct {
	Nodes []*wireRepo `json:"nodes"`
}

type wireRepo struct {
	ID       string     `json:"id"`
	FullName string     `json:"nameWithOwner"`
	Archived bool       `json:"isArchived"`
	Issues   *wireStamp `json:"issues"`
	Pulls    *wireStamp `json:"pullRequests"`
}

// wireStamp is a list with at most one item.
type wireStamp struct {
	Nodes []struct {
		UpdatedAt time.Time `json:"updatedAt"`
	} `json:"nodes"`
}

func (w *wireStamp) at() time.Time {
	if len(w.Nodes) == 0 {
		return time.Time{}
	}
	return w.Nodes[0].UpdatedAt
}

// Stamps reads, by node id, when up to 100 repositories last changed, and their names. It costs about two
// points. A repository that GitHub does not show is left out: an error about one does not affect the others.
func (c *Client) Stamps(ctx context.Context, nodeIDs []string) (map[string]RepoStamps, error) {
	all, err := c.stamps(ctx, nodeIDs)
	if err != nil {
		return nil, fmt.Errorf("ask which of %d repositories changed: %w", len(nodeIDs), err)
	}
	return all, nil
}

func (c *Client) stamps(ctx context.Context, nodeIDs []string) (map[string]RepoStamps, error) {
	if len(nodeIDs) > MaxStamps {
		return nil, fmt.Errorf("more than %d", MaxStamps)
	}
	g, err := transport.GraphQL[wireStamps](ctx, c.api, transport.Reads, stampsQuery(), map[string]any{"ids": nodeIDs})
	if err != nil {
		return nil, err
	}
	unsaid, err := failedRepos(g.GraphErrors)
	if err != nil {
		return nil, err
	}
	if len(g.Data.Nodes) != len(nodeIDs) {
		return nil, &transport.BodyError{URL: g.URL, Err: errors.New("not as many nodes as were asked about")}
	}
	all := make(map[string]RepoStamps, len(nodeIDs))
	for i, w := range g.Data.Nodes {
		if w == nil || unsaid[i] || w.ID != nodeIDs[i] || w.FullName == "" || w.Issues == nil || w.Pulls == nil {
			continue
		}
		all[w.ID] = RepoStamps{FullName: w.FullName, Archived: w.Archived, Issues: w.Issues.at(), Pulls: w.Pulls.at()}
	}
	return all, nil
}

// failedRepos returns the indexes of repositories with errors: GitHub hides them from us, for
// example. Any other error fails the whole query.
func failedRepos(g transport.GraphErrors) (at map[int]bool, err error) {
	at = map[int]bool{}
	for _, e := range g.Errors {
		if len(e.Path) < 2 || e.Path[0] != any("nodes") {
			return nil, e.Refusal(g.URL)
		}
		place, ok := e.Path[1].(float64)
		if !ok {
			return nil, e.Refusal(g.URL)
		}
		at[int(place)] = true
	}
	return at, nil
}

package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// MaxPulse is the maximum number of repositories of one query, GitHub's limit of nodes.
const MaxPulse = 100

// Pulse is the answer of one query about up to 100 repositories.
type Pulse struct {
	Viewer    work.Account         // without an id if GitHub does not report it
	Repos     map[string]RepoPulse // by node id; only repositories that GitHub reported completely
	Cost      int                  // in GraphQL points
	Remaining int
	ResetAt   time.Time
}

// RepoPulse is the state of a repository that GitHub shows without its lists.
type RepoPulse struct {
	FullName string // the current owner/name
	Archived bool
	Issues   time.Time // newest updatedAt of its issues; zero: it has none
	Pulls    time.Time // the same for its pull requests
}

type wirePulse struct {
	Limit struct {
		Cost      int       `json:"cost"`
		Remaining int       `json:"remaining"`
		ResetAt   time.Time `json:"resetAt"`
	} `json:"rateLimit"`
	Viewer struct {
		ID    int64  `json:"databaseId"`
		Login string `json:"login"`
	} `json:"viewer"`
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

// Pulse reads, by node id, when up to 100 repositories last changed, their names, and our account.
// It costs about two points. An error about one repository does not affect the others.
func (c *Client) Pulse(ctx context.Context, nodeIDs []string) (Pulse, error) {
	p, err := c.pulse(ctx, nodeIDs)
	if err != nil {
		return Pulse{}, fmt.Errorf("ask which of %d repositories changed: %w", len(nodeIDs), err)
	}
	return p, nil
}

func (c *Client) pulse(ctx context.Context, nodeIDs []string) (Pulse, error) {
	if len(nodeIDs) > MaxPulse {
		return Pulse{}, fmt.Errorf("more than %d", MaxPulse)
	}
	g, err := transport.GraphQL[wirePulse](ctx, c.api, transport.Reads, pulseQuery(), map[string]any{"ids": nodeIDs})
	if err != nil {
		return Pulse{}, err
	}
	unsaid, err := failedRepos(g.GraphErrors)
	if err != nil {
		return Pulse{}, err
	}
	data := g.Data
	if len(data.Nodes) != len(nodeIDs) {
		return Pulse{}, &transport.BodyError{URL: g.URL, Err: errors.New("not as many nodes as were asked about")}
	}
	p := Pulse{
		Viewer: work.Account{ID: data.Viewer.ID, Login: data.Viewer.Login, Bot: transport.IsBotLogin(data.Viewer.Login)},
		Repos:  make(map[string]RepoPulse, len(nodeIDs)),
		Cost:   data.Limit.Cost, Remaining: data.Limit.Remaining, ResetAt: data.Limit.ResetAt,
	}
	for i, w := range data.Nodes {
		if w == nil || unsaid[i] || w.ID != nodeIDs[i] || w.FullName == "" || w.Issues == nil || w.Pulls == nil {
			continue
		}
		p.Repos[w.ID] = RepoPulse{FullName: w.FullName, Archived: w.Archived, Issues: w.Issues.at(), Pulls: w.Pulls.at()}
	}
	return p, nil
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

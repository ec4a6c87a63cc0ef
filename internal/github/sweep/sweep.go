// Package sweep reads pull requests by GraphQL, many at once: light, enough to see that
// one changed, and in detail.
package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/queries"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The most pull requests of one Sweep and of one Details.
const (
	MaxSweep   = 50
	MaxDetails = 10
)

// Sweeps are the requests that read pull requests by their node ids.
type Sweeps struct{ api *transport.Client }

// New makes the requests over a client.
func New(api *transport.Client) Sweeps { return Sweeps{api} }

// Sweep is what one light query says of a repository and up to 50 of its pull
// requests.
type Sweep struct {
	Viewer    work.Account
	Repo      Identity
	Pulls     []PullLight // in the order asked
	Missing   []string    // node ids that name no pull request that we may see
	Cost      int         // in GraphQL's points
	Remaining int
	ResetAt   time.Time
}

// PullLight is enough to see that a pull request changed.
type PullLight struct {
	NodeID      string
	Number      int
	State       work.PullState
	HeadOID     string
	BaseRef     string
	Mergeable   string // MERGEABLE, CONFLICTING or UNKNOWN
	Rollup      string // empty: no checks, or a token that may not see them
	Fingerprint string // of everything that the query returned for it
}

// wireLight is what the query asks of a pull request. What nobody looks into is kept as it
// came, for the fingerprint alone.
type wireLight struct {
	Kind       string `json:"__typename"`
	ID         string `json:"id"`
	Number     int    `json:"number"`
	State      string `json:"state"`
	HeadRefOID string `json:"headRefOid"`
	BaseRef    string `json:"baseRefName"`
	Mergeable  string `json:"mergeable"`
	Rollup     struct {
		State string `json:"state"`
	} `json:"statusCheckRollup"`

	Draft     json.RawMessage `json:"isDraft"`
	Locked    json.RawMessage `json:"locked"`
	UpdatedAt json.RawMessage `json:"updatedAt"`
	Comments  json.RawMessage `json:"totalCommentsCount"`
	Head      json.RawMessage `json:"headRef"`
	Reviews   json.RawMessage `json:"reviews"`
	Threads   json.RawMessage `json:"reviewThreads"`
}

func (w *wireLight) kind() string { // of none, too
	if w == nil {
		return ""
	}
	return w.Kind
}

func (w *wireLight) light() (PullLight, error) {
	state, err := pullState(w.State)
	if err != nil || w.ID == "" || w.Number == 0 || w.HeadRefOID == "" {
		return PullLight{}, errors.Join(errors.New("no pull request"), err)
	}
	return PullLight{
		NodeID: w.ID, Number: w.Number, State: state, HeadOID: w.HeadRefOID, BaseRef: w.BaseRef,
		Mergeable: w.Mergeable, Rollup: w.Rollup.State, Fingerprint: w.fingerprint(),
	}, nil
}

// fingerprint is a hash of everything that the query returned.
func (w *wireLight) fingerprint() string {
	text := make([]byte, 0, 1024)
	for _, s := range []string{w.ID, strconv.Itoa(w.Number), w.State, w.HeadRefOID, w.BaseRef, w.Mergeable, w.Rollup.State} {
		text = append(strconv.AppendQuote(text, s), '\n')
	}
	for _, raw := range []json.RawMessage{w.Draft, w.Locked, w.UpdatedAt, w.Comments, w.Head, w.Reviews, w.Threads} {
		text = append(append(text, raw...), '\n') // JSON: no part of it runs into the next
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// pullState reads GraphQL's OPEN, CLOSED and MERGED.
func pullState(s string) (work.PullState, error) {
	switch state := work.PullState(strings.ToLower(s)); state {
	case work.PullOpen, work.PullClosed, work.PullMerged:
		return state, nil
	}
	return "", fmt.Errorf("pull request is %q", s)
}

// Sweep asks what changed in up to 50 pull requests, which repository its name
// stands for, and who we are, for about one point.
func (c Sweeps) Sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	s, err := c.sweep(ctx, repo, nodeIDs)
	if err != nil {
		return Sweep{}, fmt.Errorf("sweep %d pull requests: %w", len(nodeIDs), err)
	}
	return s, nil
}

func (c Sweeps) sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	if len(nodeIDs) > MaxSweep {
		return Sweep{}, fmt.Errorf("more than %d", MaxSweep)
	}
	if nodeIDs == nil {
		nodeIDs = []string{}
	}
	g, err := transport.GraphQL[wireSweep](ctx, c.api, transport.Reads, queries.Sweep(), map[string]any{"ids": nodeIDs, "owner": repo.Owner, "name": repo.Name})
	if err != nil {
		return Sweep{}, err
	}
	gone := repositoryGone(&g.GraphErrors)
	data := g.Data
	missing, err := missingNodes(g.GraphErrors, data.Nodes, (*wireLight).kind, nodeIDs)
	if err != nil {
		return Sweep{}, err
	}
	if data.Viewer.ID == 0 {
		return Sweep{}, &transport.BodyError{URL: g.URL, Err: errors.New("no viewer")}
	}
	s := Sweep{
		Viewer:  work.Account{ID: data.Viewer.ID, Login: data.Viewer.Login, Bot: transport.IsBotLogin(data.Viewer.Login)},
		Repo:    Identity{NodeID: data.Repository.ID, Gone: gone},
		Missing: missing, Cost: data.Limit.Cost, Remaining: data.Limit.Remaining, ResetAt: data.Limit.ResetAt,
		Pulls: make([]PullLight, 0, len(nodeIDs)),
	}
	for i, w := range data.Nodes {
		if slices.Contains(missing, nodeIDs[i]) {
			continue
		}
		light, err := w.light()
		if err != nil {
			return Sweep{}, &transport.BodyError{URL: g.URL, Err: err}
		}
		s.Pulls = append(s.Pulls, light)
	}
	return s, nil
}

type wireSweep struct {
	Limit struct {
		Cost      int       `json:"cost"`
		Remaining int       `json:"remaining"`
		ResetAt   time.Time `json:"resetAt"`
	} `json:"rateLimit"`
	Viewer struct {
		ID    int64  `json:"databaseId"`
		Login string `json:"login"`
	} `json:"viewer"`
	Repository wireIdentity `json:"repository"`
	Nodes      []*wireLight `json:"nodes"`
}

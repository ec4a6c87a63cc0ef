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
	Viewer  work.Account
	Repo    Identity
	Pulls   []PullLight // in the order asked
	Missing []string    // node ids that name no pull request that we may see
	Seal    string      // of the answer; empty where something that was asked about is gone
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
	unknown := make([]PullLight, len(nodeIDs))
	for i, id := range nodeIDs {
		unknown[i].NodeID = id
	}
	return c.SweepAgain(ctx, repo, unknown, "")
}

func (c Sweeps) sweep(ctx context.Context, repo work.RepoName, stored []PullLight, sealed string) (Sweep, error) {
	if len(stored) > MaxSweep {
		return Sweep{}, fmt.Errorf("more than %d", MaxSweep)
	}
	nodeIDs := make([]string, len(stored))
	for i, p := range stored {
		nodeIDs[i] = p.NodeID
	}
	a, err := transport.AskGraphQL(ctx, c.api, transport.Reads, queries.Sweep(), map[string]any{"ids": nodeIDs, "owner": repo.Owner, "name": repo.Name})
	if err != nil {
		return Sweep{}, err
	}
	if s, ok := same(a.Body, stored, sealed); ok {
		return s, nil
	}
	g, err := transport.ReadGraphQL[wireSweep](c.api, transport.Reads, a)
	if err != nil {
		return Sweep{}, err
	}
	gone := repositoryGone(&g.GraphErrors)
	missing, err := missingNodes(g.GraphErrors, g.Data.Nodes, (*wireLight).kind, nodeIDs)
	if err != nil {
		return Sweep{}, err
	}
	if g.Data.Viewer.ID == 0 {
		return Sweep{}, &transport.BodyError{URL: g.URL, Err: errors.New("no viewer")}
	}
	s := g.Data.sweep()
	s.Repo.Gone, s.Missing = gone, missing
	for i, w := range g.Data.Nodes {
		if slices.Contains(missing, nodeIDs[i]) {
			continue
		}
		light, err := w.light()
		if err != nil {
			return Sweep{}, &transport.BodyError{URL: g.URL, Err: err}
		}
		s.Pulls = append(s.Pulls, light)
	}
	if !gone && len(missing) == 0 {
		s.Seal = seal(a.Body, s.Pulls)
	}
	return s, nil
}

type wireSweep struct {
	Viewer struct {
		ID    int64  `json:"databaseId"`
		Login string `json:"login"`
	} `json:"viewer"`
	Repository wireIdentity `json:"repository"`
	Nodes      []*wireLight `json:"nodes"`
}

// sweep is what an answer says beside its pull requests.
func (w *wireSweep) sweep() Sweep {
	return Sweep{
		Viewer: work.Account{ID: w.Viewer.ID, Login: w.Viewer.Login, Bot: transport.IsBotLogin(w.Viewer.Login)},
		Repo:   Identity{NodeID: w.Repository.ID},
		Pulls:  make([]PullLight, 0, len(w.Nodes)),
	}
}

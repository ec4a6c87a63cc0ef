package github

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	UpdatedAt   time.Time
	Fingerprint string // of everything that the query returned for it
}

type wireLight struct {
	ID         string    `json:"id"`
	Number     int       `json:"number"`
	State      string    `json:"state"`
	HeadRefOID string    `json:"headRefOid"`
	BaseRef    string    `json:"baseRefName"`
	Mergeable  string    `json:"mergeable"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Rollup     struct {
		State string `json:"state"`
	} `json:"statusCheckRollup"`
}

func (w wireLight) light(raw json.RawMessage) (PullLight, error) {
	state, err := pullState(w.State)
	if err != nil || w.ID == "" || w.Number == 0 || w.HeadRefOID == "" {
		return PullLight{}, errors.Join(errors.New("no pull request"), err)
	}
	print, err := fingerprint(raw)
	if err != nil {
		return PullLight{}, err
	}
	return PullLight{
		NodeID: w.ID, Number: w.Number, State: state, HeadOID: w.HeadRefOID, BaseRef: w.BaseRef,
		Mergeable: w.Mergeable, Rollup: w.Rollup.State, UpdatedAt: w.UpdatedAt, Fingerprint: print,
	}, nil
}

// pullState reads GraphQL's OPEN, CLOSED and MERGED.
func pullState(s string) (work.PullState, error) {
	switch state := work.PullState(strings.ToLower(s)); state {
	case work.PullOpen, work.PullClosed, work.PullMerged:
		return state, nil
	}
	return "", fmt.Errorf("pull request is %q", s)
}

// fingerprint is a hash of a JSON document, whatever its spacing.
func fingerprint(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:16]), nil
}

// Sweep asks what changed in up to 50 pull requests, which repository its name
// stands for, and who we are, for about one point.
func (c Pulls) Sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	s, err := c.sweep(ctx, repo, nodeIDs)
	if err != nil {
		return Sweep{}, fmt.Errorf("sweep %d pull requests: %w", len(nodeIDs), err)
	}
	return s, nil
}

func (c Pulls) sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	if len(nodeIDs) > MaxSweep {
		return Sweep{}, fmt.Errorf("more than %d", MaxSweep)
	}
	if nodeIDs == nil {
		nodeIDs = []string{}
	}
	g, err := c.api.GraphQL(ctx, transport.Reads, queries.Sweep(), map[string]any{"ids": nodeIDs, "owner": repo.Owner, "name": repo.Name})
	if err != nil {
		return Sweep{}, err
	}
	gone := repositoryGone(g)
	var data struct {
		Limit struct {
			Cost      int       `json:"cost"`
			Remaining int       `json:"remaining"`
			ResetAt   time.Time `json:"resetAt"`
		} `json:"rateLimit"`
		Viewer struct {
			ID    int64  `json:"databaseId"`
			Login string `json:"login"`
		} `json:"viewer"`
		Repository wireIdentity      `json:"repository"`
		Nodes      []json.RawMessage `json:"nodes"`
	}
	if err := json.Unmarshal(g.Data, &data); err != nil {
		return Sweep{}, &BodyError{URL: g.URL, Err: err}
	}
	present, missing, err := nodesOf(g, data.Nodes, nodeIDs)
	if err != nil {
		return Sweep{}, err
	}
	if data.Viewer.ID == 0 {
		return Sweep{}, &BodyError{URL: g.URL, Err: errors.New("no viewer")}
	}
	s := Sweep{
		Viewer:  work.Account{ID: data.Viewer.ID, Login: data.Viewer.Login, Bot: isBotLogin(data.Viewer.Login)},
		Repo:    Identity{NodeID: data.Repository.ID, Gone: gone},
		Missing: missing, Cost: data.Limit.Cost, Remaining: data.Limit.Remaining, ResetAt: data.Limit.ResetAt,
	}
	for i := range nodeIDs {
		raw, ok := present[i]
		if !ok {
			continue
		}
		var w wireLight
		if err := json.Unmarshal(raw, &w); err != nil {
			return Sweep{}, &BodyError{URL: g.URL, Err: err}
		}
		light, err := w.light(raw)
		if err != nil {
			return Sweep{}, &BodyError{URL: g.URL, Err: err}
		}
		s.Pulls = append(s.Pulls, light)
	}
	return s, nil
}

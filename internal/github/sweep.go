package github

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

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The maximum numbers of pull requests of one Sweep and of one Details.
const (
	MaxSweep   = 50
	MaxDetails = 10
)

// Sweep is the result of one light query for a repository and up to 50 of its pull requests.
type Sweep struct {
	Viewer  work.Account
	Repo    RepoNode
	Pulls   []PullLight // in the order asked
	Missing []string    // node ids of no pull request that the token may see
}

// PullLight has enough to detect that a pull request changed.
type PullLight struct {
	NodeID      string
	Number      int
	State       work.PullState
	HeadOID     string
	BaseRef     string
	Mergeable   string // MERGEABLE, CONFLICTING or UNKNOWN
	Rollup      string // empty: no checks, or the token may not see them
	Fingerprint string // hash of all that the query returned for the pull request
}

// wireLight is the query's answer for a pull request. Fields that only the fingerprint needs stay
// raw.
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

func (w *wireLight) kind() string { // also of a nil node
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

// fingerprint returns a hash of all fields that the query returned.
func (w *wireLight) fingerprint() string {
	text := make([]byte, 0, 1024)
	for _, s := range []string{w.ID, strconv.Itoa(w.Number), w.State, w.HeadRefOID, w.BaseRef, w.Mergeable, w.Rollup.State} {
		text = append(strconv.AppendQuote(text, s), '\n')
	}
	for _, raw := range []json.RawMessage{w.Draft, w.Locked, w.UpdatedAt, w.Comments, w.Head, w.Reviews, w.Threads} {
		text = append(append(text, raw...), '\n') // one JSON value per line: two values cannot be taken for one
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// pullState converts GraphQL's OPEN, CLOSED and MERGED.
func pullState(s string) (work.PullState, error) {
	switch state := work.PullState(strings.ToLower(s)); state {
	case work.PullOpen, work.PullClosed, work.PullMerged:
		return state, nil
	}
	return "", fmt.Errorf("pull request is %q", s)
}

// Sweep reads what changed in up to 50 pull requests, the repository's identity and our account. It
// costs about one point.
func (c *Client) Sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	s, err := c.sweep(ctx, repo, nodeIDs)
	if err != nil {
		return Sweep{}, fmt.Errorf("sweep %d pull requests: %w", len(nodeIDs), err)
	}
	return s, nil
}

func (c *Client) sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	if len(nodeIDs) > MaxSweep {
		return Sweep{}, fmt.Errorf("more than %d", MaxSweep)
	}
	g, err := transport.GraphQL[wireSweep](ctx, c.api, transport.Reads, sweepQuery(), map[string]any{"ids": append([]string{}, nodeIDs...), "owner": repo.Owner, "name": repo.Name})
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

// sweep returns an answer without its pull requests.
func (w *wireSweep) sweep() Sweep {
	return Sweep{
		Viewer: work.Account{ID: w.Viewer.ID, Login: w.Viewer.Login, Bot: transport.IsBotLogin(w.Viewer.Login)},
		Repo:   RepoNode{NodeID: w.Repository.ID, DefaultBranch: w.Repository.DefaultBranch.Name},
		Pulls:  make([]PullLight, 0, len(w.Nodes)),
	}
}

// RepoNode is the repository that a name refers to now. A renamed repository is found by its former
// names until another one takes them.
type RepoNode struct {
	NodeID string // empty: GitHub did not report it
	Gone   bool   // there is no repository of that name, or the token may not see it

	DefaultBranch string // empty: it has no commit
}

type wireIdentity struct {
	ID            string `json:"id"`
	DefaultBranch struct {
		Name string `json:"name"`
	} `json:"defaultBranchRef"`
}

// repositoryGone reports whether an answer has a NOT_FOUND error for the repository, and removes
// that error: it is a valid answer.
func repositoryGone(g *transport.GraphErrors) bool {
	before := len(g.Errors)
	g.Errors = slices.DeleteFunc(g.Errors, func(e transport.GraphError) bool {
		return e.Type == transport.TypeNotFound && len(e.Path) == 1 && e.Path[0] == any("repository")
	})
	return len(g.Errors) < before
}

// missingNodes returns the ids without a pull request, by an answer to nodes(ids:). A token that
// may not see checks or statuses gets errors for these alone, which then are empty. Any other error
// fails the batch, and the caller tries smaller ones.
func missingNodes[N any](g transport.GraphErrors, nodes []N, kind func(N) string, ids []string) (missing []string, err error) {
	gone := map[int]bool{}
	for _, e := range g.Errors {
		place, isNode := nodeOf(e)
		switch {
		case e.Type == transport.TypeForbidden && (slices.Contains(e.Path, any("statusCheckRollup")) || slices.Contains(e.Path, any("status"))):
		case e.Type == transport.TypeNotFound && isNode:
			gone[place] = true
		default:
			return nil, e.Refusal(g.URL)
		}
	}
	if len(nodes) != len(ids) {
		return nil, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("%d nodes for %d ids", len(nodes), len(ids))}
	}
	for i, node := range nodes {
		switch kind := kind(node); {
		case gone[i], kind != "" && kind != "PullRequest":
			missing = append(missing, ids[i])
		case kind == "":
			return nil, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("nothing about %s", ids[i])}
		}
	}
	return missing, nil
}

// nodeOf returns the index in nodes(ids:) if the error is about a whole node.
func nodeOf(e transport.GraphError) (int, bool) {
	if len(e.Path) != 2 || e.Path[0] != any("nodes") {
		return 0, false
	}
	n, ok := e.Path[1].(float64)
	return int(n), ok
}

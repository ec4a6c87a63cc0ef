package github

import (
	"bytes"
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

// The most pull requests of one Sweep and of one Details.
const (
	MaxSweep   = 50
	MaxDetails = 10
)

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
func (c *Client) Sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (Sweep, error) {
	unknown := make([]PullLight, len(nodeIDs))
	for i, id := range nodeIDs {
		unknown[i].NodeID = id
	}
	return c.SweepAgain(ctx, repo, unknown, "")
}

func (c *Client) sweep(ctx context.Context, repo work.RepoName, stored []PullLight, sealed string) (Sweep, error) {
	if len(stored) > MaxSweep {
		return Sweep{}, fmt.Errorf("more than %d", MaxSweep)
	}
	nodeIDs := make([]string, len(stored))
	for i, p := range stored {
		nodeIDs[i] = p.NodeID
	}
	a, err := transport.AskGraphQL(ctx, c.api, transport.Reads, sweepQuery(), map[string]any{"ids": nodeIDs, "owner": repo.Owner, "name": repo.Name})
	if err != nil {
		return Sweep{}, err
	}
	if s, ok := unchangedSweep(a.Body, stored, sealed); ok {
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
		s.Seal = sealOf(a.Body, s.Pulls)
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

// Most light queries bring what they brought before, to the byte, and to decode it takes much
// longer than to compare it. An answer that was decoded has a seal: over its bytes, and over the
// fingerprints that they came to. It says nothing of what was taken in, so that no order of
// events can make it wrong: where the pull requests have these fingerprints, and the same bytes
// come, they would come to the same again.

// sealOf is that of an answer and what it came to.
func sealOf(body []byte, pulls []PullLight) string {
	h := sha256.New()
	fmt.Fprintln(h, len(body)) // so that no text of the one is taken for the other
	h.Write(body)
	var prints []byte
	for _, p := range pulls {
		prints = append(strconv.AppendQuote(prints, p.Fingerprint), '\n')
	}
	h.Write(prints)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// unchangedSweep gives what an answer comes to without decoding it, where it came to just these pull
// requests when it was sealed.
func unchangedSweep(body []byte, pulls []PullLight, sealed string) (Sweep, bool) {
	if sealed == "" || sealOf(body, pulls) != sealed {
		return Sweep{}, false
	}
	head, ok := sweepHead(body)
	if !ok {
		return Sweep{}, false
	}
	s := head.sweep()
	s.Seal, s.Pulls = sealed, pulls
	return s, true
}

// sweepHead reads what stands before the pull requests: who asked, and of which repository.
func sweepHead(body []byte) (w wireSweep, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	for _, want := range []json.Token{json.Delim('{'), "data", json.Delim('{')} {
		if t, err := d.Token(); err != nil || t != want {
			return w, false
		}
	}
	for {
		var err error
		switch t, _ := d.Token(); t {
		case "viewer":
			err = d.Decode(&w.Viewer)
		case "repository":
			err = d.Decode(&w.Repository)
		default:
			return w, w.Viewer.ID != 0 && w.Repository.ID != ""
		}
		if err != nil {
			return w, false
		}
	}
}

// SweepAgain is Sweep of pull requests that were asked about before: what is stored of them,
// and the seal of the answer that it came from, if there is one. After the same answer a pull
// request is given as it is stored.
func (c *Client) SweepAgain(ctx context.Context, repo work.RepoName, stored []PullLight, sealed string) (Sweep, error) {
	s, err := c.sweep(ctx, repo, stored, sealed)
	if err != nil {
		return Sweep{}, fmt.Errorf("sweep %d pull requests: %w", len(stored), err)
	}
	return s, nil
}

// Identity is which repository a name stands for today. One that was renamed is
// found by its former names until another one takes them.
type Identity struct {
	NodeID string // empty: GitHub did not say
	Gone   bool   // it has none of that name, or none that we may see
}

type wireIdentity struct {
	ID string `json:"id"`
}

// repositoryGone reports whether an answer says that a name stands for no repository,
// and takes that out of the errors: it is what was asked.
func repositoryGone(g *transport.GraphErrors) bool {
	before := len(g.Errors)
	g.Errors = slices.DeleteFunc(g.Errors, func(e transport.GraphError) bool {
		return e.Type == transport.TypeNotFound && len(e.Path) == 1 && e.Path[0] == any("repository")
	})
	return len(g.Errors) < before
}

// missingNodes are the ids that name nothing, by an answer to nodes(ids:). A token that
// may not see checks or statuses is refused these alone, which then are empty. Any other
// error spoils the batch: the caller asks in smaller ones.
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

// nodeOf is the place in nodes(ids:) when the error is about a node as such.
func nodeOf(e transport.GraphError) (int, bool) {
	if len(e.Path) != 2 || e.Path[0] != any("nodes") {
		return 0, false
	}
	n, ok := e.Path[1].(float64)
	return int(n), ok
}

package github

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// MaxWords is the maximum number of comments and reviews of one Words.
const MaxWords = 100

// wireWord is what GraphQL has of each comment and review: who edited it last and when, and whether it is
// hidden.
type wireWord struct {
	Editor   *transport.Actor `json:"editor"`
	EditedAt time.Time        `json:"lastEditedAt"`
	Hidden   bool             `json:"isMinimized"`
}

func (w wireWord) word() work.Word {
	word := work.Word{Known: true, EditedAt: w.EditedAt, Hidden: w.Hidden}
	if w.Editor != nil {
		word.Editor = w.Editor.Account()
	}
	return word
}

// Words reads who edited up to 100 comments and reviews last and which are hidden, by node id. It
// has none of those that were deleted or may not be seen.
func (c *Client) Words(ctx context.Context, nodeIDs []string) (map[string]work.Word, error) {
	if len(nodeIDs) > MaxWords {
		return nil, fmt.Errorf("more than %d", MaxWords)
	}
	g, err := transport.GraphQL[struct {
		Nodes []*struct {
			Kind string `json:"__typename"`
			wireWord
		} `json:"nodes"`
	}](ctx, c.api, transport.Reads, wordsQuery(), map[string]any{"ids": nodeIDs})
	if err != nil {
		return nil, fmt.Errorf("read who edited %d comments: %w", len(nodeIDs), err)
	}
	for _, e := range g.Errors {
		if _, isNode := nodeOf(e); !isNode {
			return nil, fmt.Errorf("read who edited %d comments: %w", len(nodeIDs), e.Refusal(g.URL))
		}
	}
	if len(g.Data.Nodes) != len(nodeIDs) {
		return nil, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("%d nodes for %d ids", len(g.Data.Nodes), len(nodeIDs))}
	}
	words := make(map[string]work.Word, len(nodeIDs))
	for i, n := range g.Data.Nodes {
		if n != nil && n.Kind != "" {
			words[nodeIDs[i]] = n.word()
		}
	}
	return words, nil
}

// Revision is one version of a comment or the text of a review.
type Revision struct {
	By   work.Account
	At   time.Time
	Body string // empty: GitHub does not show it, as somebody deleted it from the history
}

// Revisions reads the last versions of a comment or the text of a review that was edited, newest first.
func (c *Client) Revisions(ctx context.Context, nodeID string) ([]Revision, error) {
	data, _, err := transport.GraphQLStrict[struct {
		Node *struct {
			Edits struct {
				Nodes []struct {
					Editor *transport.Actor `json:"editor"`
					At     time.Time        `json:"editedAt"`
					Diff   string           `json:"diff"`
				} `json:"nodes"`
			} `json:"userContentEdits"`
		} `json:"node"`
	}](ctx, c.api, transport.Reads, revisionsQuery(), map[string]any{"id": nodeID})
	if err != nil {
		return nil, fmt.Errorf("read the versions of %s: %w", nodeID, err)
	}
	var all []Revision
	if data.Node == nil {
		return nil, nil
	}
	for _, v := range data.Node.Edits.Nodes {
		all = append(all, Revision{By: v.Editor.Account(), At: v.At, Body: v.Diff})
	}
	sorted.By(all, func(a, b Revision) int { return b.At.Compare(a.At) })
	return all, nil
}

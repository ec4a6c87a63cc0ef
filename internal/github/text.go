package github

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/queries"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Text is what an issue, a comment or a review says.
type Text struct {
	Title    string // of an issue
	Body     string
	EditedAt time.Time // when the body was last edited; zero: never
}

type wireText struct {
	Title    string    `json:"title"`
	Body     string    `json:"body"`
	EditedAt time.Time `json:"lastEditedAt"`
}

// Text reads what an issue, a comment or a review says by its node id. It is
// absent when it was deleted, or may not be seen.
func (c Issues) Text(ctx context.Context, nodeID string) (Text, bool, error) {
	data, _, err := transport.GraphQLStrict[struct {
		Node *wireText `json:"node"`
	}](ctx, c.api, transport.Reads, queries.Text(), map[string]any{"id": nodeID})
	switch {
	case IsStatus(err, http.StatusNotFound):
		return Text{}, false, nil
	case err != nil:
		return Text{}, false, fmt.Errorf("read the text of %s: %w", nodeID, err)
	case data.Node == nil:
		return Text{}, false, nil
	}
	return Text{Title: data.Node.Title, Body: data.Node.Body, EditedAt: data.Node.EditedAt}, true, nil
}

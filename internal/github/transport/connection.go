package transport

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// BigInt is GraphQL's BigInt, which is a string on the wire.
type BigInt int64

// UnmarshalJSON reads a BigInt, quoted or not.
func (b *BigInt) UnmarshalJSON(data []byte) error {
	s := string(data)
	if s == "null" {
		return nil
	}
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return fmt.Errorf("database id: %w", err)
	}
	*b = BigInt(n)
	return nil
}

// Connection is GraphQL's list of nodes, a page of it.
type Connection[T any] struct {
	PageInfo struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []T `json:"nodes"`
}

// More reads the rest of a node's connection into it: by a document with the node's id
// and where to continue.
func More[N, T any](ctx context.Context, c *Client, document, id string, into *Connection[T], pick func(N) Connection[T]) error {
	for into.PageInfo.HasNextPage {
		after := into.PageInfo.EndCursor
		data, url, err := GraphQLStrict[struct {
			Node *N `json:"node"`
		}](ctx, c, Reads, document, map[string]any{"id": id, "after": after})
		if err != nil {
			return err
		}
		if data.Node == nil {
			return &BodyError{URL: url, Err: fmt.Errorf("nothing about %s", id)}
		}
		next := pick(*data.Node)
		if next.PageInfo.HasNextPage && (next.PageInfo.EndCursor == after || len(next.Nodes) == 0) {
			return &BodyError{URL: url, Err: errors.New("the pages run in a circle")}
		}
		into.Nodes = append(into.Nodes, next.Nodes...)
		into.PageInfo = next.PageInfo
	}
	return nil
}

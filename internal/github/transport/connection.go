package transport

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// BigInt is GraphQL's BigInt, a string in JSON.
type BigInt int64

// UnmarshalJSON decodes a BigInt, quoted or not.
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

// Connection is a page of a GraphQL list.
type Connection[T any] struct {
	PageInfo struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []T `json:"nodes"`
}

// More reads the remaining pages of a node's connection into it. document takes the node's id and a
// cursor.
func More[N, T any](ctx context.Context, c *Client, document, id string, into *Connection[T], pick func(N) Connection[T]) error {
	for into.PageInfo.HasNextPage {
		next, err := after(ctx, c, document, id, into.PageInfo.EndCursor, pick)
		if err != nil {
			return err
		}
		into.Nodes = append(into.Nodes, next.Nodes...)
		into.PageInfo = next.PageInfo
	}
	return nil
}

// after reads the page of a connection behind a cursor.
func after[N, T any](ctx context.Context, c *Client, document, id, cursor string, pick func(N) Connection[T]) (none Connection[T], err error) {
	data, url, err := GraphQLStrict[struct {
		Node *N `json:"node"`
	}](ctx, c, Reads, document, map[string]any{"id": id, "after": cursor})
	if err != nil {
		return none, err
	}
	if data.Node == nil {
		return none, &BodyError{URL: url, Err: fmt.Errorf("nothing about %s", id)}
	}
	next := pick(*data.Node)
	if next.PageInfo.HasNextPage && (next.PageInfo.EndCursor == cursor || len(next.Nodes) == 0) {
		return none, &BodyError{URL: url, Err: errors.New("the pages run in a circle")}
	}
	return next, nil
}

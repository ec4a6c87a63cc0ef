package transport

import (
	"context"
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
		HasNextPage     bool   `json:"hasNextPage"`
		EndCursor       string `json:"endCursor"`
		HasPreviousPage bool   `json:"hasPreviousPage"`
		StartCursor     string `json:"startCursor"`
	} `json:"pageInfo"`
	Nodes []T `json:"nodes"`
}

// More reads the remaining pages of a node's connection into it. document takes the node's id and a
// cursor.
func More[N, T any](ctx context.Context, c *Client, document, id string, into *Connection[T], pick func(N) Connection[T]) error {
	for pages := 1; into.PageInfo.HasNextPage; pages++ {
		cursor := into.PageInfo.EndCursor
		next, url, err := pageAt(ctx, c, document, map[string]any{"id": id, "after": cursor}, pick)
		if err != nil {
			return err
		}
		if next.PageInfo.HasNextPage && (next.PageInfo.EndCursor == cursor || len(next.Nodes) == 0) {
			return &BodyError{URL: url, Err: errCircle}
		}
		if pages == MostPages {
			return &BodyError{URL: url, Err: errEndless}
		}
		into.Nodes = append(into.Nodes, next.Nodes...)
		into.PageInfo = next.PageInfo
	}
	return nil
}

// Earlier reads the pages before a node's connection into it, from the last one back, until reaches
// reports that what was read goes back far enough. document takes the node's id and a cursor.
func Earlier[N, T any](ctx context.Context, c *Client, document, id string, into *Connection[T], pick func(N) Connection[T], reaches func([]T) bool) error {
	for pages := 1; into.PageInfo.HasPreviousPage && !reaches(into.Nodes); pages++ {
		cursor := into.PageInfo.StartCursor
		earlier, url, err := pageAt(ctx, c, document, map[string]any{"id": id, "before": cursor}, pick)
		if err != nil {
			return err
		}
		if earlier.PageInfo.HasPreviousPage && (earlier.PageInfo.StartCursor == cursor || len(earlier.Nodes) == 0) {
			return &BodyError{URL: url, Err: errCircle}
		}
		if pages == MostPages {
			return &BodyError{URL: url, Err: errEndless}
		}
		into.Nodes = append(earlier.Nodes, into.Nodes...)
		into.PageInfo = earlier.PageInfo
	}
	return nil
}

// pageAt reads the page of a connection at a cursor.
func pageAt[N, T any](ctx context.Context, c *Client, document string, at map[string]any, pick func(N) Connection[T]) (none Connection[T], url string, err error) {
	data, url, err := GraphQLStrict[struct {
		Node *N `json:"node"`
	}](ctx, c, Reads, document, at)
	if err != nil {
		return none, "", err
	}
	if data.Node == nil {
		return none, "", &BodyError{URL: url, Err: fmt.Errorf("nothing about %v", at["id"])}
	}
	return pick(*data.Node), url, nil
}

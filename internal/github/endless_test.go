package github

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A listing that always names another next page, by link or by cursor, is given up after a number of
// requests, and the error says so.
func TestAListingWithoutEndIsGivenUp(t *testing.T) {
	var asked atomic.Int64
	api := answeredBy(t, func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		body := `[{"name":"a"}]`
		if strings.HasSuffix(r.URL.Path, "graphql") {
			body = fmt.Sprintf(`{"data":{"node":{"list":{"pageInfo":{"hasNextPage":true,"endCursor":"%d","hasPreviousPage":true,"startCursor":"%d"},"nodes":[1]}}}}`, n, n)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Link", fmt.Sprintf(`<%s?page=%d>; rel="next"`, r.URL.Path, n+1))
		_, _ = fmt.Fprint(w, body)
	})
	type node struct {
		List transport.Connection[int] `json:"list"`
	}
	list := func(n node) transport.Connection[int] { return n.List }
	begun := func() *transport.Connection[int] {
		c := &transport.Connection[int]{}
		c.PageInfo.HasNextPage, c.PageInfo.HasPreviousPage = true, true
		return c
	}
	for name, read := range map[string]func() error{
		"by link": func() error {
			_, err := api.RepoLabels(t.Context(), work.RepoName{Host: "github.localhost", Owner: "o", Name: "n"})
			return err
		},
		"by cursor": func() error {
			return transport.More(t.Context(), api.api, "query Q($id:ID!,$after:String){node(id:$id){id}}", "X", begun(), list)
		},
		"by cursor, backwards": func() error {
			return transport.Earlier(t.Context(), api.api, "query Q($id:ID!,$before:String){node(id:$id){id}}", "X", begun(), list, func([]int) bool { return false })
		},
	} {
		asked.Store(0)
		err := read()
		if err == nil || !strings.Contains(err.Error(), "the listing has more than 300 pages") || asked.Load() != transport.MostPages {
			t.Errorf("%s: %v after %d requests", name, err, asked.Load())
		}
		if !IsItemError(err) {
			t.Errorf("%s: it stops more than what it is about: %v", name, err)
		}
	}
}

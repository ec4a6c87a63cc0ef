package transport

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Requests are counted by API and status, including those without an answer. The latest limits of
// gh's account are kept.
func TestTally(t *testing.T) {
	ghConfig(t, nil, nil)
	left := 5000
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left--
		resource := "core"
		if strings.Contains(r.URL.Path, "graphql") {
			resource = "graphql"
		}
		w.Header().Set("X-Ratelimit-Resource", resource)
		w.Header().Set("X-Ratelimit-Remaining", fmt.Sprint(left))
		w.Header().Set("X-Ratelimit-Limit", "5000")
		w.Header().Set("X-Ratelimit-Reset", "1700000000")
		switch {
		case strings.HasSuffix(r.URL.Path, "/missing"):
			w.WriteHeader(http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, "/hang"):
			hangUp(t, w)
		case resource == "graphql":
			fmt.Fprint(w, `{"data":{}}`)
		}
	}))
	t.Cleanup(server.Close)
	var tally Tally
	client := func(count func(Request)) *Client {
		c, err := New(Options{Host: "ghes.example", Token: "t", Now: time.Now, Count: count})
		if err != nil {
			t.Fatal(err)
		}
		c.rest, c.graph = server.URL+"/", server.URL+"/graphql"
		c.http = server.Client()
		return c
	}
	ours, other := client(tally.Of("ghes.example")), client(tally.OfOther("ghes.example"))
	for _, path := range []string{"a", "b", "missing", "hang"} {
		_, _ = ours.Send(t.Context(), Call{Method: http.MethodGet, URL: path})
	}
	if _, err := GraphQL[struct{}](t.Context(), ours, Reads, "query {x}", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Send(t.Context(), Call{Method: http.MethodGet, URL: "a"}); err != nil {
		t.Fatal(err)
	}
	asked, limits := tally.Take()
	slices.SortFunc(asked, func(a, b work.RequestCount) int { return cmp.Compare(a.API+a.Status, b.API+b.Status) })
	if got, want := fmt.Sprint(asked), "[{ghes.example graphql 200 1} {ghes.example rest 200 3} {ghes.example rest 404 1} {ghes.example rest none 1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	slices.SortFunc(limits, func(a, b work.RateLimit) int { return cmp.Compare(a.Resource, b.Resource) })
	if len(limits) != 2 || limits[0].Remaining != 4997 || limits[1].Remaining != left+1 || limits[0].Most != 5000 || limits[0].ResetAt.Unix() != 1_700_000_000 || limits[0].At.IsZero() {
		t.Errorf("%+v", limits)
	}
	if asked, limits := tally.Take(); len(asked) != 0 || len(limits) != 0 {
		t.Errorf("%+v and %+v are given twice", asked, limits)
	}
}

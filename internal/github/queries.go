package github

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// queryFiles has a NAME.graphql for each document and a fragment.NAME.graphql for each part shared
// by several.
//
//go:embed queries/*.graphql
var queryFiles embed.FS

// query returns a whole GraphQL document.
type query func() string

// Documents.
var (
	stampsQuery   = loadQuery("stamps")
	sweepQuery    = loadQuery("sweep")
	detailsQuery  = loadQuery("details", "reviews", "threads", "comments", "author", "checks")
	reviewsQuery  = loadQuery("reviews", "reviews", "author")
	threadsQuery  = loadQuery("threads", "threads", "comments", "author")
	commentsQuery = loadQuery("comments", "comments", "author")
	checksQuery   = loadQuery("checks", "checks")
	textQuery     = loadQuery("text")
	wordsQuery    = loadQuery("words", "author")
	resolveQuery  = loadQuery("resolve")

	boxReviewsQuery = loadQuery("boxreviews", "boxreviews", "author")
	boxThreadsQuery = loadQuery("boxthreads", "boxthreads")
	boxChecksQuery  = loadQuery("boxchecks", "boxchecks")
	commitQuery     = loadQuery("commit", "checks")
	enqueueQuery    = loadQuery("enqueue")
	dequeueQuery    = loadQuery("dequeue")
	readyQuery      = loadQuery("ready")

	createChildQuery = loadQuery("createchild")
	revisionsQuery   = loadQuery("revisions", "author")
)

// boxesQuery returns a document that reads the merge boxes of a number of pull requests; 20 cost a
// point. Each has an alias: p0 is the pull request with the id $id0. It has its own copy of the
// fields whose arguments differ from one pull request to the next.
func boxesQuery(pulls int) string {
	own := readQuery("fragment.boxof") + readQuery("fragment.boxchecks")
	var vars, fields, fragments strings.Builder
	for i := range pulls {
		if i > 0 {
			vars.WriteString(", ")
		}
		fmt.Fprintf(&vars, "$id%[1]d: ID!, $issue%[1]d: Int!, $asked%[1]d: Boolean!, $labels%[1]d: [String!], $freezes%[1]d: Boolean!", i)
		fmt.Fprintf(&fields, "  p%[1]d: node(id: $id%[1]d) { __typename ...Box ...BoxOf%[1]d }\n", i)
		names := []string{"BoxOf", "BoxChecks", "$id", "$issue", "$asked", "$labels", "$freezes"}
		var numbered []string
		for _, name := range names {
			numbered = append(numbered, name, name+strconv.Itoa(i))
		}
		fragments.WriteString(strings.NewReplacer(numbered...).Replace(own))
	}
	return fmt.Sprintf("query Boxes(%s) {\n%s}\n", &vars, &fields) + fragments.String() + boxFragments()
}

var boxFragments = sync.OnceValue(func() string {
	return readQuery("fragment.box") + readQuery("fragment.boxreviews") + readQuery("fragment.boxthreads") + readQuery("fragment.author")
})

func loadQuery(name string, fragments ...string) query {
	return sync.OnceValue(func() string {
		var b strings.Builder
		b.WriteString(readQuery(name))
		for _, f := range fragments {
			b.WriteString(readQuery("fragment." + f))
		}
		return b.String()
	})
}

func readQuery(name string) string {
	text, err := queryFiles.ReadFile("queries/" + name + ".graphql")
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}

// Queries returns the documents by name. The simulator's tests check them against GitHub's schema.
func Queries() map[string]string {
	return map[string]string{
		"stamps": stampsQuery(), "sweep": sweepQuery(), "details": detailsQuery(), "reviews": reviewsQuery(), "threads": threadsQuery(),
		"comments": commentsQuery(), "checks": checksQuery(), "text": textQuery(), "words": wordsQuery(), "revisions": revisionsQuery(),
		"resolve": resolveQuery(),
		"boxes":   boxesQuery(2), "boxreviews": boxReviewsQuery(), "boxthreads": boxThreadsQuery(), "boxchecks": boxChecksQuery(),
		"commit": commitQuery(), "enqueue": enqueueQuery(), "dequeue": dequeueQuery(), "ready": readyQuery(),
		"createchild": createChildQuery(),
	}
}

// TryQueries sends each query of a pass once, with one of everything that it asks about, and returns the errors of
// those that the host does not answer. It does not matter whether there is what they ask about.
func (c *Client) TryQueries(ctx context.Context, repo work.RepoName, nodeID string) (refused []error) {
	of := map[string]any{
		"owner": repo.Owner, "name": repo.Name, "ids": []string{nodeID}, "id": nodeID, "oid": strings.Repeat("0", 40), "before": "", "after": "",
		"id0": nodeID, "issue0": 1, "asked0": true, "labels0": []string{}, "freezes0": false,
	}
	all := Queries()
	all["boxes"] = boxesQuery(1)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(transport.Operation(all[name]), "query ") {
			continue
		}
		vars := map[string]any{}
		for v, value := range of {
			if strings.Contains(all[name], "$"+v+":") {
				vars[v] = value
			}
		}
		a, err := transport.AskGraphQL(ctx, c.api, transport.Reads, all[name], vars)
		if err == nil {
			_, err = transport.ReadGraphQL[map[string]any](c.api, transport.Reads, a)
		}
		if err != nil && !IsStatus(err, http.StatusNotFound) {
			refused = append(refused, err)
		}
	}
	return refused
}

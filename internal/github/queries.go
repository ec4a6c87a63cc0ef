package github

import (
	"embed"
	"strings"
	"sync"
)

// The GraphQL documents: queries/NAME.graphql, and queries/fragment.NAME.graphql
// for what several of them share.
//
//go:embed queries/*.graphql
var queryFiles embed.FS

// document is one whole GraphQL document.
type document func() string

var (
	sweepQuery      = load("sweep")
	detailsQuery    = load("details", "reviews", "threads", "comments", "author", "checks")
	reviewsQuery    = load("reviews", "reviews", "author")
	threadsQuery    = load("threads", "threads", "comments", "author")
	commentsQuery   = load("comments", "comments", "author")
	checksQuery     = load("checks", "checks")
	textQuery       = load("text")
	resolveMutation = load("resolve")
)

func load(name string, fragments ...string) document {
	return sync.OnceValue(func() string {
		var b strings.Builder
		b.WriteString(read(name))
		for _, f := range fragments {
			b.WriteString(read("fragment." + f))
		}
		return b.String()
	})
}

func read(name string) string {
	text, err := queryFiles.ReadFile("queries/" + name + ".graphql")
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}

// Documents are the GraphQL documents that a client sends, by name, so that
// they can be checked against GitHub's schema.
func Documents() map[string]string {
	return map[string]string{
		"sweep": sweepQuery(), "details": detailsQuery(), "reviews": reviewsQuery(), "threads": threadsQuery(),
		"comments": commentsQuery(), "checks": checksQuery(), "text": textQuery(), "resolve": resolveMutation(),
	}
}

// Package queries has the GraphQL documents that we send.
package queries

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

// files are NAME.graphql for each document, and fragment.NAME.graphql for what
// several of them share.
//
//go:embed *.graphql
var files embed.FS

// Document is one whole GraphQL document.
type Document func() string

// The documents.
var (
	Pulse    = load("pulse")
	Sweep    = load("sweep")
	Details  = load("details", "reviews", "threads", "comments", "author", "checks")
	Reviews  = load("reviews", "reviews", "author")
	Threads  = load("threads", "threads", "comments", "author")
	Comments = load("comments", "comments", "author")
	Checks   = load("checks", "checks")
	Text     = load("text")
	Resolve  = load("resolve")

	Box        = load("box", "boxreviews", "boxthreads", "boxchecks", "author")
	BoxReviews = load("boxreviews", "boxreviews", "author")
	BoxThreads = load("boxthreads", "boxthreads")
	BoxChecks  = load("boxchecks", "boxchecks")
	Commit     = load("commit", "checks")
	Enqueue    = load("enqueue")
	Dequeue    = load("dequeue")

	OpenPulls = load("openpulls", "author")
)

// Histories reads what was said and done on pull requests, and on so many issues that are
// named by their numbers, each by a name of its own: $n0 is i0.
func Histories(issues int) string {
	var vars, fields strings.Builder
	for i := range issues {
		fmt.Fprintf(&vars, ", $n%d: Int!", i)
		fmt.Fprintf(&fields, "    i%d: issue(number: $n%d) { ...IssueHistory }\n", i, i)
	}
	return fmt.Sprintf(`query Histories($owner: String!, $name: String!, $ids: [ID!]!%s) {
  nodes(ids: $ids) { __typename ... on PullRequest { ...PullHistory } }
  repository(owner: $owner, name: $name) {
    id
%s  }
}
`, vars.String(), fields.String()) + historyParts()
}

var historyParts = sync.OnceValue(func() string {
	return read("fragment.pullhistory") + read("fragment.issuehistory") + read("fragment.talk") + read("fragment.author")
})

func load(name string, fragments ...string) Document {
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
	text, err := files.ReadFile(name + ".graphql")
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}

// All are the documents by name, so that they can be checked against GitHub's schema.
func All() map[string]string {
	return map[string]string{
		"pulse": Pulse(), "sweep": Sweep(), "details": Details(), "reviews": Reviews(), "threads": Threads(),
		"comments": Comments(), "checks": Checks(), "text": Text(), "resolve": Resolve(),
		"box": Box(), "boxreviews": BoxReviews(), "boxthreads": BoxThreads(), "boxchecks": BoxChecks(),
		"commit": Commit(), "enqueue": Enqueue(), "dequeue": Dequeue(),
		"openpulls": OpenPulls(), "histories": Histories(2),
	}
}

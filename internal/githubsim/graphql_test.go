package githubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// gqlAnswer is an answer of /graphql.
type gqlAnswer struct {
	Data   object
	Errors []struct {
		Type    string
		Message string
		Path    []any
	}
}

// graph sends a query as somebody.
func (w *world) graph(as, query string, vars object) gqlAnswer {
	w.t.Helper()
	return want[gqlAnswer](w, http.StatusOK, as, http.MethodPost, "/graphql", object{"query": query, "variables": vars})
}

// data is graph for a query that must not have errors.
func (w *world) data(as, query string, vars object) object {
	w.t.Helper()
	a := w.graph(as, query, vars)
	if len(a.Errors) > 0 {
		w.t.Fatalf("query %s: %+v", query, a.Errors)
	}
	return a.Data
}

// at digs into decoded JSON: names and indices.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(object)
			if !ok {
				t.Fatalf("no %q in %v", p, v)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				t.Fatalf("no [%d] in %v", p, v)
			}
			v = l[p]
		}
	}
	return v
}

// nodeOf is the global id of a pull request.
func (w *world) nodeOf(number int) string {
	w.t.Helper()
	return get[struct {
		NodeID string `json:"node_id"`
	}](w, "me", fmt.Sprintf("/repos/acme/app/pulls/%d", number)).NodeID
}

func TestGraphQLErrorsAreAsGitHubHasThem(t *testing.T) {
	w := newWorld(t)
	id := w.nodeOf(w.pull("topic", "ann"))
	a := w.graph("me", `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, object{"ids": []string{"PR_x", id}})
	if at(t, a.Data, "nodes", 0) != nil || at(t, a.Data, "nodes", 1, "id") != id {
		t.Errorf("nodes %v", a.Data)
	}
	if len(a.Errors) != 1 || a.Errors[0].Type != "NOT_FOUND" || a.Errors[0].Message != "Could not resolve to a node with the global id of 'PR_x'" ||
		!slices.Equal(a.Errors[0].Path, []any{"nodes", 0.0}) {
		t.Errorf("errors %+v", a.Errors)
	}
	for query, want := range map[string]string{
		`{ repository(owner: "acme", name: "none") { id } }`:                                    "NOT_FOUND repository",
		`{ repository(owner: "acme", name: "app") { pullRequest(number: 9) { id } } }`:          "NOT_FOUND repository.pullRequest",
		`{ node(id: "x") { id } }`:                                                              "NOT_FOUND node",
		`mutation { resolveReviewThread(input: {threadId: "x"}) { thread { id } } }`:            "NOT_FOUND resolveReviewThread",
		`{ repository(owner: "acme", name: "app") { pullRequests { nodes { id } } } }`:          "MISSING_PAGINATION_BOUNDARIES query.repository.pullRequests",
		`{ repository(owner: "acme", name: "app") { pullRequests(last: 101) { totalCount } } }`: "EXCESSIVE_PAGINATION query.repository.pullRequests",
		`{ repository(owner: "acme", name: "app") { pullRequests(first: 0) { totalCount } } }`:  "EXCESSIVE_PAGINATION query.repository.pullRequests",
	} {
		a := w.graph("me", query, nil)
		if len(a.Errors) != 1 {
			t.Errorf("%s: %+v", query, a)
			continue
		}
		var path []string
		for _, p := range a.Errors[0].Path {
			path = append(path, fmt.Sprint(p))
		}
		if got := a.Errors[0].Type + " " + strings.Join(path, "."); got != want {
			t.Errorf("%s: %s (%s), want %s", query, got, a.Errors[0].Message, want)
		}
	}
	if a := w.graph("me", `{ nonsense }`, nil); len(a.Errors) != 1 || a.Data != nil {
		t.Errorf("unknown field: %+v", a)
	}
	if a := w.graph("me", `{ broken`, nil); len(a.Errors) != 1 || a.Data != nil {
		t.Errorf("no query: %+v", a)
	}
}

// The cost of a query is GitHub's formula: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
func TestGraphQLCost(t *testing.T) {
	w := newWorld(t)
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = "x"
	}
	for _, tt := range []struct {
		query string
		vars  object
		cost  float64
	}{
		{query: `{ rateLimit { cost } }`, cost: 1},
		// GitHub's own example, in our names: 1 + 100 + 5,000 requests.
		{
			query: `{ repository(owner: "acme", name: "app") { pullRequests(first: 100) { nodes { reviewThreads(first: 50) { nodes { comments(first: 60) { nodes { id } } } } } } } rateLimit { cost } }`,
			cost:  51,
		},
		{query: `query($n: Int = 30) { repository(owner: "acme", name: "app") { pullRequests(first: $n) { nodes { labels(last: 5) { totalCount } } } } rateLimit { cost } }`, cost: 1},
		{query: `query($n: Int = 30) { repository(owner: "acme", name: "app") { pullRequests(first: 100) { nodes { ...F } } } rateLimit { cost } } fragment F on PullRequest { a: comments(first: 1) { totalCount } b: labels(first: $n) { totalCount } }`, vars: object{"n": 2}, cost: 2},
		{query: `query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { reviews(last: 1) { totalCount } reviewThreads(last: 1) { totalCount } labels(first: 1) { totalCount } } } rateLimit { cost } }`, vars: object{"ids": ids}, cost: 2},
	} {
		used := w.hub.Used("me", "graphql")
		a := w.graph("me", tt.query, tt.vars)
		if at(t, a.Data, "rateLimit", "cost") != tt.cost {
			t.Errorf("%s: %v, want cost %v", tt.query, a.Data["rateLimit"], tt.cost)
		}
		if got := float64(w.hub.Used("me", "graphql") - used); got != tt.cost {
			t.Errorf("%s: charged %v, want %v", tt.query, got, tt.cost)
		}
	}
	a := w.graph("me", `{ repository(owner: "acme", name: "app") { pullRequests(first: 100) { nodes { reviewThreads(first: 100) { nodes { comments(first: 100) { nodes { id } } } } } } } }`, nil)
	if len(a.Errors) != 1 || a.Errors[0].Type != "MAX_NODE_LIMIT_EXCEEDED" {
		t.Errorf("a million nodes: %+v", a)
	}
}

func TestGraphQLDraftsAreTheirAuthorsAlone(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	_, err := w.repo.Review(n, "tom", "PENDING", "a draft", LineComment{Path: "src/a.txt", Line: 3, Body: "hm"})
	w.must(err)
	query := `query($id: ID!) { node(id: $id) { ... on PullRequest { totalCommentsCount
		reviews(first: 9) { totalCount nodes { id state submittedAt } } reviewThreads(first: 9) { totalCount nodes { id comments(first: 9) { nodes { id state } } } } } } }`
	id := w.nodeOf(n)
	mine := w.data("tom", query, object{"id": id})
	if at(t, mine, "node", "reviews", "nodes", 0, "state") != "PENDING" || at(t, mine, "node", "reviews", "nodes", 0, "submittedAt") != nil ||
		at(t, mine, "node", "reviewThreads", "nodes", 0, "comments", "nodes", 0, "state") != "PENDING" || at(t, mine, "node", "totalCommentsCount") != 1.0 {
		t.Errorf("the author sees %v", mine)
	}
	others := w.data("me", query, object{"id": id})
	if at(t, others, "node", "reviews", "totalCount") != 0.0 || at(t, others, "node", "reviewThreads", "totalCount") != 0.0 || at(t, others, "node", "totalCommentsCount") != 0.0 {
		t.Errorf("others see %v", others)
	}
	for _, path := range [][]any{{"node", "reviews", "nodes", 0, "id"}, {"node", "reviewThreads", "nodes", 0, "id"}} {
		if a := w.graph("me", `query($id: ID!) { node(id: $id) { id } }`, object{"id": at(t, mine, path...)}); len(a.Errors) != 1 {
			t.Errorf("%v: others find the draft by its id", path)
		}
	}
}

func TestGraphQLPages(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	for i := range 7 {
		_, err := w.repo.Comment(n, "ann", fmt.Sprint(i))
		w.must(err)
	}
	walk := func(query string) string {
		var out []string
		var after any
		for {
			d := w.data("me", query, object{"c": after})
			page := at(t, d, "repository", "pullRequest", "comments")
			for _, c := range at(t, page, "nodes").([]any) {
				out = append(out, at(t, c, "body").(string))
			}
			if at(t, page, "pageInfo", "hasNextPage") != true {
				return strings.Join(out, "")
			}
			after = at(t, page, "pageInfo", "endCursor")
			out = append(out, " ")
		}
	}
	const frame = `query($c: String) { repository(owner: "acme", name: "app") { pullRequest(number: 1) { comments(%s) { nodes { body } pageInfo { hasNextPage endCursor } } } } }`
	if got := walk(fmt.Sprintf(frame, "first: 3, after: $c")); got != "012 345 6" {
		t.Errorf("forward: %q", got)
	}
	last := w.data("me", strings.Replace(fmt.Sprintf(frame, "last: 2"), "($c: String)", "", 1), nil)
	if at(t, last, "repository", "pullRequest", "comments", "nodes", 0, "body") != "5" {
		t.Errorf("the last two: %v", last)
	}
}

func TestGraphQLMutations(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	id := w.nodeOf(n)
	comment, err := w.repo.ReviewComment(n, "tom", "src/a.txt", 3, "why?")
	w.must(err)
	threads := `query($id: ID!) { node(id: $id) { ... on PullRequest { reviewThreads(first: 9) { nodes { id isResolved comments(first: 9) { nodes { fullDatabaseId } } } } } } }`
	d := w.data("me", threads, object{"id": id})
	thread := at(t, d, "node", "reviewThreads", "nodes", 0, "id")
	if got := at(t, d, "node", "reviewThreads", "nodes", 0, "comments", "nodes", 0, "fullDatabaseId"); got != fmt.Sprint(comment) {
		t.Errorf("fullDatabaseId %v, want the string of %d", got, comment)
	}
	w.data("me", `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }`, object{"id": thread})
	d = w.data("me", threads, object{"id": id})
	if at(t, d, "node", "reviewThreads", "nodes", 0, "isResolved") != true {
		t.Errorf("resolved: %v", d)
	}
	if a := w.graph("eve", `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }`, object{"id": thread}); len(a.Errors) != 1 || a.Errors[0].Type != "FORBIDDEN" {
		t.Errorf("a stranger resolves: %+v", a)
	}
	d = w.data("me", `mutation($id: ID!) { addComment(input: {subjectId: $id, body: "hello"}) { commentEdge { node { body url author { login } } } } }`, object{"id": id})
	if at(t, d, "addComment", "commentEdge", "node", "author", "login") != "me" {
		t.Errorf("comment %v", d)
	}
	if a := w.graph("me", `mutation($id: ID!) { addComment(input: {subjectId: $id, body: ""}) { commentEdge { node { id } } } }`, object{"id": id}); len(a.Errors) != 1 || a.Errors[0].Type != "UNPROCESSABLE" {
		t.Errorf("blank comment: %+v", a)
	}
}

// What gh issue close, reopen and edit send.
func TestGraphQLChangesOfAnIssue(t *testing.T) {
	w := newWorld(t)
	n, err := w.repo.OpenIssue("ann", "Slow", "Why?")
	w.must(err)
	id := at(t, w.data("me", fmt.Sprintf(`{ repository(owner: "acme", name: "app") { issue(number: %d) { id } } }`, n), nil), "repository", "issue", "id")
	for _, c := range []struct{ mutation, want string }{
		{`closeIssue(input: {issueId: $id, stateReason: NOT_PLANNED})`, "map[body:Why? state:CLOSED stateReason:NOT_PLANNED title:Slow]"},
		{`reopenIssue(input: {issueId: $id})`, "map[body:Why? state:OPEN stateReason:REOPENED title:Slow]"},
		{`updateIssue(input: {id: $id, title: "Slower"})`, "map[body:Why? state:OPEN stateReason:REOPENED title:Slower]"},
		{`updateIssue(input: {id: $id, body: "Because."})`, "map[body:Because. state:OPEN stateReason:REOPENED title:Slower]"},
		{`closeIssue(input: {issueId: $id})`, "map[body:Because. state:CLOSED stateReason:COMPLETED title:Slower]"},
	} {
		name, _, _ := strings.Cut(c.mutation, "(")
		d := w.data("me", `mutation($id: ID!) { `+c.mutation+` { issue { body state stateReason title } } }`, object{"id": id})
		if got := fmt.Sprint(at(t, d, name, "issue")); got != c.want {
			t.Errorf("%s: %s, want %s", c.mutation, got, c.want)
		}
	}
	for _, mutation := range []string{`reopenIssue(input: {issueId: $id})`, `updateIssue(input: {id: $id, title: "x"})`} {
		if a := w.graph("eve", `mutation($id: ID!) { `+mutation+` { issue { title } } }`, object{"id": id}); len(a.Errors) != 1 || a.Errors[0].Type != "FORBIDDEN" {
			t.Errorf("a stranger: %s: %+v", mutation, a)
		}
	}
}

// What gh pr close, reopen and ready send.
func TestGraphQLChangesOfAPullRequest(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	id := at(t, w.data("me", fmt.Sprintf(`{ repository(owner: "acme", name: "app") { pullRequest(number: %d) { id } } }`, n), nil), "repository", "pullRequest", "id")
	for _, c := range []struct{ mutation, want string }{
		{"convertPullRequestToDraft", "map[isDraft:true state:OPEN]"},
		{"markPullRequestReadyForReview", "map[isDraft:false state:OPEN]"},
		{"closePullRequest", "map[isDraft:false state:CLOSED]"},
		{"reopenPullRequest", "map[isDraft:false state:OPEN]"},
	} {
		text := `mutation($id: ID!) { ` + c.mutation + `(input: {pullRequestId: $id}) { pullRequest { isDraft state } } }`
		if a := w.graph("eve", text, object{"id": id}); len(a.Errors) != 1 || a.Errors[0].Type != "FORBIDDEN" {
			t.Errorf("a stranger: %s: %+v", c.mutation, a)
		}
		if got := fmt.Sprint(at(t, w.data("me", text, object{"id": id}), c.mutation, "pullRequest")); got != c.want {
			t.Errorf("%s: %s, want %s", c.mutation, got, c.want)
		}
	}
}

func TestGraphQLFaultsAreTheHubs(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	w.hub.AddFault(Fault{Path: "/graphql", Method: "WRITE", Applied: true, Drop: true})
	id := w.nodeOf(n)
	w.data("me", `{ viewer { login } }`, nil) // no write
	if _, err := w.try("me", http.MethodPost, "/graphql", object{"query": `mutation($id: ID!) { addComment(input: {subjectId: $id, body: "lost"}) { commentEdge { node { id } } } }`, "variables": object{"id": id}}); err == nil {
		t.Error("the answer was not lost")
	}
	d := w.data("me", `query($id: ID!) { node(id: $id) { ... on PullRequest { comments(first: 5) { totalCount } } } }`, object{"id": id})
	if at(t, d, "node", "comments", "totalCount") != 1.0 {
		t.Errorf("the comment was not applied: %v", d)
	}
	w.must(w.hub.SetRemaining("me", "graphql", 0))
	a := w.graph("me", `{ viewer { login } }`, nil)
	if len(a.Errors) != 1 || a.Errors[0].Type != "RATE_LIMITED" {
		t.Errorf("over the limit: %+v", a)
	}
	if res := w.do("", http.MethodPost, "/graphql", object{"query": "{ viewer { login } }"}); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("nobody: %d", res.StatusCode)
	}
}

// BenchmarkGraphQLSweep is one light query over 50 pull requests.
func BenchmarkGraphQLSweep(b *testing.B) {
	hub, err := New(Options{Dir: b.TempDir(), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	r, err := hub.AddRepo("acme/app", map[string]string{"a": firstFile})
	if err != nil {
		b.Fatal(err)
	}
	var ids []string
	for i := range 50 {
		branch := fmt.Sprintf("b%d", i)
		if _, err := r.PushCommit(branch, "acme", map[string]string{"b": branch}, "m"); err != nil {
			b.Fatal(err)
		}
		n, err := r.OpenPull("acme", NewPull{Title: "t", Head: branch})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, r.pull(n).nodeID)
	}
	body, err := json.Marshal(object{"variables": object{"ids": ids}, "query": `query($ids: [ID!]!) { viewer { login } nodes(ids: $ids) { __typename ... on PullRequest {
		id number state isDraft locked headRefOid baseRefName updatedAt mergeable totalCommentsCount statusCheckRollup { state }
		reviews(last: 1) { totalCount nodes { id state updatedAt } } reviewThreads(last: 1) { totalCount nodes { id isResolved } } } } }`})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "token token-acme")
		req.Header.Set("User-Agent", "bench")
		a := newAnswer()
		hub.ServeHTTP(a, req)
		if a.status != http.StatusOK || strings.Contains(a.body.String(), `"errors"`) {
			b.Fatal(a.body.String())
		}
	}
}

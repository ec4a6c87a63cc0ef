package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestSweepCostsOnePointForFiftyPulls(t *testing.T) {
	testhome.OnlyLong(t)
	w := newWorld(t)
	ids := w.pulls(t, MaxSweep)
	before := w.hub.Used("alice", "graphql")
	s, err := w.client.Sweep(t.Context(), w.name, ids)
	must(t, err)
	if used := w.hub.Used("alice", "graphql") - before; used != 1 {
		t.Errorf("used %d", used)
	}
	if len(s.Pulls) != MaxSweep || s.Viewer != (work.Account{ID: w.hub.UserID("alice"), Login: "alice"}) {
		t.Fatalf("%d pull requests, viewer %+v", len(s.Pulls), s.Viewer)
	}
	for i, p := range s.Pulls {
		head, _ := w.repo.Head(fmt.Sprintf("topic-%d", i))
		if p.NodeID != ids[i] || p.Number != i+1 || p.State != work.PullOpen || p.HeadOID != head || p.BaseRef != "main" || p.Mergeable != mergeable || p.Rollup != "" || p.Fingerprint == "" {
			t.Errorf("pull request %+v", p)
		}
	}
	if _, err := w.client.Sweep(t.Context(), w.name, append(ids, "x")); err == nil {
		t.Error("51 pull requests in one sweep")
	}
	if s, err := w.client.Sweep(t.Context(), w.name, nil); err != nil || s.Viewer.Login != "alice" || len(s.Pulls) != 0 {
		t.Errorf("empty sweep: %+v, %v", s, err)
	}
}

// The fingerprint shows every change that can need work, and no other.
func TestSweepFingerprintShowsEveryChange(t *testing.T) {
	w := newWorld(t)
	n, id := w.pull(t, "topic")
	last := ""
	sweep := func() string {
		s, err := w.client.Sweep(t.Context(), w.name, []string{id})
		must(t, err)
		return s.Pulls[0].Fingerprint
	}
	changed := func(what string) {
		t.Helper()
		got := sweep()
		if got == last {
			t.Errorf("%s does not show", what)
		}
		if last = got; sweep() != last {
			t.Errorf("the fingerprint moves by itself after %s", what)
		}
	}
	changed("the beginning")
	_, err := w.repo.Comment(n, "bob", "a comment")
	must(t, err)
	changed("a comment")
	top, err := w.repo.ReviewComment(n, "alice", "README.md", 5, "a diff comment")
	must(t, err)
	changed("a review comment")
	_, err = w.repo.ReplyTo(top, "bob", "a reply")
	must(t, err)
	changed("a reply")
	must(t, w.repo.Resolve(top, "bob"))
	changed("resolving the thread")
	_, err = w.repo.Review(n, "carol", "APPROVE", "")
	must(t, err)
	changed("a review")
	_, err = w.repo.SetCheck("topic", "build", "in_progress", "")
	must(t, err)
	changed("a check that began")
	_, err = w.repo.SetCheck("topic", "build", "completed", "failure")
	must(t, err)
	changed("a red check")
	_, err = w.repo.PushCommit("topic", "bob", map[string]string{"b": "c"}, "m")
	must(t, err)
	changed("a push")
	_, err = w.repo.PushCommit("main", "alice", map[string]string{"README.md": "else"}, "conflict")
	must(t, err)
	changed("a conflict")
	must(t, w.repo.Close(n, "alice", ""))
	changed("closing")
}

// A missing pull request does not hide the others.
func TestMissingNodeLeavesTheRest(t *testing.T) {
	w := newWorld(t)
	ids := w.pulls(t, 3)
	issue, _, err := w.client.Issue(t.Context(), w.name, w.issue(t, "no pull request"))
	must(t, err)
	asked := []string{ids[0], "PR_nothing", ids[1], issue.NodeID, ids[2]}
	want := []string{"PR_nothing", issue.NodeID}
	s, err := w.client.Sweep(t.Context(), w.name, asked)
	must(t, err)
	if len(s.Pulls) != 3 || s.Pulls[2].NodeID != ids[2] || !slices.Equal(s.Missing, want) {
		t.Errorf("pulls %+v, missing %v", s.Pulls, s.Missing)
	}
	details, missing, err := w.client.Details(t.Context(), asked)
	must(t, err)
	if len(details) != 3 || details[1].NodeID != ids[1] || !slices.Equal(missing, want) {
		t.Errorf("%d details, missing %v", len(details), missing)
	}
}

// A fine-grained token cannot see checks: the rollup is empty, the rest is there.
func TestTokenWithoutChecksPermission(t *testing.T) {
	w := newWorld(t)
	_, id := w.pull(t, "topic")
	_, err := w.repo.SetCheck("topic", "build", "completed", "failure")
	must(t, err)
	s, err := w.client.Sweep(t.Context(), w.name, []string{id})
	must(t, err)
	if s.Pulls[0].Rollup != "FAILURE" {
		t.Errorf("rollup %q with the permission", s.Pulls[0].Rollup)
	}
	must(t, w.hub.ForbidChecks("alice", true))
	s, err = w.client.Sweep(t.Context(), w.name, []string{id})
	must(t, err)
	if len(s.Pulls) != 1 || s.Pulls[0].Rollup != "" || len(s.Missing) != 0 {
		t.Errorf("sweep %+v", s)
	}
	d, _, err := w.client.Details(t.Context(), []string{id})
	must(t, err)
	if len(d) != 1 || d[0].Rollup != "" || len(d[0].Checks) != 0 || d[0].Title != "Pull topic" {
		t.Errorf("details %+v", d)
	}
	// It still sees statuses and their changes.
	must(t, w.repo.SetStatus("topic", "ci/old", "failure", "no luck"))
	again, err := w.client.Sweep(t.Context(), w.name, []string{id})
	must(t, err)
	if again.Pulls[0].Fingerprint == s.Pulls[0].Fingerprint {
		t.Error("the sweep does not show that a status changed")
	}
	d, _, err = w.client.Details(t.Context(), []string{id})
	must(t, err)
	if len(d[0].Checks) != 1 || d[0].Checks[0].Name != "ci/old" || d[0].Checks[0].Conclusion != "FAILURE" || d[0].Checks[0].Summary != "no luck" {
		t.Errorf("checks %+v", d[0].Checks)
	}
}

func TestDetails(t *testing.T) {
	w := newWorld(t)
	n, id := w.pull(t, "topic")
	top, err := w.repo.ReviewComment(n, "alice", "README.md", 5, "why?")
	must(t, err)
	reply, err := w.repo.ReplyTo(top, "helper[bot]", "because")
	must(t, err)
	review, err := w.repo.Review(n, "carol", "REQUEST_CHANGES", "not like this")
	must(t, err)
	run, err := w.repo.SetCheck("topic", "build", "completed", "failure")
	must(t, err)
	must(t, w.repo.SetStatus("topic", "ci/old", "pending", "waiting"))
	must(t, w.repo.Resolve(top, "bob"))
	details, _, err := w.client.Details(t.Context(), []string{id})
	must(t, err)
	d := details[0]
	rest, _, err := w.client.Pull(t.Context(), w.name, n)
	must(t, err)
	rest.Rollup, rest.HeadPushed = "FAILURE", d.HeadPushed // which only GraphQL has
	if d.Pull != rest {
		t.Errorf("GraphQL %+v\nREST %+v", d.Pull, rest)
	}
	if d.HeadPushed.IsZero() {
		t.Error("the last push is not there")
	}
	if len(d.Reviews) != 3 {
		t.Fatalf("reviews %+v", d.Reviews)
	}
	v := d.Reviews[2]
	head, _ := w.repo.Head("topic")
	if v.ID != review || v.State != "CHANGES_REQUESTED" || v.Body != "not like this" || v.Author.Login != "carol" || v.CommitOID != head || v.SubmittedAt.IsZero() {
		t.Errorf("review %+v", v)
	}
	if len(d.Threads) != 1 || len(d.Threads[0].Comments) != 2 {
		t.Fatalf("threads %+v", d.Threads)
	}
	th := d.Threads[0]
	if th.Top != top || !th.Resolved {
		t.Errorf("thread %+v", th)
	}
	listed, err := w.client.ReviewCommentsOf(t.Context(), w.name, n, time.Time{})
	must(t, err)
	for i := range th.Comments { // REST shows neither editor nor whether it is hidden
		if !th.Comments[i].Word.Known || listed[i].Word.Known {
			t.Errorf("the last editor: GraphQL %+v, REST %+v", th.Comments[i].Word, listed[i].Word)
		}
		th.Comments[i].Word = work.Word{}
	}
	if !slices.Equal(th.Comments, listed) || th.Comments[1].ID != reply || th.Comments[1].InReplyTo != top || !th.Comments[1].Author.Bot {
		t.Errorf("GraphQL %+v\nREST %+v", th.Comments, listed)
	}
	want := []Check{
		{Name: "build", Status: "COMPLETED", Conclusion: "FAILURE", Kind: "CheckRun", ID: fmt.Sprint(run), URL: d.Checks[0].URL, EndedAt: d.Checks[0].EndedAt},
		{Name: "ci/old", Status: "PENDING", Kind: "StatusContext", ID: d.Checks[1].ID, Summary: "waiting"},
	}
	if !slices.Equal(d.Checks, want) || want[1].ID == "" || want[0].EndedAt.IsZero() {
		t.Errorf("checks %+v, want %+v", d.Checks, want)
	}
}

// Reviews, threads, comments of threads and checks beyond one page are all read.
func TestEveryInnerPageOfDetails(t *testing.T) {
	w := newWorld(t)
	n, id := w.pull(t, "topic")
	const threads, replies, checks = 60, 120, 130
	var first int64
	for i := range threads {
		top, err := w.repo.ReviewComment(n, "alice", "README.md", 5, fmt.Sprintf("thread %d", i))
		must(t, err)
		if i == 0 {
			first = top
		}
	}
	for i := range replies {
		_, err := w.repo.ReplyTo(first, "alice", fmt.Sprintf("reply %d", i))
		must(t, err)
	}
	for i := range checks {
		_, err := w.repo.SetCheck("topic", fmt.Sprintf("check %d", i), "completed", "success")
		must(t, err)
	}
	details, _, err := w.client.Details(t.Context(), []string{id})
	must(t, err)
	d := details[0]
	if len(d.Reviews) != threads+replies || len(d.Threads) != threads || len(d.Threads[0].Comments) != replies+1 || len(d.Checks) != checks {
		t.Fatalf("%d reviews, %d threads, %d comments, %d checks", len(d.Reviews), len(d.Threads), len(d.Threads[0].Comments), len(d.Checks))
	}
	seen := map[string]bool{}
	for _, r := range d.Reviews {
		seen[r.NodeID] = true
	}
	for _, c := range d.Checks {
		seen[c.ID] = true
	}
	if len(seen) != threads+replies+checks || d.Threads[0].Comments[replies].Body != "reply 119" {
		t.Errorf("%d different reviews and checks", len(seen))
	}
}

// Pull requests that were read before an error are returned with it.
func TestDetailsBeforeAnErrorCount(t *testing.T) {
	w := newWorld(t)
	ids := w.pulls(t, 3)
	const threads = 120
	for i := range threads {
		_, err := w.repo.ReviewComment(2, "alice", "README.md", 5, fmt.Sprintf("thread %d", i))
		must(t, err)
	}
	w.hub.AddFault(githubsim.Fault{Method: http.MethodPost, Path: "/graphql", Contains: "query EarlierThreads(", Status: http.StatusBadGateway})
	details, _, err := w.client.Details(t.Context(), ids)
	if len(details) != 1 || details[0].NodeID != ids[0] || err == nil {
		t.Errorf("%d details, %v", len(details), err)
	}
	details, _, err = w.client.Details(t.Context(), ids)
	must(t, err)
	if len(details) != 3 || len(details[1].Threads) != threads {
		t.Errorf("%d details", len(details))
	}
}

func TestPendingReview(t *testing.T) {
	w := newWorld(t)
	n, id := w.pull(t, "topic")
	_, err := w.repo.Review(n, "carol", "PENDING", "someone else's draft", githubsim.LineComment{Path: "README.md", Line: 5, Body: "hidden"})
	must(t, err)
	if own, err := w.client.OwnPendingReview(t.Context(), w.name, n); err != nil || own {
		t.Errorf("another's draft is ours: %v, %v", own, err)
	}
	_, err = w.repo.Review(n, "alice", "PENDING", "", githubsim.LineComment{Path: "README.md", Line: 5, Body: "draft"})
	must(t, err)
	if own, err := w.client.OwnPendingReview(t.Context(), w.name, n); err != nil || !own {
		t.Errorf("own draft: %v, %v", own, err)
	}
	details, _, err := w.client.Details(t.Context(), []string{id})
	must(t, err)
	d := details[0]
	if len(d.Reviews) != 1 || d.Reviews[0].State != "PENDING" || !d.Reviews[0].SubmittedAt.IsZero() {
		t.Errorf("reviews %+v, want our draft alone", d.Reviews)
	}
	if len(d.Threads) != 1 || !d.Threads[0].Comments[0].Pending || d.Threads[0].Comments[0].Body != "draft" {
		t.Errorf("threads %+v, want our draft alone, marked", d.Threads)
	}
}

func TestSweepSaysUnknownWhileGitHubFindsOut(t *testing.T) {
	w := newWorld(t)
	_, id := w.pull(t, "topic")
	w.hub.LagMergeable(1)
	s, err := w.client.Sweep(t.Context(), w.name, []string{id})
	must(t, err)
	if s.Pulls[0].Mergeable != unknownMergeable {
		t.Errorf("mergeable %q", s.Pulls[0].Mergeable)
	}
}

// Any error about one pull request fails the batch, so that partial data is never taken for
// complete; the caller halves the batch.
func TestGraphQLErrorsSpoilTheBatch(t *testing.T) {
	w := newWorld(t)
	ids := w.pulls(t, 2)
	answer := func(body string) {
		f := githubsim.Fault{Path: "/graphql", Status: http.StatusOK, Body: body, Header: http.Header{"Content-Type": {"application/json"}}}
		w.hub.AddFault(f)
	}
	for name, tt := range map[string]struct {
		body string
		want func(error) bool
	}{
		"failure of a field": {
			`{"data":{"nodes":[{"__typename":"PullRequest","id":"a","reviews":null},null]},"errors":[{"message":"Something went wrong","path":["nodes",0,"reviews"]}]}`,
			func(err error) bool { return IsStatus(err, http.StatusInternalServerError) },
		},
		"resource limits": {
			`{"data":{"nodes":[null,null]},"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"Resource limits for this query exceeded.","path":["nodes",1,"reviewThreads"]}]}`,
			func(err error) bool {
				var e *transport.Error
				return errors.As(err, &e) && e.Type == "RESOURCE_LIMITS_EXCEEDED"
			},
		},
		"null without a word": {`{"data":{"nodes":[null,null]}}`, isBody},
		"too few nodes":       {`{"data":{"nodes":[]}}`, isBody},
		"nothing":             {`{}`, isBody},
		"refused document": {
			`{"errors":[{"message":"Field 'x' doesn't exist on type 'Query'","extensions":{"code":"undefinedField"}}]}`,
			func(err error) bool { return IsStatus(err, http.StatusBadRequest) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			answer(tt.body)
			if _, err := w.client.Sweep(t.Context(), w.name, ids); !tt.want(err) {
				t.Errorf("sweep: %v", err)
			}
			answer(tt.body)
			if _, _, err := w.client.Details(t.Context(), ids); !tt.want(err) {
				t.Errorf("details: %v", err)
			}
		})
	}
}

func isBody(err error) bool {
	var b *transport.BodyError
	return errors.As(err, &b)
}

// Of reviews and threads that began before a time, one page is read; all that began since then is.
func TestDetailsSince(t *testing.T) {
	w := newWorld(t)
	n, id := w.pull(t, "topic")
	say := func(times int) {
		for i := range times {
			_, err := w.repo.ReviewComment(n, "alice", "README.md", 5, fmt.Sprintf("thread %d", i))
			must(t, err)
		}
	}
	say(230)
	w.advance(time.Hour)
	since := w.now()
	for _, tt := range []struct {
		say, queries, threads, reviews int
	}{{0, 1, 50, 100}, {1, 1, 50, 100}, {99, 4, 150, 200}, {200, 10, 350, 400}} {
		say(tt.say)
		for _, whole := range []bool{false, true} {
			w.hub.ResetLog()
			at := map[string]time.Time{id: since}
			if whole {
				at = nil
			}
			all, _, err := w.client.DetailsSince(t.Context(), []string{id}, at)
			must(t, err)
			d, said := all[0], 230
			for _, c := range []int{0, 1, 99, 200} {
				if c <= tt.say {
					said += c
				}
			}
			queries := len(w.hub.Requests())
			switch {
			case whole && (!d.Since.IsZero() || len(d.Threads) != said || len(d.Reviews) != said):
				t.Errorf("%d threads and %d reviews of %d", len(d.Threads), len(d.Reviews), said)
			case !whole && (!d.Since.Equal(since) || queries != tt.queries || len(d.Threads) != tt.threads || len(d.Reviews) != tt.reviews):
				t.Errorf("after %d more: %d queries, %d threads, %d reviews, since %s; want %+v", tt.say, queries, len(d.Threads), len(d.Reviews), d.Since, tt)
			}
			if last := d.Threads[len(d.Threads)-1].Comments[0].Body; last != fmt.Sprintf("thread %d", max(tt.say, 1)-1) && tt.say > 0 {
				t.Errorf("the last thread is %q", last)
			}
		}
	}
}

package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// headOf returns a pull request's head.
func (w *world) headOf(t *testing.T, pull int) string {
	t.Helper()
	p, _, err := w.client.Pull(t.Context(), w.name, pull)
	must(t, err)
	return p.HeadOID
}

func TestReviewIsOfTheCommitThatItNames(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, node := w.pull(t, "topic")
	seen := w.headOf(t, n)
	_, err := w.repo.PushCommit("topic", "bob", map[string]string{"README.md": "all new\n"}, "Everything else")
	must(t, err)
	made, err := w.client.CreateReview(ctx, w.name, n, NewReview{
		CommitOID: seen, Event: ReviewRequests, Body: "Not yet.",
		Comments: []NewReviewComment{{Path: "README.md", Line: 5, Body: "Why?"}, {Path: "README.md", Line: 4, Body: "And this?"}},
	})
	must(t, err)
	if made.ID == 0 || made.State != "CHANGES_REQUESTED" || made.CommitOID != seen || made.Body != "Not yet." || made.Author.Login != "alice" || made.SubmittedAt.IsZero() || made.URL == "" {
		t.Errorf("made %+v", made)
	}
	listed, err := w.client.Reviews(ctx, w.name, n)
	if err != nil || len(listed) != 1 || listed[0] != made {
		t.Errorf("listed %+v, %v; made %+v", listed, err, made)
	}
	d, _, err := w.client.Details(ctx, []string{node})
	if err != nil || len(d) != 1 || len(d[0].Reviews) != 1 || d[0].Reviews[0].CommitOID != seen || d[0].Reviews[0].ID != made.ID || len(d[0].Threads) != 2 {
		t.Errorf("details %+v, %v", d, err)
	}
	comments, err := w.client.CommentsOfReview(ctx, w.name, n, made.ID)
	if err != nil || len(comments) != 2 || comments[0].Body != "Why?" || comments[0].ReviewID != made.ID || comments[0].Line != 0 {
		t.Errorf("comments %+v, %v", comments, err)
	}
}

func TestReviewsThatGitHubRefuses(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	head := w.headOf(t, n)
	main, err := w.repo.Log("main")
	must(t, err)
	bob := w.newClient(t, githubsim.TokenOf("bob"))
	line := []NewReviewComment{{Path: "README.md", Line: 5, Body: "x"}}
	for name, c := range map[string]struct {
		client *Client
		review NewReview
		says   string
	}{
		"approval of one's own":  {bob, NewReview{head, ReviewApproves, "Fine.", nil}, "approve your own"},
		"rejection of one's own": {bob, NewReview{head, ReviewRequests, "No.", nil}, "changes on your own"},
		"nothing is said":        {w.client, NewReview{head, ReviewComments, "", nil}, "blank"},
		"a line elsewhere":       {w.client, NewReview{head, ReviewComments, "x", []NewReviewComment{{"README.md", 99, "x"}}}, "part of the diff"},
		"a file elsewhere":       {w.client, NewReview{head, ReviewComments, "x", []NewReviewComment{{"nowhere.go", 1, "x"}}}, "path"},
		"another commit":         {w.client, NewReview{main[0].OID, ReviewComments, "x", line}, "not part of the pull request"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.client.CreateReview(ctx, w.name, n, c.review)
			if !IsStatus(err, http.StatusUnprocessableEntity) || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
		})
	}
	if all, err := w.client.Reviews(ctx, w.name, n); err != nil || len(all) != 0 {
		t.Errorf("left %+v, %v", all, err)
	}
	if _, err := bob.CreateReview(ctx, w.name, n, NewReview{head, ReviewComments, "A verdict in words.", line}); err != nil {
		t.Errorf("a comment on one's own: %v", err)
	}
	if _, err := w.client.CreateReview(ctx, w.name, 99, NewReview{head, ReviewComments, "x", nil}); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("no such pull request: %v", err)
	}
}

func TestReviewBesideOnesOwnDraftIsRefused(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	_, err := w.repo.Review(n, "alice", "PENDING", "a draft")
	must(t, err)
	_, err = w.client.CreateReview(ctx, w.name, n, NewReview{w.headOf(t, n), ReviewApproves, "Fine.", nil})
	pending, asked := w.client.OwnPendingReview(ctx, w.name, n)
	if !IsStatus(err, http.StatusUnprocessableEntity) || asked != nil || !pending {
		t.Errorf("%v; pending %v, %v", err, pending, asked)
	}
}

func TestReviewsOnAllPages(t *testing.T) {
	w := newWorld(t)
	n, _ := w.pull(t, "topic")
	const many = 130
	for i := range many {
		_, err := w.repo.Review(n, "carol", "COMMENT", fmt.Sprint("review ", i))
		must(t, err)
	}
	all, err := w.client.Reviews(t.Context(), w.name, n)
	if err != nil || len(all) != many || all[many-1].Body != "review 129" {
		t.Errorf("%d reviews, %v", len(all), err)
	}
}

func TestVerdictIsTakenBack(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	head := w.headOf(t, n)
	approved, err := w.client.CreateReview(ctx, w.name, n, NewReview{head, ReviewApproves, "Fine.", nil})
	must(t, err)
	said, err := w.client.CreateReview(ctx, w.name, n, NewReview{head, ReviewComments, "Hm.", nil})
	must(t, err)
	edited, err := w.client.EditReview(ctx, w.name, n, said.ID, "Of an older commit.\n\nHm.")
	if err != nil || edited.Body != "Of an older commit.\n\nHm." || edited.State != "COMMENTED" || edited.CommitOID != head {
		t.Errorf("edited %+v, %v", edited, err)
	}
	gone, err := w.client.DismissReview(ctx, w.name, n, approved.ID, "The head moved on.")
	if err != nil || gone.State != "DISMISSED" || gone.CommitOID != head {
		t.Errorf("dismissed %+v, %v", gone, err)
	}
	if _, err := w.client.DismissReview(ctx, w.name, n, said.ID, "x"); !IsStatus(err, http.StatusUnprocessableEntity) {
		t.Errorf("a comment: %v", err)
	}
	if _, err := w.client.DismissReview(ctx, w.name, n, 1, "x"); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("no such review: %v", err)
	}
	bob := w.newClient(t, githubsim.TokenOf("bob"))
	w.repo.Protect("main", nil, 1)
	again, err := w.client.CreateReview(ctx, w.name, n, NewReview{head, ReviewApproves, "Fine.", nil})
	must(t, err)
	if _, err := bob.DismissReview(ctx, w.name, n, again.ID, "x"); !IsStatus(err, http.StatusUnprocessableEntity) {
		t.Errorf("on a protected branch: %v", err)
	}
}

func TestPeopleAreAskedForTheirReview(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	must(t, w.repo.SetPermission("carol", "read"))
	n, _ := w.pull(t, "topic")
	asked := func() (logins []string) {
		t.Helper()
		all, err := w.client.RequestedReviewers(ctx, w.name, n)
		must(t, err)
		for _, a := range all {
			if a.ID != w.hub.UserID(a.Login) {
				t.Errorf("account %+v", a)
			}
			logins = append(logins, a.Login)
		}
		return logins
	}
	if got := asked(); len(got) != 0 {
		t.Errorf("asked %q at first", got)
	}
	must(t, w.client.RequestReviewers(ctx, w.name, n, "carol", "alice"))
	must(t, w.client.RequestReviewers(ctx, w.name, n, "carol"))
	if got := asked(); !slices.Equal(got, []string{"carol", "alice"}) {
		t.Errorf("asked %q", got)
	}
	if err := w.client.RequestReviewers(ctx, w.name, n, "bob"); !IsStatus(err, http.StatusUnprocessableEntity) {
		t.Errorf("the author: %v", err)
	}
	_, err := w.hub.AddUser("stranger")
	must(t, err)
	if err := w.client.RequestReviewers(ctx, w.name, n, "stranger"); !IsStatus(err, http.StatusUnprocessableEntity) {
		t.Errorf("a stranger: %v", err)
	}
	_, err = w.repo.Review(n, "carol", "APPROVE", "")
	must(t, err)
	if got := asked(); !slices.Equal(got, []string{"alice"}) {
		t.Errorf("after the review: %q", got)
	}
}

func TestStatusesOfACommit(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, node := w.pull(t, "topic")
	head := w.headOf(t, n)
	_, err := w.repo.SetCheck("topic", "build", "", "success")
	must(t, err)
	if all, err := w.client.Statuses(ctx, w.name, head); err != nil || len(all) != 0 {
		t.Errorf("at first: %+v, %v", all, err)
	}
	must(t, w.client.SetStatus(ctx, w.name, head, Status{Context: review.StatusContext, State: "pending", Description: "quinn looks"}))
	w.advance(time.Minute)
	want := Status{Context: review.StatusContext, State: "success", Description: "all approved", URL: "https://example.test/2"}
	must(t, w.client.SetStatus(ctx, w.name, head, want))
	want.At = w.now()
	if all, err := w.client.Statuses(ctx, w.name, head); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("statuses %+v, %v", all, err)
	}
	for i := range 120 {
		must(t, w.repo.SetStatus("topic", fmt.Sprint("ci/", i), "success", ""))
	}
	if all, err := w.client.Statuses(ctx, w.name, head); err != nil || len(all) != 121 {
		t.Errorf("%d statuses on two pages, %v", len(all), err)
	}
	if err := w.client.SetStatus(ctx, w.name, head, Status{Context: "x", State: "success", Description: strings.Repeat("x", 141)}); !IsStatus(err, http.StatusUnprocessableEntity) {
		t.Errorf("a long description: %v", err)
	}
	must(t, w.hub.ForbidStatuses("alice"))
	if err := w.client.SetStatus(ctx, w.name, head, want); !IsStatus(err, http.StatusForbidden) {
		t.Errorf("a token that may not: %v", err)
	}
	d, _, err := w.client.Details(ctx, []string{node})
	if err != nil || len(d[0].Checks) != 122 {
		t.Errorf("%d checks, %v", len(d[0].Checks), err)
	}
}

// Our own status is never counted as a check.
func TestOwnStatusIsNoCheck(t *testing.T) {
	testhome.NotShort(t)
	for name, c := range map[string]struct {
		ours, build, want string
	}{
		"green beside pending": {"pending", "success", "SUCCESS"},
		"green beside red":     {"failure", "success", "SUCCESS"},
		"red beside green":     {"success", "failure", "FAILURE"},
		"red beside pending":   {"pending", "failure", "FAILURE"},
		"running beside green": {"success", "none", "PENDING"},
		"skipped":              {"pending", "skipped", "SUCCESS"},
		"nothing else":         {"pending", "", ""},
		"no status":            {"", "failure", "FAILURE"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, node := w.pull(t, "topic")
			if c.ours != "" {
				must(t, w.repo.SetStatus("topic", strings.ToUpper(review.StatusContext), c.ours, ""))
			}
			if c.build != "" {
				_, err := w.repo.SetCheck("topic", "build", "", strings.Replace(c.build, "none", "", 1))
				must(t, err)
			}
			d, _, err := w.client.Details(t.Context(), []string{node})
			if err != nil || d[0].Rollup != c.want {
				t.Errorf("rollup %q, want %q; %v", d[0].Rollup, c.want, err)
			}
		})
	}
}

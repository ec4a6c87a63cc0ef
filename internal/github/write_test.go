package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestComments(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n := w.issue(t, "x")
	body := work.Mark("hello <b> & “world”", work.Marks{Token: strings.Repeat("a", 64)})
	made, err := w.client.CreateComment(ctx, w.name, n, body)
	must(t, err)
	if made.ID == 0 || made.Number != n || made.Body != body || made.Author.Login != "alice" || made.URL == "" {
		t.Errorf("made %+v", made)
	}
	read, ok, err := w.client.Comment(ctx, w.name, made.ID)
	if err != nil || !ok || read != made {
		t.Errorf("read %+v, %v, %v; made %+v", read, ok, err, made)
	}
	must(t, w.client.UpdateComment(ctx, w.name, made.ID, "other"))
	if read, _, err := w.client.Comment(ctx, w.name, made.ID); err != nil || read.Body != "other" {
		t.Errorf("updated %+v, %v", read, err)
	}
	must(t, w.client.DeleteComment(ctx, w.name, made.ID))
	if _, ok, err := w.client.Comment(ctx, w.name, made.ID); ok || err != nil {
		t.Errorf("deleted comment: %v, %v", ok, err)
	}
	if err := w.client.DeleteComment(ctx, w.name, made.ID); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := w.client.CreateComment(ctx, w.name, 99, "x"); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("comment on nothing: %v", err)
	}
}

func TestTooLongBodyIsRefusedWithItsReason(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	_, err := w.client.CreateComment(t.Context(), w.name, n, strings.Repeat("x", 65537))
	var e *transport.Error
	if !errors.As(err, &e) || e.Status != http.StatusUnprocessableEntity || len(e.Items) != 1 || e.Items[0].Field != "body" {
		t.Errorf("error %+v", err)
	}
	w.hub.SetMaxComments(0)
	var wait *work.WaitError
	if _, err := w.client.CreateComment(t.Context(), w.name, n, "x"); !IsStatus(err, http.StatusForbidden) || errors.As(err, &wait) {
		t.Errorf("2,500 comments: %v; want a plain 403", err)
	}
}

func TestReplies(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	top, err := w.repo.ReviewComment(n, "bob", "README.md", 5, "why?")
	must(t, err)
	made, err := w.client.Reply(ctx, w.name, n, top, "because")
	must(t, err)
	if made.InReplyTo != top || made.Pull != n || made.Path != "README.md" || made.Author.Login != "alice" || made.ReviewID == 0 || made.Pending {
		t.Errorf("reply %+v", made)
	}
	read, ok, err := w.client.ReviewComment(ctx, w.name, made.ID)
	if err != nil || !ok || read != made {
		t.Errorf("read %+v, %v, %v", read, ok, err)
	}
	must(t, w.client.DeleteReviewComment(ctx, w.name, made.ID))
	if _, ok, err := w.client.ReviewComment(ctx, w.name, made.ID); ok || err != nil {
		t.Errorf("deleted: %v, %v", ok, err)
	}
	// The reply's target is deleted.
	must(t, w.repo.DeleteReviewComment(top, "bob"))
	if _, err := w.client.Reply(ctx, w.name, n, top, "too late"); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("reply to what is gone: %v", err)
	}
}

func TestReplyDuringOwnDraftIsRefusedByFields(t *testing.T) {
	w := newWorld(t)
	n, _ := w.pull(t, "topic")
	top, err := w.repo.ReviewComment(n, "bob", "README.md", 5, "why?")
	must(t, err)
	_, err = w.repo.Review(n, "alice", "PENDING", "a draft")
	must(t, err)
	_, err = w.client.Reply(t.Context(), w.name, n, top, "because")
	var e *transport.Error
	if !errors.As(err, &e) || e.Status != http.StatusUnprocessableEntity || e.Items[0].Field != "user_id" {
		t.Errorf("error %+v", err)
	}
}

func TestCreatePullTwice(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	_, err := w.repo.PushCommit("agent/small/1-x", "alice", map[string]string{"a": "b"}, "m")
	must(t, err)
	order := NewPull{Title: "T", Body: "B", Head: "agent/small/1-x", Base: "main"}
	made, err := w.client.CreatePull(ctx, w.name, order)
	must(t, err)
	if made.Number == 0 || made.Title != "T" || made.Body != "B" || made.Head != order.Head || made.Base != "main" || made.State != work.PullOpen || made.CrossRepo {
		t.Errorf("made %+v", made)
	}
	_, err = w.client.CreatePull(ctx, w.name, order)
	var e *transport.Error
	if !errors.As(err, &e) || e.Status != http.StatusUnprocessableEntity || e.Items[0].Resource != "PullRequest" {
		t.Errorf("second: %+v", err)
	}
	if found, err := w.client.PullsByHead(ctx, w.name, order.Head); err != nil || len(found) != 1 || found[0].Number != made.Number {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestReactions(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	comment, err := w.repo.Comment(n, "bob", "x")
	must(t, err)
	diff, err := w.repo.ReviewComment(n, "bob", "README.md", 5, "y")
	must(t, err)
	for on, id := range map[ReactionTarget]int64{ReactIssue: int64(n), ReactComment: comment, ReactReviewComment: diff} {
		for range 2 {
			if err := w.client.React(ctx, w.name, on, id, "eyes"); err != nil {
				t.Errorf("react to %s: %v", on, err)
			}
		}
	}
	if err := w.client.React(ctx, w.name, ReactComment, 1, "eyes"); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("react to nothing: %v", err)
	}
}

func TestResolveThread(t *testing.T) {
	w := newWorld(t)
	n, id := w.pull(t, "topic")
	_, err := w.repo.ReviewComment(n, "bob", "README.md", 5, "why?")
	must(t, err)
	thread := func() Thread {
		d, _, err := w.client.Details(t.Context(), []string{id})
		must(t, err)
		return d[0].Threads[0]
	}
	for range 2 {
		must(t, w.client.ResolveThread(t.Context(), thread().NodeID))
	}
	if !thread().Resolved {
		t.Error("not resolved")
	}
	var unclear *transport.UnclearError
	if err := w.client.ResolveThread(t.Context(), "PRRT_nothing"); !IsStatus(err, http.StatusNotFound) || errors.As(err, &unclear) {
		t.Errorf("no such thread: %v", err)
	}
	node := thread().NodeID
	w.hub.AddFault(githubsim.Fault{Path: "/graphql", Status: http.StatusBadGateway, Applied: true})
	if err := w.client.ResolveThread(t.Context(), node); !errors.As(err, &unclear) {
		t.Errorf("502: %v", err)
	}
}

// A write that was applied and lost its answer is always unclear, never done or refused.
func TestLostAnswersAreUnclear(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	for name, fault := range map[string]githubsim.Fault{
		"connection closed": githubsim.LoseAnswer(),
		"500":               {Applied: true, Status: http.StatusInternalServerError},
		"502 with a page":   {Applied: true, Status: http.StatusBadGateway, Body: "<html>Unicorn!</html>", Header: http.Header{"Content-Type": {"text/html"}}},
		"408":               {Applied: true, Status: http.StatusRequestTimeout},
		"200 with a page":   {Applied: true, Status: http.StatusOK, Body: "<html>Unicorn!</html>"},
		"201 with nothing":  {Applied: true, Status: http.StatusCreated, Body: "{}"},
		"not applied":       githubsim.LoseRequest(),
	} {
		t.Run(name, func(t *testing.T) {
			w.hub.ResetLog()
			fault.Method = "POST"
			w.hub.AddFault(fault)
			made, err := w.client.CreateComment(t.Context(), w.name, n, name)
			var unclear *transport.UnclearError
			if !errors.As(err, &unclear) || made.ID != 0 {
				t.Errorf("%+v, %v; want an UnclearError", made, err)
			}
			if got := len(w.hub.Requests()); got != 1 {
				t.Errorf("%d requests, want 1: a write is never sent again by itself", got)
			}
		})
	}
	comments, err := w.client.CommentsOf(t.Context(), w.name, n, time.Time{})
	must(t, err)
	if len(comments) != 6 {
		t.Errorf("%d comments, want one of each that was applied", len(comments))
	}
}

func TestWritesNeverFollowARedirect(t *testing.T) {
	w := newWorld(t)
	n, _ := w.pull(t, "topic")
	ctx := t.Context()
	calls := map[string]func() error{
		"POST":   func() error { _, err := w.client.CreateComment(ctx, w.name, n, "x"); return err },
		"PATCH":  func() error { return w.client.UpdateComment(ctx, w.name, 1, "x") },
		"DELETE": func() error { return w.client.DeleteComment(ctx, w.name, 1) },
	}
	for method, write := range calls {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			w.hub.ResetLog()
			f := githubsim.Redirect("http://api.github.localhost/user")
			f.Method, f.Status = method, status
			w.hub.AddFault(f)
			var moved *transport.MovedError
			if err := write(); !errors.As(err, &moved) || moved.Location != "http://api.github.localhost/user" {
				t.Errorf("%s, %d: %v; want a MovedError", method, status, err)
			}
			var seen []string
			for _, r := range w.hub.Requests() {
				seen = append(seen, r.Method)
			}
			if !slices.Equal(seen, []string{method}) {
				t.Errorf("%s, %d: sent %v", method, status, seen)
			}
		}
	}
}

func TestInterruptedWriteIsUnclear(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	ctx, cancel := context.WithCancel(t.Context())
	w.hub.AddFault(githubsim.Fault{Method: "POST", Delay: time.Minute})
	w.hub.OnRequest(func(githubsim.Request) { cancel() })
	_, err := w.client.CreateComment(ctx, w.name, n, "x")
	var unclear *transport.UnclearError
	if !errors.As(err, &unclear) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want an UnclearError of an interrupt", err)
	}
	if _, err := w.client.CreateComment(ctx, w.name, n, "x"); errors.As(err, &unclear) || !errors.Is(err, context.Canceled) {
		t.Errorf("after the interrupt: %v; nothing was sent, nothing is unclear", err)
	}
}

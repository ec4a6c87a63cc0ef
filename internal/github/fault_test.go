package github

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestUnexpectedBodies(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	for _, body := range []string{"<html>Unicorn!</html>", "", "null", "{}", "[]", `"text"`, "[{}]", `{"id":"x"}`, "[1]", strings.Repeat("[", 100)} {
		for name, read := range map[string]func() error{
			"list": func() error {
				_, err := w.client.ListIssues(ctx, transport.PageRequest{URL: IssuesURL(w.name, time.Time{})})
				return err
			},
			"comments":   func() error { _, err := w.client.CommentsOf(ctx, w.name, n, time.Time{}); return err },
			"issue":      func() error { _, _, err := w.client.Issue(ctx, w.name, n); return err },
			"pull":       func() error { _, _, err := w.client.Pull(ctx, w.name, n); return err },
			"repository": func() error { _, err := w.client.Repository(ctx, w.name); return err },
			"permission": func() error {
				_, err := w.client.Permission(ctx, w.name, work.Account{ID: 1, Login: "bob"})
				return err
			},
			"viewer":  func() error { _, _, _, err := w.client.Viewer(ctx, ""); return err },
			"sweep":   func() error { _, err := w.client.Sweep(ctx, w.name, []string{"x"}); return err },
			"details": func() error { _, _, err := w.client.Details(ctx, []string{"x"}); return err },
		} {
			if body == "[]" && (name == "list" || name == "comments") {
				continue // an empty list is a valid answer
			}
			w.hub.ClearFaults()
			w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: body, Header: http.Header{"Content-Type": {"application/json"}}})
			if body == "" {
				w.hub.ClearFaults()
				w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: " ", Header: http.Header{"Content-Type": {"text/plain"}}})
			}
			if err := read(); !isBody(err) {
				t.Errorf("%s of %.30q: %v, want a BodyError", name, body, err)
			}
		}
	}
}

func TestHugeBodyIsCutOff(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t)
	patient, err := New(transport.Options{Now: w.now, Timeout: 10 * time.Minute}) // the race detector reads slowly
	must(t, err)
	for kind, space := range map[string]string{"text/plain": " ", "application/json": "\x01"} {
		w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: "[" + strings.Repeat(space, transport.MaxBody) + "]", Header: http.Header{"Content-Type": {kind}}})
		if _, err := patient.ListIssues(t.Context(), transport.PageRequest{URL: IssuesURL(w.name, time.Time{})}); !isBody(err) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: error %v, want a BodyError that says why", kind, err)
		}
	}
}

func TestReadsThatGetNoAnswer(t *testing.T) {
	w := newWorld(t)
	read := func(ctx context.Context) error {
		_, _, err := w.client.Issue(ctx, w.name, 1)
		return err
	}
	w.hub.AddFault(githubsim.LoseRequest())
	var unreachable *transport.UnreachableError
	if err := read(t.Context()); !errors.As(err, &unreachable) {
		t.Errorf("connection closed: %v", err)
	}
	w.hub.AddFault(githubsim.Fault{Status: http.StatusBadGateway})
	if err := read(t.Context()); !IsStatus(err, http.StatusBadGateway) {
		t.Errorf("502: %v", err)
	}
	w.hub.AddFault(githubsim.Fault{Delay: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	w.hub.OnRequest(func(githubsim.Request) { cancel() })
	if err := read(ctx); !errors.Is(err, context.Canceled) || errors.As(err, &unreachable) {
		t.Errorf("interrupt: %v", err)
	}
	w.hub.OnRequest(nil)
	quick, err := New(transport.Options{Now: w.now, Timeout: 20 * time.Millisecond})
	must(t, err)
	w.hub.AddFault(githubsim.Fault{Delay: time.Minute})
	if _, _, err := quick.Issue(t.Context(), w.name, 1); !errors.As(err, &unreachable) {
		t.Errorf("time-out: %v", err)
	}
	must(t, w.hub.Close())
	if err := read(t.Context()); !errors.As(err, &unreachable) {
		t.Errorf("nobody there: %v", err)
	}
}

// After a limit no request is sent until the time that GitHub named.
func TestPrimaryLimit(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n := w.issue(t, "x")
	must(t, w.hub.SetRemaining("alice", "core", 1))
	if _, _, err := w.client.Issue(ctx, w.name, n); err != nil {
		t.Fatal(err) // the last one before the limit
	}
	w.asked()
	reset := w.now().Add(time.Hour)
	for range 3 {
		_, _, err := w.client.Issue(ctx, w.name, n)
		wantWait(t, err, reset)
	}
	if got := w.asked(); got != 0 {
		t.Errorf("%d requests while limited", got)
	}
	if _, err := w.client.Sweep(ctx, w.name, nil); err != nil {
		t.Errorf("GraphQL has a limit of its own: %v", err)
	}
	w.advance(time.Hour)
	if _, _, err := w.client.Issue(ctx, w.name, n); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}

// The limit was used up by another client of the account.
func TestPrimaryLimitByAnswer(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	must(t, w.hub.SetRemaining("alice", "core", 0))
	w.asked()
	_, err := w.client.CreateComment(t.Context(), w.name, n, "x")
	var unclear *transport.UnclearError
	if wantWait(t, err, w.now().Add(time.Hour)); errors.As(err, &unclear) {
		t.Errorf("a refused write is not unclear: %v", err)
	}
	_, err = w.client.CreateComment(t.Context(), w.name, n, "x")
	wantWait(t, err, w.now().Add(time.Hour))
	if got := w.asked(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestSecondaryLimit(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	w.hub.AddFault(githubsim.Secondary(90 * time.Second))
	_, err := w.client.CreateComment(t.Context(), w.name, n, "x")
	until := w.now().Add(90 * time.Second)
	wantWait(t, err, until)
	w.asked()
	_, err = w.client.Sweep(t.Context(), w.name, nil)
	wantWait(t, err, until) // it blocks all requests
	if got := w.asked(); got != 0 {
		t.Errorf("%d requests while limited", got)
	}
	w.advance(90 * time.Second)
	if _, err := w.client.CreateComment(t.Context(), w.name, n, "x"); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}

// GraphQL reports a limit with status 200.
func TestGraphQLLimit(t *testing.T) {
	w := newWorld(t)
	must(t, w.hub.SetRemaining("alice", "graphql", 0))
	_, err := w.client.Sweep(t.Context(), w.name, nil)
	wantWait(t, err, w.now().Add(time.Hour))
	if _, _, err := w.client.Issue(t.Context(), w.name, w.issue(t, "x")); err != nil {
		t.Errorf("REST has a limit of its own: %v", err)
	}
	w.advance(time.Hour)
	if _, err := w.client.Sweep(t.Context(), w.name, nil); err != nil {
		t.Errorf("after the reset: %v", err)
	}
	w.hub.AddFault(githubsim.Fault{
		Path: "/graphql", Status: http.StatusOK, Body: `{"errors":[{"message":"You have exceeded a secondary rate limit."}]}`,
		Header: http.Header{"Retry-After": {strconv.Itoa(70)}, "Content-Type": {"application/json"}},
	})
	_, err = w.client.Sweep(t.Context(), w.name, nil)
	wantWait(t, err, w.now().Add(70*time.Second))
}

func wantWait(t *testing.T, err error, until time.Time) {
	t.Helper()
	var wait *work.WaitError
	if !errors.As(err, &wait) || !wait.Until.Equal(until) {
		t.Errorf("error %v, want to wait until %v", err, until)
	}
}

func TestRequestsAreCounted(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	w.asked()
	if _, _, err := w.client.Issue(t.Context(), w.name, n); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.requests) != 1 {
		t.Fatalf("requests %+v", w.requests)
	}
	if r := w.requests[0]; r.Method != "GET" || r.URL != "http://api.github.localhost/repos/alice/app/issues/1" || r.Status != 200 || r.Resource != "core" || r.Remaining <= 0 {
		t.Errorf("request %+v", r)
	}
}

package github

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// A reset centuries ahead blocks for an hour; then one request is tried.
func TestNoLimitLastsLongerThanAnHour(t *testing.T) {
	w := newWorld(t)
	var kept []transport.Limit
	w.client.KeepLimits(func(l transport.Limit) { kept = append(kept, l) })
	w.hub.AddFault(githubsim.Fault{
		Path: "/repos/alice/app", Status: http.StatusForbidden, Body: `{"message":"API rate limit exceeded for user ID 1."}`,
		Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"9999999999"}, "X-Ratelimit-Resource": {"core"}},
	})
	_, err := w.client.Repository(t.Context(), w.name)
	wait, ok := errors.AsType[*work.WaitError](err)
	if most := w.now().Add(time.Hour + time.Minute); !ok || wait.Until.After(most) {
		t.Fatalf("error %v, want a wait of at most an hour", err)
	}
	if len(kept) != 1 || kept[0].Resource != "core" || !kept[0].Until.Equal(wait.Until) {
		t.Errorf("kept %+v", kept)
	}
	w.advance(59 * time.Minute)
	if _, err := w.client.Repository(t.Context(), w.name); !errors.As(err, &wait) {
		t.Errorf("asked before the hour is over: %v", err)
	}
	w.advance(2 * time.Minute)
	_, err = w.client.Repository(t.Context(), w.name)
	must(t, err)
}

// A limit from an earlier process applies here.
func TestALimitOfAnEarlierProcessHolds(t *testing.T) {
	w := newWorld(t)
	w.client.Hold(transport.Limit{Resource: "*", Until: w.now().Add(time.Minute), Reason: "a limit"})
	_, err := w.client.Repository(t.Context(), w.name)
	if wait, ok := errors.AsType[*work.WaitError](err); !ok || explain.What(wait.Reason, explain.Place{}) != "a limit" {
		t.Errorf("error %v, want to wait", err)
	}
	if w.asked() != 0 {
		t.Errorf("%d requests", w.asked())
	}
}

// GitHub in maintenance names a time: nothing is sent before it, and a write is still unclear.
func TestAServerThatAsksToWaitIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	var kept []transport.Limit
	w.client.KeepLimits(func(l transport.Limit) { kept = append(kept, l) })
	w.hub.AddFault(githubsim.Fault{Always: true, Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"120"}}})
	_, err := w.client.CreateComment(t.Context(), w.name, 1, "x")
	if _, ok := errors.AsType[*transport.UnclearError](err); !ok {
		t.Errorf("the write came to %v, want an unclear one", err)
	}
	w.asked()
	_, err = w.client.Repository(t.Context(), w.name)
	if wait, ok := errors.AsType[*work.WaitError](err); !ok || wait.Until.Before(w.now().Add(time.Minute)) {
		t.Errorf("error %v, want a wait of two minutes", err)
	}
	if n := w.asked(); n != 0 {
		t.Errorf("%d requests while it lasts", n)
	}
	w.advance(3 * time.Minute)
	if _, err = w.client.Repository(t.Context(), w.name); w.asked() != 1 {
		t.Errorf("it was not tried again: %v", err)
	}
	if wait, ok := errors.AsType[*work.WaitError](err); !ok || wait.Until.After(w.now().Add(3*time.Minute)) {
		t.Errorf("the read came to %v, want a wait", err)
	}
	if len(kept) != 2 || kept[0].Resource != "*" {
		t.Errorf("kept %+v", kept)
	}
}

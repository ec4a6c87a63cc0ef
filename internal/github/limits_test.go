package github

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A reset that lies centuries ahead is waited for an hour, then it is tried again.
func TestNoLimitLastsLongerThanAnHour(t *testing.T) {
	w := newWorld(t)
	var kept []Limit
	w.client.KeepLimits(func(l Limit) { kept = append(kept, l) })
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

// A limit that an earlier process was told of holds here.
func TestALimitOfAnEarlierProcessHolds(t *testing.T) {
	w := newWorld(t)
	w.client.Hold(Limit{Resource: "*", Until: w.now().Add(time.Minute), Reason: "a limit"})
	_, err := w.client.Repository(t.Context(), w.name)
	if wait, ok := errors.AsType[*work.WaitError](err); !ok || wait.Reason != "a limit" {
		t.Errorf("error %v, want to wait", err)
	}
	if w.asked() != 0 {
		t.Errorf("%d requests", w.asked())
	}
}

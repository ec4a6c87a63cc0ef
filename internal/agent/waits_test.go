package agent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

func TestWaitsAreBounded(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := agent.Spec{Name: "x", Now: func() time.Time { return now }}
	for told, want := range map[time.Duration]time.Duration{
		0: 5 * time.Minute, -time.Hour: 5 * time.Minute, 3 * time.Second: time.Minute, 90 * time.Second: 90 * time.Second,
		time.Hour: time.Hour, 30 * time.Hour: time.Hour,
	} {
		wait, ok := errors.AsType[*work.WaitError](s.Wait("why", now.Add(told), 5*time.Minute))
		if !ok || wait.Until.Sub(now) != want {
			t.Errorf("told %s: %v until %s, want %s", told, wait, wait.Until, want)
		}
		if long := told > time.Hour; long != strings.Contains(explain.What(wait.Reason, explain.Place{}), "until 2026-11-22 18:00 UTC") {
			t.Errorf("told %s: %q", told, explain.What(wait.Reason, explain.Place{}))
		}
	}
}

// TestHowLongALimitLastsByItsMessage: providers write it in several forms.
func TestHowLongALimitLastsByItsMessage(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := agent.Spec{Now: func() time.Time { return now }}
	for words, want := range map[string]time.Duration{
		"rate limit exceeded: Rate limit reached for gpt-5.5: Limit 30000. Please try again in 2.898s. Visit https://x": 2898 * time.Millisecond,
		"Please try again in 1m20s.": 80 * time.Second, "try again in 250ms": 250 * time.Millisecond, "Try again in 1h2m": 62 * time.Minute,
		"API Error: Request rejected (429) · Rate limit. Please try again in 20m0s.": 20 * time.Minute,
		"Please retry after 34 seconds.":                                             34 * time.Second, "retry-after: 2 mins": 2 * time.Minute, "It resets in 3 hours and 5 minutes": 185 * time.Minute,
		"Please wait for 2 days, 3 hours.": 51 * time.Hour, "Your limit resets at 2026-11-21T15:30:00Z.": 210 * time.Minute,
		"try again at 2026-11-21 15:30:00+02:00": 90 * time.Minute, `{"resets_at": 1795266000}`: time.Unix(1795266000, 0).Sub(now),
		"try again in a while": 0, "try again in 7 parsecs": 0, "": 0, "try again in 99999999999999h": 0, "try again in 3 months": 0,
		"Limit 30000, used 29000": 0, "it said 2026-11-21T15:30:00Z": 0, "waiting for 3 seconds of silence": 0,
	} {
		got := s.ResetIn(words)
		if want == 0 && !got.IsZero() || want != 0 && !got.Equal(now.Add(want)) {
			t.Errorf("%q: %s, want in %s", words, got, want)
		}
	}
}

// TestARefusedRequestIsToldInTheProvidersWords: to people on GitHub too, without addresses and secrets, and
// short; the machine sees the rest.
func TestARefusedRequestIsToldInTheProvidersWords(t *testing.T) {
	s := agent.Spec{Name: "x", Redact: func(text string) string { return strings.ReplaceAll(text, "sk-secret", "[key]") }}
	for _, tt := range []struct{ code, words, public, local string }{
		{"invalid_prompt", "Invalid prompt: your prompt was flagged.", "(invalid_prompt): `Invalid prompt: your prompt was flagged`", ""},
		{"", `{"error":{"message":"No such @tool` + "`" + `, key sk-secret"}}`, "request: `No such @tool', key [key]`", ""},
		{"", "unexpected status 422: no, url: http://10.0.0.7:8080/v1", "no, url: [address]`", "http://10.0.0.7:8080/v1"},
		{"", "proxy.corp:3128 refused\n\nit", "`[address] refused it`", "proxy.corp:3128"},
		{"a `code` of theirs", strings.Repeat("long ", 100), "long long", ""},
		{"", "", "it gave no reason", ""},
	} {
		var blocked *work.BlockedError
		if !errors.As(s.Invalid(agent.Request{}, tt.code, tt.words), &blocked) {
			t.Fatal(tt)
		}
		w := explain.Reason(blocked.Reason, explain.Place{})
		if !strings.Contains(w.What, tt.public) || len(w.What) > 400 || strings.Count(w.What, "`") != 2 || !strings.Contains(w.Local, tt.local) || (tt.local == "") != (w.Local == "") {
			t.Errorf("%q: %q and %q", tt.words, w.What, w.Local)
		}
	}
	if _, ok := errors.AsType[*agent.SessionError](s.Invalid(agent.Request{Session: "old"}, "", "no")); !ok {
		t.Error("in an old session, the earlier conversation may be the reason")
	}
}

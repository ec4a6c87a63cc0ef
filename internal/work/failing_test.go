package work_test

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A failure is printed first, then once an hour with its count, and again first once it is over.
func TestAFailureIsToldOnceAnHour(t *testing.T) {
	start := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	login := work.Failure{Kind: "login", Place: "github.com"}
	sso := work.Failure{Kind: "login", Place: "github.com/acme"}
	whole := work.Failure{Kind: "database", Gist: work.Gist("no answer")}
	const quiet = "quiet"
	for _, s := range []struct {
		name string
		at   time.Duration // of the last pass; one a minute met the failure until then
		f    work.Failure
		read []string // what the pass before the last one read, without the failure
		want string
	}{
		{"first", 0, login, nil, ""},
		{"a minute later", time.Minute, login, nil, quiet},
		{"before the hour is over", 59 * time.Minute, login, nil, quiet},
		{"after an hour", time.Hour, login, nil, " (failed 61 times since 2026-11-23 09:00 UTC)"},
		{"a minute after that", 61 * time.Minute, login, nil, quiet},
		{"after two hours", 2 * time.Hour, login, nil, " (failed 121 times since 2026-11-23 09:00 UTC)"},
		{"a repository of the host was read in between", 10 * time.Minute, login, []string{"github.com/octo/app"}, ""},
		{"one of another host was", 10 * time.Minute, login, []string{"github.com.example.org/octo/app"}, quiet},
		{"one of another owner was", 10 * time.Minute, sso, []string{"github.com/octo/app", "github.com/acme-labs/x"}, quiet},
		{"one of the owner was", 10 * time.Minute, sso, []string{"github.com/acme/x"}, ""},
		{"a pass came to its end in between", 10 * time.Minute, whole, []string{}, ""},
	} {
		t.Run(s.name, func(t *testing.T) {
			var all work.Failings
			for at := time.Duration(0); at < s.at; at += time.Minute {
				all = all.Met([]work.Failure{s.f}, start.Add(at))
			}
			if s.read != nil {
				all = all.Over(nil, s.read)
			}
			got, tell := all.Tell(s.f, start.Add(s.at))
			if !tell {
				got = quiet
			}
			if got != s.want {
				t.Errorf("%q, want %q", got, s.want)
			}
		})
	}

	all := work.Failings{}.Met([]work.Failure{login}, start)
	if _, tell := all.Tell(sso, start); !tell {
		t.Error("another place's failure is quiet")
	}
	if _, tell := all.Tell(login, start.Add(-time.Minute)); !tell {
		t.Error("it is quiet after the clock was set back")
	}
	if more, tell := all.Tell(login, start.Add(24*time.Hour)); !tell || more != "" {
		t.Errorf("after a day without it: %q, %v", more, tell)
	}
	if all = all.Over([]work.Failure{login}, []string{"github.com/octo/app"}); len(all) != 1 {
		t.Error("a failure that the pass met is over")
	}
}

package tell

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func TestOutcome(t *testing.T) {
	later := time.Now()
	read, failed, waits, soon := env.RepoReport{Ingested: true}, env.RepoReport{Failed: true, Note: "no network"}, env.RepoReport{Until: &later}, env.RepoReport{Note: "read 1s ago"}
	for _, c := range []struct {
		name  string
		repos []env.RepoReport
		shut  error
		err   error
		want  work.PassOutcome
		why   string
	}{
		{name: "all were read", repos: []env.RepoReport{read, read}, want: work.PassOK},
		{name: "one of two was read", repos: []env.RepoReport{failed, read}, want: work.PassOK},
		{name: "one was read a moment ago", repos: []env.RepoReport{soon}, want: work.PassOK},
		{name: "none could be read", repos: []env.RepoReport{failed, failed}, want: work.PassFailed, why: "no network"},
		{name: "none could be read, and one waits", repos: []env.RepoReport{failed, waits}, want: work.PassFailed, why: "no network"},
		{name: "all wait", repos: []env.RepoReport{waits, waits}, want: work.PassWaiting},
		{name: "no login", repos: []env.RepoReport{read}, shut: errors.New("not logged in"), want: work.PassFailed, why: "not logged in"},
		{name: "an error", repos: []env.RepoReport{read}, err: fmt.Errorf("route: %w", errors.New("disk\nfull")), want: work.PassFailed, why: "route: disk full"},
		{name: "interrupted", repos: []env.RepoReport{read}, err: fmt.Errorf("route: %w", context.Canceled), want: work.PassCancelled},
	} {
		rep := env.NewReport(later)
		rep.Shut = c.shut
		for i, r := range c.repos {
			rep.Repo(fmt.Sprint(i), func(x *env.RepoReport) { *x = r })
		}
		e := &PassEnd{Report: rep, Err: c.err, Outcome: outcome(rep, c.err)}
		if e.Outcome != c.want || e.why() != c.why {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, e.Outcome, e.why(), c.want, c.why)
		}
	}
}

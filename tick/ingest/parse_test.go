package ingest

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// What people are told about a stop is read back when the database is gone.
func TestAStopIsReadBackFromItsComment(t *testing.T) {
	remote := &env.Repo{Remote: env.Remote{Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}}}
	want := work.Stop{
		Reason: "the agent asks: Which file?\n\n- This one?\n- Next step: that one?", Hint: "answer in a comment on the issue", Attempts: 3,
		Since: time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC),
	}
	body := (&notice.Notices{Env: &env.Env{}}).StopText(notice.Target{Remote: remote}, want, work.Move{})
	if got, ok := stopSaid(body); !ok || got != want {
		t.Errorf("read %+v, %v of\n%s", got, ok, body)
	}
	for _, other := range []string{
		"", work.StoppedHere, work.StoppedHere + "it is late." + work.StoppedSince + "yesterday", "> " + body,
		notice.OverText(want, work.Move{To: work.StateRunning}, want.Since),
	} {
		if got, ok := stopSaid(other); ok {
			t.Errorf("read %+v of\n%s", got, other)
		}
	}
}

package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// gets counts what GitHub was asked since its log was reset, without what was sent to it.
func (w *world) gets() (n int, all []string) {
	for _, r := range w.hub.Requests() {
		if r.Method == "GET" || r.Method == "POST" && strings.HasSuffix(r.Path, "graphql") && !strings.Contains(r.Body, "mutation") {
			n++
			all = append(all, requestOf(r))
		}
	}
	return n, all
}

func requestOf(r githubsim.Request) string { return r.Method + " " + r.Path + "?" + r.Query }

// TestALostDatabaseIsReadByNumber: each open pull request of ours that a lost database knew is read by at most
// ten requests.
func TestALostDatabaseIsReadByNumber(t *testing.T) {
	testhome.OnlyLong(t)
	const pulls = 100
	w := newLostWorld(t, self(t), shape{repos: 1, pulls: pulls})
	w.quietPeriod = "1h"
	w.writeConfig(t, quiet)
	w.hub.ResetLog()
	w.work(t)
	if read := w.count(t, `SELECT COUNT(*) FROM pull_requests WHERE details_at > 0`); read != pulls {
		t.Errorf("%d pull requests are read", read)
	}
	n, all := w.gets()
	t.Logf("%d requests", n)
	if n > 10*pulls {
		slices.Sort(all)
		t.Errorf("want at most %d requests, not %d:\n%s", 10*pulls, n, strings.Join(all[:60], "\n"))
	}
}

// TestOwnWritesAreNotReadAgain: after hundreds of writes of our own, issues are read once. Then a pass asks for
// light queries and for the pages of what is younger than what a list may lack, which are unchanged.
func TestOwnWritesAreNotReadAgain(t *testing.T) {
	testhome.OnlyLong(t)
	const pulls = 400
	w := newLostWorld(t, self(t), shape{repos: 1, pulls: pulls, labels: []string{"agent:working"}})
	w.quietPeriod = "1h"
	w.writeConfig(t, quiet)
	for range 3 {
		w.work(t)
	}
	for w.count(t, `SELECT COUNT(*) FROM actions WHERE state = 'planned' AND kind <> 'repo_labels'`) > 0 {
		w.work(t)
	}
	written := w.count(t, `SELECT COUNT(*) FROM actions WHERE state = 'applied'`)
	for i := range 3 {
		w.hub.ResetLog()
		w.later.Add(int64(20 * time.Second))
		w.work(t)
		n, all := w.gets()
		t.Logf("pass %d after %d writes asks %d times", i+1, written, n)
		if i > 0 && n > 24 {
			t.Errorf("pass %d after %d writes asks %d times:\n%s", i+1, written, n, strings.Join(all, "\n"))
		}
	}
}

// TestOneMoreCommentOnAVeryLongConversation: a pass that takes in one comment on a pull request with 4,000
// asks at most eight times.
func TestOneMoreCommentOnAVeryLongConversation(t *testing.T) {
	testhome.OnlyLong(t)
	w := newRushWorld(t, 1)
	rush{1, 4000, 100}.write(t, w)
	w.settleDown(t)
	w.later.Add(int64(40 * time.Minute))
	w.settleDown(t)
	must(t, w.repo.SeedComments(reviewer, w.numbers()[:1], 1))
	w.hub.ResetLog()
	w.work(t)
	if n, all := w.gets(); n > 8 {
		t.Errorf("it asks %d times:\n%s", n, strings.Join(all, "\n"))
	}
}

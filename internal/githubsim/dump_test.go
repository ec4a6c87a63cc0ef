package githubsim

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// build makes the same story at different times and in different folders.
func build(t *testing.T, wait time.Duration) *world {
	t.Helper()
	w := newWorld(t)
	w.clock.advance(wait)
	_, err := w.repo.OpenIssue("ann", "First", "Body\n\n<!-- token-"+wait.String()+" -->", "b", "a")
	w.must(err)
	n := w.pull("topic", "ann")
	_, err = w.repo.Comment(n, "tom", "hello\r\nthere")
	w.must(err)
	top, err := w.repo.ReviewComment(n, "me", "src/a.txt", 3, "why")
	w.must(err)
	w.must(w.repo.ReactToReviewComment(top, "ann", "eyes"))
	w.must(w.repo.Resolve(top, "ann"))
	return w
}

func TestDump(t *testing.T) {
	marker := regexp.MustCompile(`<!--[^>]*-->`)
	one := build(t, 0).hub.Dump(marker)
	two := build(t, time.Hour)
	if got := two.hub.Dump(marker); got != one {
		t.Errorf("the same story dumps differently:\n%s\n---\n%s", one, got)
	}
	for _, line := range []string{
		"issue 1 open by ann: First", "  labels a, b", "pull 2 open by ann: Change topic", "    | there", "  thread on src/a.txt resolved", "    reactions ann:eyes", "branch topic tree ",
	} {
		if !strings.Contains(one, line+"\n") && !strings.Contains(one, line) {
			t.Errorf("no %q in\n%s", line, one)
		}
	}
	_, err := two.repo.PushCommit("topic", "ann", map[string]string{"x": "y"}, "More")
	two.must(err)
	if two.hub.Dump(marker) == one {
		t.Error("a push changes nothing")
	}
}

// What a merge leaves behind is told: a second one that changes nothing, a half, a place in a
// queue.
func TestDumpOfMerges(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	w.repo.ProtectBy("main", Rules{Queue: "squash"})
	w.must(w.repo.Enqueue(n, "me"))
	w.must(w.repo.StepQueue(n))
	if text := w.hub.Dump(); !strings.Contains(text, "  in the merge queue AWAITING_CHECKS\n") || strings.Contains(text, "gh-readonly") {
		t.Errorf("no queue in\n%s", text)
	}
	w.must(w.repo.Dequeue(n, "me"))
	w.repo.Unprotect("main")
	w.repo.HalveNextMerges(2)
	w.merge(n, object{"merge_method": "squash"})
	once := w.hub.Dump()
	w.merge(n, object{"merge_method": "squash"})
	if twice := w.hub.Dump(); twice == once || !strings.Contains(twice, "  half merged\n") || !strings.Contains(twice, "main has 3 steps\n") {
		t.Errorf("merged twice:\n%s", twice)
	}
}

// TestSeed makes a thousand pull requests and reads them: it must stay fast, since a benchmark does
// so, and what is slow is git.
func TestSeed(t *testing.T) {
	w := newWorld(t)
	first, err := w.repo.SeedPulls(Bulk{Pulls: 1000, Comments: 20, Author: "me", Reviewer: "ann"})
	w.must(err)
	if first != 1 {
		t.Errorf("the first is %d", first)
	}
	for _, path := range []string{
		"/repos/acme/app/pulls?per_page=100", "/repos/acme/app/issues?state=all&sort=updated&direction=desc&per_page=100",
		"/repos/acme/app/issues/comments?sort=updated&direction=desc&per_page=100", "/repos/acme/app/pulls/comments?sort=updated&direction=desc&per_page=100",
	} {
		if list := get[[]object](w, "me", path); len(list) != 100 {
			t.Errorf("%s lists %d", path, len(list))
		}
	}
	for _, n := range []int{1, 500, 1000} {
		p := get[object](w, "me", fmt.Sprintf("/repos/acme/app/pulls/%d", n))
		if p["mergeable"] != true || p["comments"] != 10.0 || p["review_comments"] != 10.0 {
			t.Errorf("number %d: %v %v %v", n, p["mergeable"], p["comments"], p["review_comments"])
		}
	}
	if n := int(w.repo.git.ran.Load()); n > 30 {
		t.Errorf("all that took %d git commands", n)
	}
	dir, git := w.clone()
	if out, err := git("ls-remote", "--heads", "origin", "bulk/*"); err != nil || strings.Count(out, "refs/heads/bulk/") != 1000 {
		t.Errorf("git in %s sees %d branches: %v", dir, strings.Count(out, "refs/heads/bulk/"), err)
	}
}

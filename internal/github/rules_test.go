package github

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// rulesOf reads a branch's rules as the client's account sees them.
func rulesOf(t *testing.T, c *Client, repo work.RepoName, branch string) merging.Rules {
	t.Helper()
	rules, err := c.Rules(t.Context(), repo, branch)
	must(t, err)
	return withoutETags(rules) // TestRulesAreReadAgainOnlyIfTheyChanged is about these
}

// Rules that are read again cost one "not modified" for each request, for every kind of protection.
// After a change of the rules, of the branch or of the repository's name they are read completely.
func TestRulesAreReadAgainOnlyIfTheyChanged(t *testing.T) {
	w := newWorld(t)
	must(t, w.repo.CreateBranch("other", "main"))
	token, err := w.hub.AddUser("dave") // may not see the whole classic protection
	must(t, err)
	dave := w.newClient(t, token)
	answers := func(c *Client, branch string, was merging.Rules) (rules merging.Rules, answers string) {
		t.Helper()
		w.hub.ResetLog()
		rules, err := c.RulesAgain(t.Context(), w.name, branch, was)
		must(t, err)
		for _, r := range w.hub.Requests() {
			answers += fmt.Sprintf("%d ", r.Status)
		}
		return rules, strings.TrimSpace(answers)
	}
	for _, c := range []struct {
		what          string
		do            func()
		first, second string // answers to an administrator who read them before
		reader        string // to somebody else, if nothing changed
	}{
		{"no rules", func() {}, "200 200", "304 304", "304 304"},
		{"a ruleset", func() { w.repo.SetRuleset("a", "main", githubsim.Rules{Checks: []string{"lint"}}) }, "200 200 200", "304 304", "304 304"},
		{"a protection", func() { w.repo.ProtectBy("main", githubsim.Rules{Checks: []string{"build"}, Conversations: true}) }, "200 200 200 200", "304 304 304", "304 304"},
		{"a commit", func() {
			_, err := w.repo.PushCommit("main", "bob", map[string]string{"new": "x\n"}, "more")
			must(t, err)
		}, "200 200 200 200", "304 304 304", "304 304"},
		{"what only administrators see", func() { w.repo.ProtectBy("main", githubsim.Rules{Checks: []string{"build"}}) }, "304 200 200 200 200", "304 304 304", "304 304"},
		{"more rules than a page has", func() {
			for i := range 50 {
				w.repo.SetRuleset(fmt.Sprint("r", i), "main", githubsim.Rules{Checks: []string{fmt.Sprintf("check %02d", i)}})
			}
		}, "304 304 200 200 200 200 200", "200 200 200 200", "200 200 200 404"},
	} {
		var was, now merging.Rules
		if c.what != "no rules" {
			was, _ = answers(w.client, "main", merging.Rules{})
		}
		c.do()
		now, got := answers(w.client, "main", was)
		if want := rulesOf(t, w.client, w.name, "main"); !reflect.DeepEqual(withoutETags(now), want) || got != c.first {
			t.Errorf("%s: %s: %+v, want %s: %+v", c.what, got, now, c.first, want)
		}
		if again, got := answers(w.client, "main", now); !reflect.DeepEqual(again, now) || got != c.second {
			t.Errorf("%s, again: %s: %+v, want %s", c.what, got, again, c.second)
		}
		seen, _ := answers(dave, "main", merging.Rules{})
		if again, got := answers(dave, "main", seen); !reflect.DeepEqual(again, seen) || got != c.reader {
			t.Errorf("%s, by a reader: %s: %+v, want %s", c.what, got, again, c.reader)
		}
		if other, got := answers(w.client, "other", now); len(other.Checks) > 0 || got != "200 200" {
			t.Errorf("%s: another branch gets %s: %+v", c.what, got, other)
		}
	}
}

func withoutETags(r merging.Rules) merging.Rules {
	r.ETags = nil
	return r
}

func TestTheRulesOfABranch(t *testing.T) {
	w := newWorld(t)
	token, err := w.hub.AddUser("dave") // with read access
	must(t, err)
	dave := w.newClient(t, token)
	if got := rulesOf(t, w.client, w.name, "main"); !reflect.DeepEqual(got, merging.Rules{Known: true}) {
		t.Errorf("none: %+v", got)
	}
	w.repo.SetRuleset("a", "main", githubsim.Rules{Checks: []string{"lint", "build"}, Approvals: 1, Methods: []string{"squash", "rebase"}, Linear: true})
	w.repo.SetRuleset("b", "main", githubsim.Rules{Checks: []string{"build"}, Strict: true, Approvals: 2, LastPush: true, Conversations: true, Methods: []string{"merge", "squash"}, Queue: "squash"})
	w.repo.SetRuleset("c", "other", githubsim.Rules{Approvals: 6})
	want := merging.Rules{
		Known: true, Checks: []string{"build", "lint"}, Strict: true, Approvals: 2, LastPush: true, Threads: true,
		Methods: []merging.Method{merging.Squash}, Linear: true, Queue: true,
	}
	for name, c := range map[string]*Client{"an administrator": w.client, "a reader": dave} {
		if got := rulesOf(t, c, w.name, "main"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	w.repo.SetRuleset("d", "main", githubsim.Rules{Methods: []string{"merge"}})
	if got := rulesOf(t, w.client, w.name, "main").Methods; len(got) != 1 || got[0] == merging.Squash || got[0] == merging.MergeCommit {
		t.Errorf("no method in common: %q, and none stands for any", got)
	}
}

// A reader sees the checks of a classic protection, an administrator everything.
func TestTheRulesOfAClassicProtection(t *testing.T) {
	w := newWorld(t)
	token, err := w.hub.AddUser("dave")
	must(t, err)
	dave := w.newClient(t, token)
	w.repo.SetRuleset("a", "main", githubsim.Rules{Checks: []string{"unit"}, Approvals: 1})
	w.repo.ProtectBy("main", githubsim.Rules{Checks: []string{"build"}, Strict: true, Approvals: 2, LastPush: true, Conversations: true, Linear: true})
	want := merging.Rules{Known: true, Checks: []string{"build", "unit"}, Strict: true, Approvals: 2, LastPush: true, Threads: true, Linear: true}
	want.Methods = []merging.Method{merging.MergeCommit, merging.Squash, merging.Rebase}
	if got := rulesOf(t, w.client, w.name, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("an administrator: %+v, want %+v", got, want)
	}
	want = merging.Rules{Known: true, Checks: []string{"build", "unit"}, Approvals: 1, Methods: want.Methods}
	if got := rulesOf(t, dave, w.name, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("a reader: %+v, want %+v", got, want)
	}
	w.repo.ProtectBy("main", githubsim.Rules{Conversations: true})
	w.repo.SetRuleset("a", "main", githubsim.Rules{})
	if got := rulesOf(t, w.client, w.name, "main"); !got.Threads || len(got.Checks) != 0 {
		t.Errorf("without checks: %+v", got)
	}
}

func TestTheRulesOfABranchWithASlash(t *testing.T) {
	w := newWorld(t)
	must(t, w.repo.CreateBranch("release/1#2", "main"))
	w.repo.SetRuleset("a", "release/1#2", githubsim.Rules{Checks: []string{"build"}})
	w.repo.ProtectBy("release/1#2", githubsim.Rules{Checks: []string{"unit"}})
	if got := rulesOf(t, w.client, w.name, "release/1#2").Checks; !reflect.DeepEqual(got, []string{"build", "unit"}) {
		t.Errorf("checks %q", got)
	}
}

// Rules hidden by GitHub are unknown; any other failure is an error.
func TestRulesThatAreNotTold(t *testing.T) {
	w := newWorld(t)
	w.repo.ProtectBy("main", githubsim.Rules{Checks: []string{"build"}})
	for _, status := range []int{http.StatusNotFound, http.StatusForbidden} {
		w.hub.AddFault(githubsim.Fault{Path: "/repos/alice/app/rules/*", Status: status})
		if got := rulesOf(t, w.client, w.name, "main"); got.Known || !reflect.DeepEqual(got.Checks, []string{"build"}) {
			t.Errorf("%d: %+v", status, got)
		}
	}
	for _, path := range []string{"/repos/alice/app/branches/main", "/repos/alice/app/branches/main/protection"} {
		w.hub.AddFault(githubsim.Fault{Path: path, Status: http.StatusForbidden})
		if got := rulesOf(t, w.client, w.name, "main"); !got.Known {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, path := range []string{"/repos/alice/app/rules/*", "/repos/alice/app/branches/main", "/repos/alice/app/branches/main/protection"} {
		w.hub.AddFault(githubsim.Fault{Path: path, Status: http.StatusBadGateway})
		if _, err := w.client.Rules(t.Context(), w.name, "main"); !IsStatus(err, http.StatusBadGateway) {
			t.Errorf("%s: %v", path, err)
		}
	}
	w.hub.AddFault(githubsim.Secondary(time.Minute))
	var wait *work.WaitError
	if _, err := w.client.Rules(t.Context(), w.name, "main"); !errors.As(err, &wait) {
		t.Errorf("a limit: %v", err)
	}
}

func TestRulesOfOtherKinds(t *testing.T) {
	w := newWorld(t)
	w.hub.AddFault(githubsim.Fault{
		Path: "/repos/alice/app/rules/*", Status: http.StatusOK, Body: `[{"type":"deletion"},{"type":"workflows","parameters":{"workflows":[]}},
		{"type":"required_signatures"},{"type":"workflows"},{"type":"of another day","parameters":7},{"type":"pull_request"},
		{"type":"pull_request","parameters":{"required_approving_review_count":3,"required_reviewers":[],"automatic_copilot_code_review_enabled":false}}]`,
	})
	want := merging.Rules{Known: true, Approvals: 3, Other: []string{"of another day", "required_signatures", "workflows"}}
	if got := rulesOf(t, w.client, w.name, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, body := range []string{`{}`, `[{}]`, `[{"type":"pull_request","parameters":7}]`} {
		w.hub.AddFault(githubsim.Fault{Path: "/repos/alice/app/rules/*", Status: http.StatusOK, Body: body})
		if got, err := w.client.Rules(t.Context(), w.name, "main"); err == nil {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

// Each ruleset adds two rules, against deletion and force pushes: many of them exceed a page.
func TestRulesOfManyRulesets(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		w.repo.SetRuleset(fmt.Sprint("r", i), "main", githubsim.Rules{Checks: []string{fmt.Sprintf("check %02d", i)}})
	}
	w.repo.SetRuleset("last", "main", githubsim.Rules{Queue: "merge"})
	w.asked()
	got := rulesOf(t, w.client, w.name, "main")
	if len(got.Checks) != 40 || !got.Queue {
		t.Errorf("%+v", got)
	}
	if n := w.asked(); n != 3 {
		t.Errorf("%d requests: two pages and the branch", n)
	}
}

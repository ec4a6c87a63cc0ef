package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// mergingOf is the policy for a flow of a config with these lines in [repo.review], and
// more tables after it.
func mergingOf(t *testing.T, flow work.Flow, lines, more string) merging.Policy {
	t.Helper()
	c, err := parse(t, minimal+"[repo.review]\n"+lines+"\n"+more)
	if err != nil {
		t.Fatal(err)
	}
	return c.Repos[0].MergePolicy(flow)
}

// Nothing is merged unless the config says so.
func TestMergingIsOffByDefault(t *testing.T) {
	for _, lines := range []string{"", "auto_merge = false", "merge_method = \"squash\"\nrequire_human_approval = true", "enabled = false"} {
		for _, flow := range append(work.Flows(), work.FlowReview) {
			if p := mergingOf(t, flow, lines, ""); p.Auto || p.Freeze != "" || p.Match != nil {
				t.Errorf("%q, %s: %+v", lines, flow, p)
			}
		}
	}
}

// What nobody has to approve is not merged, and of others nothing.
func TestWhatMayBeMerged(t *testing.T) {
	designs := "[[repo.reviewers]]\nname = \"quinn\"\nflows = [\"design\", \"review\"]\n"
	nobody := "[[repo.reviewers]]\nname = \"quinn\"\nflows = []\n"
	for _, c := range []struct {
		lines, more string
		want        []work.Flow
	}{
		{"", "", []work.Flow{work.FlowBugfix, work.FlowSmallJob, work.FlowImplementation}},
		{"require_human_approval = true", "", []work.Flow{work.FlowBugfix, work.FlowSmallJob, work.FlowDesign, work.FlowImplementation, work.FlowRoadmap}},
		{"", designs, []work.Flow{work.FlowDesign}},
		{"", nobody, nil},
		{"require_human_approval = true", nobody, []work.Flow{work.FlowBugfix, work.FlowSmallJob, work.FlowDesign, work.FlowImplementation, work.FlowRoadmap}},
	} {
		for _, flow := range append(work.Flows(), work.FlowReview) {
			if p := mergingOf(t, flow, "auto_merge = true\n"+c.lines, c.more); p.Auto != slices.Contains(c.want, flow) {
				t.Errorf("%q %q: %s is merged: %v", c.lines, c.more, flow, p.Auto)
			}
		}
	}
}

func TestMergingUnlessTheConfigSaysOtherwise(t *testing.T) {
	p := mergingOf(t, work.FlowBugfix, "auto_merge = true", "")
	if !p.Auto || p.Method != "" || len(p.Required) > 0 || p.ChecksTimeout != time.Hour || len(p.Critical) > 0 || p.RequireHuman ||
		p.Approvers != nil || p.Freeze != "agent:freeze" {
		t.Errorf("%+v", p)
	}
}

func TestEverySettingOfMergingIsRead(t *testing.T) {
	lines := `auto_merge = true
require_human_approval = true
merge_method = "rebase"
required_checks = ["build / linux (1.22)", "test"]
critical_paths = ["db/**", "**/*.SQL"]
review_unread = ["**/*.PB.go"]`
	p := mergingOf(t, work.FlowBugfix, lines, "")
	if p.Method != merging.Rebase || !slices.Equal(p.Required, []string{"build / linux (1.22)", "test"}) ||
		!slices.Equal(p.Unread, []string{"**/*.PB.go"}) || !p.RequireHuman {
		t.Errorf("%+v", p)
	}
	for path, want := range map[string]bool{"db/a/b.go": true, "DB/a": true, "a/b.sql": true, "x.SQL": true, "a/db/x": false, "db": true, "dbx/a": false, "a.sqlx": false} {
		if got := slices.ContainsFunc(p.Critical, func(glob string) bool { return p.Match(glob, path) }); got != want {
			t.Errorf("%s is critical: %v", path, got)
		}
	}
	for _, method := range merging.Methods() {
		if got := mergingOf(t, work.FlowBugfix, "auto_merge = true\nmerge_method = \""+string(method)+`"`, "").Method; got != method {
			t.Errorf("%s is %q", method, got)
		}
	}
}

// GitHub counts approvals of accounts other than the author's.
func TestWhoGivesApprovalsThatGitHubCounts(t *testing.T) {
	agent, bot := "[[repo.reviewers]]\nname = \"quinn\"\n", "[[repo.reviewers]]\nname = \"sam\"\naccount = \"sam-bot\"\n"
	person := "[[repo.reviewers]]\nname = \"ann\"\nlogin = \"ann\"\nflows = [\"bugfix\"]\n"
	for _, c := range []struct {
		lines, more string
		want        int
	}{
		{"", "", 0},
		{"", agent, 0},
		{"", agent + bot, 1},
		{"", agent + person + bot, 2},
		{"", agent + strings.Replace(person, `"bugfix"`, `"design"`, 1), 0},
		{"", agent + bot + "flows = []\n", 0},
		{"require_human_approval = true", agent, 1},
	} {
		if got := mergingOf(t, work.FlowBugfix, "auto_merge = true\n"+c.lines, c.more).Approvers; len(got) != c.want {
			t.Errorf("%q %q: %q", c.lines, c.more, got)
		}
	}
}

func TestMistakesAboutMergingAreNamed(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"without reviews", "auto_merge = true\nenabled = false", `:8: auto_merge in [repo.review]: what nobody has reviewed is not merged, and enabled is false; write auto_merge = false, or enabled = true`},
		{"neither on nor off", `auto_merge = "yes"`, `:8: auto_merge in [repo.review]: want true or false, got text`},
		{"a method that is near", `merge_method = "sqash"`, `:8: merge_method in [repo.review]: want "squash", "merge" or "rebase", got "sqash"; did you mean "squash"?`},
		{"a method that is none", `merge_method = "fast-forward"`, `:8: merge_method in [repo.review]: want "squash", "merge" or "rebase", got "fast-forward"`},
		{"a method in capitals", `merge_method = "SQUASH"`, `want "squash", "merge" or "rebase", got "SQUASH"`},
		{"a check without a name", `required_checks = ["test", " "]`, `:8: required_checks in [repo.review]: " " is no check's name; write it as GitHub shows it below the pull request`},
		{"a check with a space", `required_checks = ["test "]`, `:8: required_checks in [repo.review]: "test " is no check's name`},
		{"a check that is no text", `required_checks = [1]`, `:8: required_checks in [repo.review]: entry 1: want "text", got a whole number`},
		{"checks that are no list", `required_checks = "test"`, `:8: required_checks in [repo.review]: want a list: ["text", …], got text`},
		{"a glob that is none", `critical_paths = ["db/**", "a[b"]`, `:8: critical_paths in [repo.review]: "a[b" is no pattern`},
		{"a glob of nothing", `critical_paths = [""]`, `:8: critical_paths in [repo.review]: "" is empty`},
		{"a glob from the root", `critical_paths = ["/db"]`, `:8: critical_paths in [repo.review]: "/db" matches nothing`},
		{"a folder", `critical_paths = ["db/"]`, `:8: critical_paths in [repo.review]: "db/" matches no file: write db/** for all`},
		{"a key that went", "watch_base = \"0s\"", `:8: watch_base in [repo.review]: there is no such key any more: what landed is compared once, when it is seen; remove it`},
		{"a key that is near", `auto_merg = true`, `:8: unknown key "auto_merg" in [repo.review]; did you mean "auto_merge"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(t, minimal+"[repo.review]\n"+c.lines+"\n")
			if err == nil {
				t.Fatal("accepted")
			}
			if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant one line with %s", got, c.want)
			}
		})
	}
}

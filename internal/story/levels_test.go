//go:build unix

package story

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// short are the stories that go test -short plays: the main way of each flow, and of each topic
// what is broken first. Of two that would show the same it is the one that takes less time.
var short = []string{
	"agent/does_nothing",
	"budget/spending_is_not_public",
	"checks/red_checks",
	"command/retry", "command/status",
	"config/no_login",
	"feedback/comments_while_the_agent_works",
	"flow/bugfix", "flow/closed_before_the_agent_is_asked",
	"flow/small_job",
	"merge/merges_what_was_approved",
	"notice/label_that_cannot_be_set",
	"pause/comment_about_a_question",
	"recovery/answer_worded_differently",
	"security/markers_of_strangers", "security/token_in_what_the_agent_makes",
	"status/reasons",
}

// telling are the stories that go test plays as well: of each topic the main way, if it is not among
// the short ones, and the failure that says most.
var telling = []string{
	"agent/fails_every_time", "agent/partial_work_is_kept",
	"budget/cost_of_an_item",
	"checks/required_tests_fail",
	"clock/ahead_while_an_answer_is_lost",
	"command/cancel_while_opening", "command/edited", "command/reaches_no_agent",
	"command/starts_over",
	"config/mistakes_are_named",
	"doctor/programs_and_logins",
	"feedback/approval_answered", "feedback/every_comment_is_answered", "feedback/issue_comment_is_redirected_once",
	"feedback/storm_of_edits",
	"flow/design", "flow/designs_wait_for_one_another",
	"git/protected_branch", "git/branch_rewritten_while_the_agent_works", "git/conflict_with_the_base", "git/unblock_accepts_the_head",
	"github/cannot_be_read", "github/list_without_the_lost_comment", "github/logged_out", "github/one_broken_pull_request",
	"ingest/more_issues_than_time",
	"machine/damaged_database", "machine/fault_burns_no_item",
	"merge/behind", "merge/comments_first", "merge/push_after_approval",
	"merge/queue", "merge/required_check", "merge/shown",
	"merge/stopped_is_told", "merge/two_passes_at_once",
	"metrics/file",
	"notice/goes_on_after_the_loss",
	"notify/killed_while_it_sends", "notify/question_opened_and_merged", "notify/what_needs_a_person",
	"pass/more_items_than_workers", "pass/one_plans_at_a_time",
	"pause/ends_the_agent", "pause/pause_and_resume",
	"prompt/bugfix_start", "prompt/design_start", "prompt/implementation_feedback",
	"recovery/mirror_lost_after_the_push", "recovery/database_lost_during_an_implementation", "recovery/issue_renamed_between_two_kills", "recovery/killed_then_pushed_on_top",
	"recovery/state_lost_after_the_push",
	"report/cost",
	"repository/renamed",
	"review/answer_lost", "review/changes_fixed_and_looked_at_again", "review/one_reviewer_approves",
	"review/own_change_instructs_nobody", "review/strangers_approval", "review/two_in_order",
	"roadmap/document", "roadmap/faults_are_not_merged", "roadmap/unfold",
	"sandbox/caches", "sandbox/required",
	"schedule/cron", "schedule/launchd", "schedule/systemd",
	"security/gates_before_the_push", "security/names_of_other_systems", "security/permission_lost_while_the_agent_works",
	"security/secrets_anywhere_in_a_change",
	"setup/from_nothing", "setup/refuses",
	"ship/errors_as_json",
	"status/dry_run", "status/same_in_every_view",
	"watch/logs", "watch/one_turn",
}

// insideToo are stories about the sandbox that show something only below a temporary folder. They play
// there as well.
var insideToo = []string{"sandbox/links_on_the_way", "sandbox/what_nobody_named"}

// played are the stories to be played: all, those of the lists, all others, or a single one that -run
// names.
func played(t *testing.T) []string {
	t.Helper()
	names := short
	named := namesAStory(flag.Lookup("test.run").Value.String())
	switch {
	case testhome.Rest() && !named:
		return others(t)
	case testhome.Long() || named:
		return scriptFiles(t)
	case !testing.Short():
		names = slices.Concat(short, telling)
	}
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = filepath.Join(scripts, filepath.FromSlash(name)+".txtar")
	}
	return files
}

// others are the stories that only MERGEXO_TEST plays.
func others(t *testing.T) []string {
	t.Helper()
	listed := slices.Concat(short, telling)
	return slices.DeleteFunc(scriptFiles(t), func(file string) bool { return slices.Contains(listed, storyName(file)) })
}

// namesAStory reports whether a pattern of -run is about stories, and not about all of them: such a
// command is to find each story.
func namesAStory(pattern string) bool {
	test, story, _ := strings.Cut(pattern, "/")
	return strings.Contains(test, "TestStories") && story != ""
}

// began is when the tests began.
var began = time.Now()

// late reports whether three quarters of go test's limit have passed. A story that begins later could run
// into the limit, which fails it and all that play beside it.
func late(t *testing.T, now time.Time) bool {
	deadline, limited := t.Deadline()
	return limited && now.Sub(began) > deadline.Sub(began)*3/4
}

func TestStoriesBeginInTime(t *testing.T) {
	deadline, limited := t.Deadline()
	if !limited {
		t.Skip("go test has no limit here")
	}
	if late(t, began) || !late(t, deadline.Add(-time.Second)) {
		t.Error("a story begins in the last second of go test's limit, or none does in the first")
	}
}

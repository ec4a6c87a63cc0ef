//go:build unix

package story

import (
	"path/filepath"
	"testing"
)

// short are the stories that go test -short plays: the main way of each flow, and of each topic
// what is broken first. Of two that would show the same it is the one that takes less time.
var short = []string{
	"agent/does_nothing", "agent/fails_every_time",
	"budget/spending_is_not_public",
	"checks/red_checks", "checks/required_tests_fail",
	"command/cancel_while_opening", "command/edited", "command/reaches_no_agent", "command/retry", "command/status",
	"config/no_login",
	"doctor/programs_and_logins",
	"feedback/approval_answered", "feedback/comments_while_the_agent_works", "feedback/issue_comment_is_redirected_once",
	"feedback/storm_of_edits",
	"flow/bugfix", "flow/closed_before_the_agent_is_asked", "flow/design", "flow/small_job",
	"git/conflict_with_the_base", "git/protected_branch", "git/unblock_accepts_the_head",
	"github/cannot_be_read", "github/list_without_the_lost_comment",
	"merge/behind", "merge/comments_first", "merge/merges_what_was_approved", "merge/shown", "merge/stopped_is_told",
	"metrics/file",
	"notice/label_that_cannot_be_set",
	"notify/killed_while_it_sends", "notify/question_opened_and_merged",
	"pass/more_items_than_workers",
	"pause/comment_about_a_question", "pause/pause_and_resume",
	"prompt/implementation_feedback",
	"report/cost",
	"recovery/answer_worded_differently", "recovery/issue_renamed_between_two_kills", "recovery/mirror_lost_after_the_push",
	"schedule/cron",
	"setup/from_nothing",
	"security/markers_of_strangers", "security/names_of_other_systems", "security/token_in_what_the_agent_makes",
	"status/dry_run", "status/reasons", "watch/one_turn", "watch/logs",
}

// played are the stories to be played: all, or the short ones.
func played(t *testing.T) []string {
	t.Helper()
	if !testing.Short() {
		return scriptFiles(t)
	}
	files := make([]string, len(short))
	for i, name := range short {
		files[i] = filepath.Join(scripts, filepath.FromSlash(name)+".txtar")
	}
	return files
}

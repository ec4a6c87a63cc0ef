//go:build unix

package story

import (
	"path/filepath"
	"testing"
)

// short are the stories that go test -short plays: the main way of each flow, and of each topic what is broken first.
var short = []string{
	"agent/claims_a_commit", "agent/fails_every_time",
	"budget/of_a_day",
	"checks/red_checks", "checks/required_tests_fail",
	"command/cancel_while_opening", "command/edited", "command/refused_once", "command/retry", "command/status",
	"config/no_login",
	"feedback/comments_while_the_agent_works", "feedback/each_comment_answered_once", "feedback/every_comment_is_answered",
	"feedback/issue_comment_is_redirected_once",
	"flow/bugfix", "flow/closed_before_the_agent_is_asked", "flow/design", "flow/small_job",
	"git/change_conflicts_with_a_push", "git/conflict_with_the_base", "git/unblock_accepts_the_head",
	"github/list_without_the_lost_comment", "github/unexpected_answer",
	"notice/label_that_cannot_be_set",
	"pass/more_items_than_workers", "pass/one_plans_at_a_time",
	"pause/comment_about_a_question", "pause/pause_and_resume", "pause/while_the_agent_runs",
	"prompt/implementation_feedback",
	"recovery/answer_worded_differently", "recovery/journal_answers_after_loss", "recovery/killed_between_two_effects",
	"security/gates_before_the_push", "security/markers_of_strangers",
	"security/token_in_what_the_agent_makes",
	"status/dry_run", "status/reasons",
}

// played are the stories to be played: all, or the short ones.
func played(t *testing.T) []string {
	t.Helper()
	if !testing.Short() {
		return scriptFiles(t)
	}
	return shortFiles()
}

func shortFiles() []string {
	var files []string
	for _, name := range short {
		files = append(files, filepath.Join(scripts, filepath.FromSlash(name)+".txtar"))
	}
	return files
}

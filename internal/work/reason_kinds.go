package work

// Why a work item is blocked: a person must act.
const (
	WhyQuestion          ReasonKind = "question"                   // the agent asks a person; Text
	WhyTestsFail         ReasonKind = "tests_fail"                 // the required tests fail after every repair; Text, Count
	WhyNothingChanged    ReasonKind = "nothing_changed"            // the agent finished without changing a file
	WhyChangeRefused     ReasonKind = "change_refused"             // the agent's change must not be pushed; Text, Advice
	WhyDocumentFaults    ReasonKind = "document_faults"            // the agent's change leaves faults in a document; Text
	WhyDesignFaults      ReasonKind = "design_faults"              // the front matter of a merged design has faults; Name (its path), Names (each with its line)
	WhyPushedFaults      ReasonKind = "pushed_faults"              // the document of an open pull request has faults; Number, Names (each with its line)
	WhyNewComments       ReasonKind = "new_issue_comments_pending" // people commented while the agent worked, so nothing was opened
	WhyIssueEdited       ReasonKind = "issue_edited"               // somebody without write permission edited the issue after the labelling; Text
	WhyFailed            ReasonKind = "failed"                     // every attempt failed; Count, Text, Local, Advice
	WhyLimitPassed       ReasonKind = "run_limit"                  // in every attempt the agent used too much memory or disk, or wrote too much; Count, Text, Advice
	WhyUnknown           ReasonKind = "unknown"                    // Local
	WhyPanic             ReasonKind = "internal_error"             // a fault of gh mergexo itself; Name (file:line), Local
	WhyNeverAnswered     ReasonKind = "never_answered"             // the agent never answered in the allowed number of starts; Count, Local
	WhyItemBudget        ReasonKind = "item_budget"                // a budget of the item is spent; Name, Used, Limit, Begun; Count: runs with unknown cost
	WhyTurnLimit         ReasonKind = "turn_limit"                 // the turn reached a limit; Name, Used, Limit; Count: ended runs
	WhyNoProgress        ReasonKind = "no_progress"                // several turns in a row fixed nothing; Count, Names
	WhyNotFixed          ReasonKind = "not_fixed"                  // one turn did not fix it; Names, Branch
	WhyFlakyTest         ReasonKind = "flaky_test"                 // we cannot rerun its checks; Name
	WhyStillRed          ReasonKind = "still_red"                  // the checks are red after a rerun; Commit
	WhyDependsMany       ReasonKind = "dependencies_too_many"      // Count: how many are taken
	WhyDependsMissing    ReasonKind = "dependency_missing"         // Name
	WhyDependsHidden     ReasonKind = "dependency_hidden"          // Name
	WhyDependsDropped    ReasonKind = "dependency_dropped"         // Name
	WhyDependsCircle     ReasonKind = "dependency_circle"          // Names
	WhyNoSubIssues       ReasonKind = "no_sub_issues"              // Name (the host): a roadmap cannot be unfolded there
	WhyRoadmapFaults     ReasonKind = "roadmap_faults"             // Names (each with its line)
	WhyRoadmapRefused    ReasonKind = "roadmap_refused"            // Text: which part, and why
	WhyRewritten         ReasonKind = "branch_rewritten"           // Branch, Commit, Head
	WhyBranchGone        ReasonKind = "branch_gone"                // Branch
	WhyBranchInTheWay    ReasonKind = "branch_in_the_way"          // Branch, Name
	WhyNoCheckout        ReasonKind = "checkout_impossible"        // Text, Advice
	WhyBranchUnknown     ReasonKind = "branch_unexpected"          // it exists on the remote; Branch
	WhyBaseGone          ReasonKind = "base_branch_gone"           // or it has no commit yet; Branch
	WhyPullInTheWay      ReasonKind = "pull_request_in_the_way"    // of an earlier start, or, with Branch, somebody else's for our branch; Number, Branch
	WhyPushRefused       ReasonKind = "push_refused"               // Text, Advice
	WhyNoGitAccess       ReasonKind = "git_access"                 // Text
	WhyGitHubRefused     ReasonKind = "github_refused"             // Text
	WhyNotSigned         ReasonKind = "commit_not_signed"          // Text
	WhyAuthorUnknown     ReasonKind = "commit_author_unknown"      // or who signs commits off
	WhyAgentMissing      ReasonKind = "agent_missing"              // its program is missing, relative or cannot be executed; Who, Name, Advice
	WhyShutOut           ReasonKind = "outside_sandbox"            // a program that the agent, its interpreter or the tests need; Who, Name, Text
	WhyAgentBroken       ReasonKind = "agent_does_not_start"       // its program does not even print its version, or it is too old; Who, Text (that version), Advice, Local
	WhyAgentUnable       ReasonKind = "agent_unable"               // its check before the first run failed; Who, Local
	WhyAgentNoTemp       ReasonKind = "agent_temporary_folder"     // its own config shuts the temporary folder; Who, Name (the setting), Local
	WhyAgentLimit        ReasonKind = "agent_limit"                // a limit set by the agent's config; Who, Local
	WhyAgentLoggedOut    ReasonKind = "agent_credentials"          // Who, Local, Advice
	WhyAgentNoCredit     ReasonKind = "agent_credit"               // Who, Local
	WhyAgentNoModel      ReasonKind = "agent_model"                // Who, Name, Local
	WhyAgentRejected     ReasonKind = "agent_request_refused"      // the provider refuses the request itself; Who, Name (its code), Text, Local, Advice
	WhyAgentDeclined     ReasonKind = "agent_declined"             // the model refused; Who, Local
	WhyTestsMissing      ReasonKind = "tests_missing"              // the program of the required tests; Name
	WhySandboxMissing    ReasonKind = "sandbox_missing"            // Name (the config's sandbox), Text, Advice
	WhyNotOnPath         ReasonKind = "interpreter_not_on_path"    // Who, Name, Local
	WhyAccountChanged    ReasonKind = "account_changed"            // Who, Number, Name (the earlier account), Text (the variable with the token)
	WhyAccountNoToken    ReasonKind = "account_token"              // Who, Text, Advice
	WhyAccountUnknown    ReasonKind = "account_unknown"            // Name (the host), Text (likewise)
	WhyOtherInstallation ReasonKind = "other_installation"         // Name, Text (which one), Who (its id)
	WhyRepoArchived      ReasonKind = "repository_archived"        // Name
	WhyRepoReadOnly      ReasonKind = "repository_read_only"       // Name, Text (likewise)
	WhyRepoMissing       ReasonKind = "repository_missing"         // or gone; Name
	WhyRepoTwice         ReasonKind = "repository_twice"           // Names (both names in the config), Name (the current one)
)

// Why the reviews of a pull request are stopped: a person must act.
const (
	WhyReviewCycles    ReasonKind = "review_cycles_exceeded" // max_fix_cycles is reached; Number, Count, Name (the reviewer)
	WhyReviewCircle    ReasonKind = "review_same_findings"   // Number, Name (the reviewer), Names (files)
	WhyReviewNotFixed  ReasonKind = "review_not_fixed"       // a fix changed nothing, or asks a person; Number, Name
	WhyReviewTakenBack ReasonKind = "review_taken_back"      // Number, Name
	WhyReviewFailed    ReasonKind = "review_failed"          // Number, Name, Text, Local, Advice
	WhyReviewerAccount ReasonKind = "reviewer_account"       // Name (the reviewer), Who (the account), Text, Advice
	WhyReviewSandbox   ReasonKind = "review_sandbox_missing" // somebody else's pull request; Text, Advice
)

// Why the reviews of a pull request wait.
const (
	WhyReviewDue      ReasonKind = "review_due"            // a turn is due; Name
	WhyReviewFixDue   ReasonKind = "review_fix_due"        // a turn is due; Name
	WhyReviewPerson   ReasonKind = "review_person"         // Who (empty: anybody with write permission), Name, Branch (the base, if a review was for other commits)
	WhyReviewAuthor   ReasonKind = "review_author"         // the author of somebody else's pull request must fix it; Name
	WhyReviewDraft    ReasonKind = "review_draft"          //
	WhyUntilGreen     ReasonKind = "draft_until_green"     // our own draft: it is marked as ready once checks and reviewing agents agree; At: until when it waits for checks to begin
	WhyReviewNoCI     ReasonKind = "review_ci_not_started" // its checks never started
	WhyReviewChecks   ReasonKind = "review_checks"         //
	WhyReviewComments ReasonKind = "review_comments"       // Count
	WhyReviewHeld     ReasonKind = "review_held"           // Who, At
	WhyReviewRelabel  ReasonKind = "review_relabel"        // Who
	WhyReviewApproved ReasonKind = "approved"              // Number
	WhyApprovalDue    ReasonKind = "approval_due"          // everybody approved, and a pass has to show that on GitHub
	WhyReviewPushed   ReasonKind = "review_pushed"         // pushed since it was approved; Number, Commit
)

// Why a pull request is not merged: a person must act.
const (
	WhyMergeNeverChecked ReasonKind = "merge_check_missing"     // a required check never reported; Names, At (how long we waited)
	WhyMergeChecksHidden ReasonKind = "merge_checks_hidden"     // the token may not see them; Names
	WhyMergeMethod       ReasonKind = "merge_method_refused"    // Name (the config's method), Names (allowed methods)
	WhyMergePermission   ReasonKind = "merge_permission"        // Name (our permission), Text
	WhyMergeHalf         ReasonKind = "merge_half"              // Commit (on the base), Branch
	WhyMergeRefused      ReasonKind = "merge_refused"           // Text
	WhyMergeQueueOut     ReasonKind = "merge_queue_removed"     // Names (checks), Text
	WhyMergeDiffers      ReasonKind = "merge_landed_other_tree" // Commit, Head, Text (the difference)
)

// Why a pull request is not merged yet.
const (
	WhyMergeDraft          ReasonKind = "merge_draft"             //
	WhyMergeConflicts      ReasonKind = "merge_conflicts"         // Branch; Text: the pull request, if no turn resolves them by itself
	WhyMergeUnknown        ReasonKind = "merge_mergeable_unknown" //
	WhyMergeBehind         ReasonKind = "merge_behind"            // Branch
	WhyMergeChecksRed      ReasonKind = "merge_checks_failed"     // Names; At: for how long, if no turn fixes them
	WhyMergeChecksMissing  ReasonKind = "merge_checks_missing"    // Names
	WhyMergeNoCI           ReasonKind = "merge_ci_not_started"    // Names
	WhyMergeChecksRun      ReasonKind = "merge_checks_pending"    // Names
	WhyMergeReviews        ReasonKind = "merge_approvals"         // Names (reviewers), Branch (the base, if an approval was for other commits)
	WhyMergeReviewRequired ReasonKind = "merge_review_required"   // by GitHub's rules; Count. A stop if no configured reviewer can give it
	WhyMergeChangesAsked   ReasonKind = "merge_changes_requested" // on GitHub; Names (logins)
	WhyMergeThreads        ReasonKind = "merge_conversations"     // Count
	WhyMergeComments       ReasonKind = "merge_comments"          // Count
	WhyMergeHeld           ReasonKind = "merge_held"              // Who, At
	WhyMergeNotAsked       ReasonKind = "merge_not_asked_for"     // Number (of the issue), Name (the label it lacks; empty: it is closed as not planned)
	WhyMergeFrozen         ReasonKind = "merge_frozen"            // Number (of the issue), Name (its label)
	WhyMergePerson         ReasonKind = "merge_person"            // Name (key of the config, agent_files, order_files or deletions), Names (paths), Count, Limit (lines or files), Branch (as above)
	WhyMergeNotReviewed    ReasonKind = "merge_not_all_reviewed"  // Names (paths), Count (of them), Branch (as above)
	WhyMergeQueued         ReasonKind = "merge_queued"            // Name (state), Count (position)
	WhyMergeLastPush       ReasonKind = "merge_last_push"         // as WhyMergeReviewRequired
	WhyMergeBlocked        ReasonKind = "merge_blocked"           // by a rule that GitHub does not show; Names
	WhyMergeHalted         ReasonKind = "merging_stopped"         // in the whole repository; Commit (that landed), Text, At
	WhyMergeTaken          ReasonKind = "merge_taken"             // GitHub merged or queued it, and it was not read since
	WhyMergeLater          ReasonKind = "merge_later"             // Text; GitHub refused it for the moment
	WhyMergeUnclear        ReasonKind = "merge_unclear"           // it was sent, and GitHub's answer is unclear
	WhyMergeBusy           ReasonKind = "merge_turn_first"        // Name (kind of the turn)
	WhyMergeNext           ReasonKind = "merge_after_another"     // Count (its number), Branch
	WhyMergeNotRead        ReasonKind = "merge_not_read"          // never, or not since it changed
	WhyMergeDue            ReasonKind = "merge_due"               // Name (the action, if it is no merge), Branch
)

// Why a work item or a request waits: it continues later, or in a later pass.
const (
	WhyGitHubLimit  ReasonKind = "github_limit"        // Text
	WhyNoAnswer     ReasonKind = "github_no_answer"    // or it does not show yet what was written; Text
	WhyLoginUnknown ReasonKind = "github_login"        //
	WhyDraftReview  ReasonKind = "draft_review"        // the operator has a draft review; Number
	WhyPace         ReasonKind = "comment_pace"        // Count, Text
	WhyDayBudget    ReasonKind = "day_budget"          // Name, Used, Limit, At; Count: runs with unknown cost
	WhyProvider     ReasonKind = "agent_provider"      // Who, Text, Name (its fallback)
	WhyNoConnection ReasonKind = "no_connection"       // Local
	WhyMachineFault ReasonKind = "machine_fault"       // of the machine that runs gh mergexo; Local
	WhyHeadNotShown ReasonKind = "head_not_visible"    // GitHub was asked since the push
	WhyHeadNotRead  ReasonKind = "head_not_read"       // no pass has read GitHub since the push; Commit
	WhyNotFound     ReasonKind = "not_found"           // the issue, or comments and reviews on it that are being answered; Number, Names (their ids); At: first seen missing
	WhyChecksRun    ReasonKind = "checks_running"      //
	WhyBranchMoves  ReasonKind = "branch_moving"       //
	WhyCommitLost   ReasonKind = "commit_lost"         // Text
	WhyRepoReplaced ReasonKind = "repository_replaced" // Name
	WhyCommandFirst ReasonKind = "command_first"       //
	WhyNotRead      ReasonKind = "not_read"            // a part of GitHub's answer could not be read; Local
	WhyHalted       ReasonKind = "everything_paused"   // everything on this machine; At, Text
	WhyPaused       ReasonKind = "paused"              // the item; Who, At
	WhyTriedAgain   ReasonKind = "tried_again"         // after a failure; Text, At
	WhyRunning      ReasonKind = "agent_running"       // Name (kind of turn), Number (slot)
	WhyInterrupted  ReasonKind = "interrupted"         // no pass works on the turn; Name
	WhyToBeSent     ReasonKind = "answer_to_send"      // the agent has answered; the answer, or the rest of it, must be sent
	WhyFreeSlot     ReasonKind = "free_slot"           // Name (kind of turn)
	WhyLaterPass    ReasonKind = "later_pass"          // Name (kind of turn), Count (turns that a pass begins)
	WhyToAnswer     ReasonKind = "to_answer"           // Count of events
	WhyPeople       ReasonKind = "people"              // people must act on a pull request; Number
	WhyReply        ReasonKind = "reply"               // people must reply on the issue
	WhyQuiet        ReasonKind = "quiet_period"        // At
	WhyDepends      ReasonKind = "dependency"          // Names

	// Of an issue below a roadmap; Name is the roadmap's issue.
	WhyRoadmapHeld     ReasonKind = "roadmap_held"     // Who and At: it is paused; else Text
	WhyRoadmapParallel ReasonKind = "roadmap_parallel" // Count (the limit), Names (issues under way)
	WhyRoadmapCost     ReasonKind = "roadmap_cost"     // Name (the budget), Used, Limit, Names (the roadmap's issue); Count: runs with unknown cost
	WhyRoadmapNobody   ReasonKind = "roadmap_nobody"   // Names (issues below it that are ready, and on which nobody works)
	WhyRoadmapReopened ReasonKind = "roadmap_reopened" // Names (issues below it that are merged and open, and that others wait for)

	// Of a merged roadmap.
	WhyRoadmapUnfolding ReasonKind = "roadmap_unfolding" // Text: how many of its issues are opened
	WhyRoadmapFollowed  ReasonKind = "roadmap_followed"  // Text: how many of its issues are closed
	WhyRoadmapChanges   ReasonKind = "roadmap_changes"   // Name: the roadmap; Text: what it is about to do with the issue
	WhyRoadmapStopped   ReasonKind = "roadmap_stopped"   // as WhyRoadmapChanges, of a roadmap that is stopped
	WhyRoadmapClosed    ReasonKind = "roadmap_closed"    // a person closed its issue
	WhyRoadmapCancelled ReasonKind = "roadmap_cancelled" // Text: cancelled or deleted

	WhyCollides     ReasonKind = "would_collide"
	WhyNoSlot       ReasonKind = "no_slot"
	WhyOtherAgent   ReasonKind = "other_agent"          // GitHub's own agent may fix the branch, so ours does not; Text
	WhyUnread       ReasonKind = "github_unread"        // a repository or pull request cannot be read; Name, Local, At
	WhyPullCloses   ReasonKind = "pull_request_closing" // Number (0: it is being opened first), Who
	WhyMerged       ReasonKind = "merged"               //
	WhyDesignMerged ReasonKind = "design_merged"        //
	WhyClosed       ReasonKind = "closed"               // Text: who cancelled it; Who: whose pause lasts
)

// isSpending reports whether a budget limits money or tokens. Its usage is not shown on GitHub.
func isSpending(budget string) bool {
	return budget == MaxCostPerItem || budget == MaxCostPerTurn || budget == MaxCostPerDay || budget == MaxCostOfRoadmap || budget == MaxTokensPerTurn
}

// The budgets, by their keys in the config.
const (
	MaxTurnsPerItem   = "max_turns_per_item"
	MaxFeedbackRounds = "max_feedback_rounds"
	MaxCostPerItem    = "max_cost_per_item_usd"
	MaxCostPerTurn    = "max_cost_per_turn_usd"
	MaxTokensPerTurn  = "max_tokens_per_turn"
	MaxTurnsPerDay    = "max_turns_per_day"
	MaxCostPerDay     = "max_cost_per_day_usd"
	MaxCostOfRoadmap  = "max_cost"
)

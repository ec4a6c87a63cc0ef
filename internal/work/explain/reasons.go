package explain

import (
	"github.com/mergexo/gh-mergexo/internal/work"
)

// row is one reason: who can end it, after which time a comment tells them, its text and what comes
// next. Texts are templates, see fill. A wait has a comment, a notification and a mark in status once
// it has lasted for that time; since when it lasts is stored, see work.Wait.
type row struct {
	kind  work.ReasonKind
	who   Who
	after After
	what  string
	next  next
	words func(work.Reason, Place, Words) Words // changes the text of the row, if it depends on more than the details
}

// Who is who can end a reason.
type Who string

// The values of Who.
const (
	Nobody   Who = "nobody"   // it ends by itself; if it lasts too long, something is wrong that the operator can look at
	People   Who = "people"   // on the issue or pull request
	Operator Who = "operator" // the person who runs gh mergexo or administers the repository
)

// After is when a comment on the issue or pull request tells a reason.
type After string

// The values of After.
const (
	Never       After = "" // the item needs nothing more
	AtOnce      After = "at once"
	Overdue     After = "after an hour"
	Reminded    After = "after a day"
	IfNobodyCan After = "at once if no configured reviewer can approve, else after a day"
)

// reasons is the complete table. A page of the docs is generated from it: go generate
// ./cmd/reference.
var reasons = []row{
	// Turns: agents, their answers and changes.
	{work.WhyQuestion, People, AtOnce, "the agent asks: {text}", answer("answer"), nil},
	{work.WhyTestsFail, People, AtOnce, "{text}, also after {count repair}", again, testsAdvice},
	{work.WhyNothingChanged, People, AtOnce, "the agent finished without changing a file", again, nil},
	{work.WhyChangeRefused, People, AtOnce, "the agent's change was refused: {text}", again, changeAdvice},
	{work.WhyDocumentFaults, People, AtOnce, "the agent's change was not pushed: {text}", mend, nil},
	{
		work.WhyDesignFaults, People, AtOnce, "the front matter of the design {name} has faults, so it is not known what its implementation depends on: {names}",
		startAnyway("merge a correction, or comment on the issue to start it without what the front matter says"), nil,
	},
	{
		work.WhyPushedFaults, People, Reminded, "people on {pull}: the document has faults there: {names}",
		step("push a correction, or comment there what is to change; if it is merged as it is, nothing of it is made"), nil,
	},
	{work.WhyNewComments, Nobody, Reminded, "the issue was commented on while the agent worked, so no pull request was opened", step("another turn reads the comments"), nil},
	{work.WhyIssueEdited, People, AtOnce, "{text}", relabel("read the issue"), nil},
	{work.WhyFailed, Operator, AtOnce, "the agent {text}, {count} times. Its output is in the log of the machine that runs gh mergexo|" +
		"it failed {count} times. The reason is in the log of the machine that runs gh mergexo, and in `gh mergexo show` there", again, failed},
	{work.WhyLimitPassed, Operator, AtOnce, "the agent {text}, {count} times", fix("{advice}"), failed},
	{work.WhyUnknown, People, AtOnce, "no reason given", again, nil},
	{
		work.WhyPanic, Operator, AtOnce, "gh mergexo has a fault at {name}. Its log, on the machine where it runs, has the details",
		fix("report the place and the log (`gh mergexo logs --level error`), and update gh mergexo"), nil,
	},
	{
		work.WhyNeverAnswered, Operator, AtOnce, "its agent was started {count} times and never answered: each time the pass was killed (signal, shutdown or out of memory)",
		fix("see that a pass may run as long as `turn_timeout` in the config (a `timeout` in cron ends it earlier)"), nil,
	},
	{work.WhyItemBudget, People, AtOnce, "{budget}", step("{over}; both reset its budgets. Or raise the limit in the config"), nil},
	{work.WhyTurnLimit, People, AtOnce, "{budget}", keepOn, turnLimit},
	{work.WhyDayBudget, Nobody, Reminded, "no turn starts before {stamp}: {budget}", nil, nil},
	{work.WhyNoProgress, People, AtOnce, "no progress: {count} turns in a row were to fix the same failing checks, and they fail again: {names}|" +
		"no progress: {count} turns in a row tried to fix its checks or conflicts, without success", sayWhatToDo, nil},
	{work.WhyNotFixed, People, AtOnce, "no progress: nothing was changed, and these checks still fail: {names}|" +
		"no progress: nothing was changed, and it still conflicts with {branch}", sayWhatToDo, nil},
	{work.WhyFlakyTest, People, AtOnce, "the test {name} looks flaky, and its checks cannot be run again from here", sayWhatToDo, nil},
	{
		work.WhyStillRed, People, AtOnce, "the checks of {commit} failed again, although their failed jobs were run again for a test that looked flaky",
		retried("", "fix the test, or say in a comment on the pull request what to do"), nil,
	},
	{work.WhyDependsMany, People, AtOnce, "depends_on of its design names more than {count} issues", oneOf(StartAnyway), nil},
	{work.WhyDependsMissing, People, AtOnce, "it depends on {name}, which does not exist or is not visible to this account", oneOf(Unlink, StartAnyway), nil},
	{
		work.WhyDependsHidden, People, AtOnce, "it depends on {name}, which GitHub does not show to this account",
		oneOf(GiveAccess, Unlink, StartAnyway), nil,
	},
	{work.WhyDependsDropped, People, AtOnce, "it depends on {name}, which was closed as not planned", oneOf(Reopen, Unlink, StartAnyway), nil},
	{
		work.WhyNoSubIssues, People, AtOnce, "{name} has no sub-issues, of which a roadmap is made (GitHub Enterprise Server has them from 3.17 on)",
		fix("upgrade the server, or cut it into issues yourself, with a label of another kind of work on each"), nil,
	},
	{
		work.WhyRoadmapFaults, People, AtOnce, "the roadmap's document has faults, so nothing more of it is made: {names}",
		oneOf(ChangeDocument, Replan), nil,
	},
	{
		work.WhyRoadmapRefused, People, AtOnce, "a part of the roadmap could not be made: {text}",
		oneOf(RetryRoadmap), nil,
	},
	{work.WhyDependsCircle, People, AtOnce, "its dependencies form a circle: {path}", oneOf(BreakCircle, StartAnyway), nil},

	// Branches, pull requests, pushes.
	{
		work.WhyRewritten, People, AtOnce, "the branch {branch} was rewritten: {commit} is no longer in its history",
		step("check the branch (its head is {head}), then {unblock} to continue from there; or push the old history back and comment. " +
			"Comments made until then are answered afterwards"), nil,
	},
	{
		work.WhyBranchGone, People, AtOnce, "the branch {branch} is gone from the remote",
		retried("", "restore the branch (GitHub offers it on the pull request, which it closed) and reopen the pull request, or leave it closed to end the work"), nil,
	},
	{work.WhyBranchInTheWay, People, AtOnce, "the repository has a branch named {name}, and git cannot have {branch} beside it", fix("rename or delete the branch {name}"), nil},
	{work.WhyNoCheckout, People, AtOnce, "the commit cannot be checked out: {text}", fix("{advice}"), nil},
	{work.WhyBranchUnknown, People, AtOnce, "the branch {branch} on the remote is not at the expected commit", again, nil},
	{
		work.WhyBaseGone, People, AtOnce, "the base branch {branch} does not exist on the remote, or has no commit",
		retried("restore it or push a first commit, or give the pull request another base", "comment"), nil,
	},
	{
		work.WhyPullInTheWay, People, AtOnce, "pull request #{number} for the branch {branch} exists already, and gh mergexo did not open it|pull request #{number} of an earlier start is open",
		fix("merge or close #{number}, and delete its branch"), nil,
	},
	{
		work.WhyPushRefused, Operator, AtOnce, "the push was refused: {text}",
		stepAfterFix("{advice}", "{retry}, and the same commit is pushed. Or say in a comment what to change"), nil,
	},
	{work.WhyNoGitAccess, Operator, AtOnce, "git has no access to the repository: {text}", retried("", "run `gh auth status` and `gh auth setup-git`, or set remote_url in the config"), nil},
	{work.WhyGitHubRefused, Operator, AtOnce, "GitHub refused: {text}", retried("", "check the account's permissions on the repository, and `gh auth status`"), nil},
	{work.WhyNotSigned, Operator, AtOnce, "{text}", fix("make signing work without a prompt, or set commit.gpgsign to false"), nil},
	{
		work.WhyAuthorUnknown, Operator, AtOnce, "git has no user.name and user.email for commits or their sign-off",
		fix("where gh mergexo runs, set both by `git config --global`; a sign-off can also be `sign_off = \"Name <mail>\"` under [repo.voice] in the config"), nil,
	},
	{work.WhyHeadNotRead, Nobody, Overdue, "{commit} is pushed, and no pass has read it yet", step("the next pass reads it"), nil},
	{work.WhyHeadNotShown, Nobody, Overdue, "GitHub does not show the newest commit yet", nil, nil},
	{
		work.WhyNotFound, Nobody, Reminded, "GitHub does not find {names} of #{number}, to which the turn answers|GitHub does not find issue #{number}",
		step("a pass asks again after a minute; what is still missing was deleted or transferred, and the work for it ends"), nil,
	},
	{work.WhyBranchMoves, Nobody, Reminded, "the branch keeps moving", nil, nil},
	{work.WhyCommitLost, Nobody, Reminded, "{text}", nil, nil},

	// The machine, its agents and its config.
	{work.WhyAgentMissing, Operator, AtOnce, `The program of agent "{who}", "{name}", cannot be started on the machine that runs gh mergexo.`, fix("{advice}"), nil},
	{work.WhyShutOut, Operator, AtOnce, `"{name}" cannot be started in the sandbox of agent "{who}"[[: {text}]]`, fix(letIn), nil},
	{
		work.WhyNotOnPath, Operator, AtOnce, `"{name}", which the program of agent "{who}" needs, is not on the PATH that gh mergexo was started with`,
		fix("add the folder of {name} to PATH (under cron: on a PATH line of the crontab) on the machine that runs gh mergexo"), nil,
	},
	{work.WhyAgentBroken, Operator, AtOnce, `The program of agent "{who}" is too old on the machine that runs gh mergexo: version {text}. No tokens were used.|` +
		`The program of agent "{who}" does not start on the machine that runs gh mergexo. No tokens were used.`, fix("{advice}"), nil},
	{
		work.WhyAgentUnable, Operator, AtOnce, `Agent "{who}" cannot work on the machine that runs gh mergexo: its program speaks another protocol, or nothing can run or be written in its sandbox. No tokens were used.`,
		fix("update the agent's program, or change sandbox or readable of [runtime] in the config (`gh mergexo doctor` there has the details)"), nil,
	},
	{
		work.WhyAgentNoTemp, Operator, AtOnce, `{name} in the settings of agent "{who}" keeps its commands from writing to the temporary folder. No tokens were used.`,
		fix("on the machine that runs gh mergexo, remove {name} from the program's own config, or override it: args = [\"-c\", \"sandbox_workspace_write.{name}=false\"] in [agents.{who}]"), nil,
	},
	{work.WhyAgentLimit, Operator, AtOnce, `Agent "{who}" reached a limit of its program.`, fix("raise it in the program's own settings or in args of [agents.{who}], or ask for less"), nil},
	{
		work.WhyAgentLoggedOut, Operator, AtOnce, `The provider of agent "{who}" refused its credentials.`,
		fix("{advice}, or name the variable that holds the key in env_pass of [agents.{who}], on the machine that runs gh mergexo"), nil,
	},
	{
		work.WhyAgentNoCredit, Operator, AtOnce, `The account of agent "{who}" has no credit left, or its plan does not include this.`,
		fix("add credit with the provider, or choose another account or agent ([agents.{who}] in the config of the machine that runs gh mergexo)"), nil,
	},
	{
		work.WhyAgentNoModel, Operator, AtOnce, `The provider of agent "{who}" does not offer the model "{name}" to this account.|` +
			`The provider of agent "{who}" does not offer the default model of its program to this account.`,
		fix("correct model of [agents.{who}] in the config of the machine that runs gh mergexo"), nil,
	},
	{
		work.WhyAgentRejected, Operator, AtOnce, "The provider of agent \"{who}\" refused the request[[ ({name})]]: `{text}`.",
		fix("{advice}"), nil,
	},
	{work.WhyAgentDeclined, People, AtOnce, `The model of agent "{who}" refused the task.`, rephrase, nil},
	{work.WhyProvider, Nobody, Reminded, `agent "{who}": {text}[[, until {since}]][[; agent "{name}" works in its place if it lasts]]`, nil, nil},
	{
		work.WhyTestsMissing, Operator, AtOnce, `the required tests cannot be started: their program "{name}" does not exist, or cannot be run`,
		fix("install it on the machine that runs gh mergexo, or correct required_tests in its config"), nil,
	},
	{
		work.WhySandboxMissing, Operator, AtOnce, `sandbox = "{name}" does not work on the machine that runs gh mergexo: {text}`,
		fix(`make it work there, or set sandbox = "auto" or "none" in its config`), sandboxRequired,
	},
	{
		work.WhyMachineFault, Operator, Reminded, "the machine that runs gh mergexo cannot write what a turn needs: no room, a read-only disk, or no permission",
		step("`gh mergexo doctor` there says what to fix"), wholly(""),
	},

	// Whole repositories.
	{
		work.WhyAccountChanged, Operator, Reminded, "{text} has the token of {who}, and earlier passes worked as {name}|gh is logged in as {who}, and earlier passes worked as {name}",
		stepAfterFix("unset {text}, or give it a token of that account; if another one is right now, name it in the config: account = \"LOGIN\" below a repository of that host|"+
			"log in as before with `gh auth login`, or name the account that is right in the config: account = \"LOGIN\" below a repository of that host", ""), nil,
	},
	{work.WhyAccountNoToken, Operator, Reminded, `the config names {who} as gh's account: {text}`, stepAfterFix("{advice}", ""), nil},
	{
		work.WhyAccountUnknown, Operator, Reminded, "GitHub does not name the account of the token with which gh is logged in to {name}",
		stepAfterFix("give {text} a token of an account that GitHub names; for an app, give its token more permissions, or run a pass later|"+
			"log in as an account that GitHub names: gh auth login; for an app, give its token more permissions, or run a pass later", ""), nil,
	},
	{
		work.WhyOtherInstallation, Operator, Reminded, "another installation of gh mergexo works in {name} under the same account: {text}",
		stepAfterFix("keep one of the two: `gh mergexo schedule remove --all` there, then `gh mergexo machines forget {who}` here; or have both use one PostgreSQL database: docs/fleet.md", ""), nil,
	},
	{work.WhyRepoArchived, Operator, Reminded, "{name} is archived", stepAfterFix("remove it from the config, or unarchive it", ""), nil},
	{work.WhyRepoReadOnly, Operator, Reminded, "the account that gh is logged in with may not push to {name}", stepAfterFix("ask for write permission, or give {text} a token of somebody who has it|ask for write permission, or log in as somebody who has it: gh auth login", ""), nil},
	{
		work.WhyRepoMissing, Operator, Reminded, "repository {name} does not exist, or the account that gh is logged in with cannot see it",
		stepAfterFix("check its name in the config, and `gh auth status`", ""), nil,
	},
	{work.WhyRepoTwice, Operator, Reminded, "{list} in the config are one repository, which is {name} now", stepAfterFix("take one of the two out of the config", ""), nil},
	{work.WhyRepoReplaced, Operator, Reminded, "{name} is now another repository", nil, nil},

	// GitHub and the way to it.
	{work.WhyGitHubLimit, Nobody, Reminded, "{text}", nil, nil},
	{work.WhyNoAnswer, Nobody, Reminded, "{text}", nil, nil},
	{work.WhyNoConnection, Nobody, Reminded, "no connection", nil, wholly("no connection: ")},
	{work.WhyNotRead, Nobody, Reminded, "a part of the conversation could not be read from GitHub", nil, nil},
	{work.WhyUnread, Nobody, Reminded, "GitHub: {name} cannot be read", askedAgain, wholly("GitHub: {name} cannot be read: ")},
	{work.WhyLoginUnknown, Operator, Reminded, "GitHub does not accept the login; run `gh auth status`", nil, nil},
	{work.WhyPace, Nobody, Reminded, "{count} comments in the last {text}; GitHub limits how many an account may write", nil, nil},
	{work.WhyDraftReview, People, Reminded, "your draft review on #{number} is open, and GitHub takes no replies until you submit or discard it", nil, nil},

	// Items without a problem.
	{work.WhyHalted, Operator, Reminded, "everything on this machine is paused[[ since {since}]][[ ({text})]]", step("`gh mergexo resume --all` ends the pause"), pauseEnd},
	{work.WhyPaused, People, Reminded, "paused by {who} since {second}", step("remove {ignore}, or {resume}"), nil},
	{work.WhyTriedAgain, Nobody, Reminded, "a new attempt (`gh mergexo show` says why, where it runs)", nil, wholly("")},
	{work.WhyRunning, Nobody, Reminded, "the agent: {turn} in slot {slot}", step("its answer is checked and sent"), nil},
	{work.WhyInterrupted, Nobody, Reminded, "a pass: no agent works now, and {turn} has no answer yet", step("the next pass resumes it"), nil},
	{work.WhyToBeSent, Nobody, Reminded, "a pass: the agent has answered", step("the answer is pushed and sent"), nil},
	{work.WhyFreeSlot, Nobody, Reminded, "a pass", step("{turn}"), nil},
	{work.WhyLaterPass, Nobody, Reminded, "a later pass, since this one begins at most {count turn}", step("{turn}"), nil},
	{work.WhyToAnswer, Nobody, Reminded, "a pass: {count event} to answer", step("a turn answers on GitHub"), nil},
	{work.WhyCommandFirst, Nobody, Reminded, "a command comes first", nil, nil},
	{work.WhyPeople, People, Reminded, "people on {pull}", step("comment, merge or close it"), nil},
	{work.WhyReply, People, Reminded, "an answer on the issue", step("the answer begins a turn"), nil},
	{work.WhyQuiet, Nobody, Reminded, "the quiet period after the last comment ends at {stamp}", step("a turn answers on GitHub"), nil},
	{work.WhyDepends, People, Reminded, "it depends on {list}", oneOf(CloseNeeds), nil},
	{
		work.WhyRoadmapHeld, People, Reminded, "its roadmap, {name}, is paused by {who} since {second}|its roadmap, {name}, is {text}",
		oneOf(EndHold, LeaveRoadmap), nil,
	},
	{
		work.WhyRoadmapParallel, Nobody, Reminded, "{count issue} of its roadmap, {name}, may be under way at a time, and {list} {have} begun",
		step("it begins when one of them is over; `parallel` in [repo.roadmap] is the limit"), nil,
	},
	{
		work.WhyRoadmapCost, Operator, Reminded, "no more of the roadmap {names} begins: {budget}",
		oneOf(RaiseCost, LeaveCost), nil,
	},
	{
		work.WhyRoadmapNobody, People, Reminded, "nobody works on {list}, although no issue blocks {them}",
		oneOf(SetLabel, ConfigureRepo, CloseNeglected), nil,
	},
	{
		work.WhyRoadmapReopened, People, Reminded, "{list}, which {are} merged and open again: other issues of the roadmap wait for {them}",
		oneOf(CloseAgain, UnlinkBehind), nil,
	},
	{work.WhyRoadmapChanges, Nobody, Reminded, "a pass in which its roadmap, {name}, {text}", step("the next passes do that; what stays open then begins"), nil},
	{work.WhyRoadmapStopped, People, Reminded, "its roadmap, {name}, which is stopped; before work here begins, the roadmap {text}", step("resolve the stop that {name} describes"), nil},
	{work.WhyRoadmapUnfolding, Nobody, Never, "the rest of the roadmap: {text} opened", step("the next passes open the rest, and set the labels"), nil},
	{work.WhyRoadmapFollowed, People, Never, "the issues of the roadmap: {text} closed", oneOf(CloseSubIssues, CancelRoadmap), nil},
	{work.WhyRoadmapClosed, People, Never, "its issue, which is closed: nothing of the roadmap begins", oneOf(ReopenOwnIssue, CancelRoadmap), nil},
	{work.WhyRoadmapCancelled, Nobody, Never, "the end of the roadmap, which was {text}", step("the issues on which no work has begun are closed as not planned"), nil},
	{work.WhyCollides, Nobody, Reminded, "it would collide with work in progress", step("it begins when that is over, or after a longer wait"), nil},
	{work.WhyNoSlot, Nobody, Reminded, "every slot is taken", step("a free slot"), nil},
	{
		work.WhyOtherAgent, People, AtOnce, "GitHub's own agent: {text}, and two agents do not fix one branch",
		step("unassign Copilot, or {resume}: then both agents fix it"), nil,
	},
	{work.WhyChecksRun, Nobody, Overdue, "checks are running", nil, nil},
	{work.WhyPullCloses, Nobody, Reminded, "pull request #{number} is being closed, as {who} said|the pull request is being opened; then it is closed, as {who} said", nil, nil},
	{work.WhyMerged, Nobody, Never, "", step("nothing"), nil},
	{work.WhyDesignMerged, Nobody, Never, "", step("its implementation is an item of its own"), nil},
	{
		work.WhyClosed, People, Never, "a pass: a command starts it over with the label `{names}`|{text}|pull request #{number} is closed, and its branch {branch} is deleted|",
		step("work begins once a pass has read the label `{names}`|nothing; [[restore the branch {branch}, then ]][[reopen #{number} to resume it, or ]][[reopen {name} and ]][[remove {ignore}, with which {who} paused it, and ]]set its label (where it is set, remove it first) to start over"), nil,
	},

	// Reviews that are stopped.
	{work.WhyReviewCycles, People, AtOnce, "PR #{number} exceeded max fix cycles ({count}) — requires human review", restartReviews, nil},
	{work.WhyReviewCircle, People, AtOnce, `reviewer "{name}" of PR #{number} asks after a fix for the same as before[[ ({names})]]`, restartReviews, nil},
	{work.WhyReviewNotFixed, People, AtOnce, `the author's agent could not do what reviewer "{name}" of PR #{number} asks for`, restartReviews, nil},
	{work.WhyReviewTakenBack, People, AtOnce, `the review of "{name}" of PR #{number} was dismissed, and no reviewer reviews the same commit twice`, stepAfterFix("push a commit", "{retry}"), nil},
	{work.WhyReviewFailed, Operator, AtOnce, `reviewer "{name}" of PR #{number} failed[[: {text}]]`, stepAfterFix("{advice}", "{retry}"), nil},
	{work.WhyReviewerAccount, Operator, AtOnce, `reviewer "{name}" cannot speak as {who}: {text}`, stepAfterFix("{advice}", "{retry}"), nil},
	{work.WhyReviewSandbox, Operator, AtOnce, "gh mergexo did not open this pull request, and reviews such code only in a sandbox that hides the machine's files: {text}", stepAfterFix("{advice}", "{retry}"), nil},

	// Reviews that wait.
	{work.WhyReviewDue, Nobody, Reminded, `a pass: reviewer "{name}" looks at it next`, step("the review is posted on the pull request"), nil},
	{work.WhyReviewFixDue, Nobody, Reminded, `a pass: what reviewer "{name}" asks for is fixed next`, step("the same reviewer looks again"), nil},
	{
		work.WhyReviewPerson, People, IfNobodyCan, "a review by {who}[[: its base `{branch}` was changed or rewritten since the last one]]|" +
			`reviewer "{name}", whose review does not count: {text}|a review by a person with write permission`,
		step("{who} reviews the pull request on GitHub, or comments `/mergexo approve` there|" +
			`give the reviewer "{name}" write permission, or name another one in the config; people with write permission can also merge the pull request|` +
			"a person with write permission reviews the pull request on GitHub, or comments `/mergexo approve` there"), nil,
	},
	{
		work.WhyReviewAuthor, People, Reminded, `its author: reviewer "{name}" requests changes`,
		step("a push is reviewed again; if its author has no write permission, once the label is removed and set again"), nil,
	},
	{work.WhyReviewDraft, People, Reminded, "a person: the pull request is a draft", step("mark it as ready for review"), nil},
	{work.WhyUntilGreen, Nobody, Overdue, "a pass: it is a draft until its checks are green and the reviewing agents approve[[; no check has begun: without any, until {stamp}]]", step("it is marked as ready for review then"), nil},
	{work.WhyReviewNoCI, People, Overdue, "CI did not start, and nobody reviews it before that", step("rerun it on GitHub: a reviewer looks at it once it is green"), nil},
	{work.WhyReviewChecks, Nobody, Overdue, "its checks, before anybody reviews it", step("a reviewer looks at it once they are green"), nil},
	{work.WhyReviewComments, Nobody, Reminded, "{count comment} to be answered, before anybody reviews it", step("a turn answers them, then a reviewer looks at it"), nil},
	{work.WhyReviewHeld, People, Reminded, "its reviews are held[[ by {who}]]", step("{resume}, or remove the label"), nil},
	{work.WhyReviewRelabel, People, Reminded, "the label: {who} may have pushed since it was set, and has no write permission|" +
		"the label: somebody without write permission may have pushed since it was set", step("read the new commits, then remove the label and add it again"), nil},
	{work.WhyReviewApproved, People, Reminded, "people on {pull}: every reviewer has approved it", step("merge it"), nil},
	{work.WhyApprovalDue, Nobody, Reminded, "a pass: every reviewer has approved it", step("its commit status becomes green, then it may be merged"), nil},
	{work.WhyReviewPushed, Nobody, Reminded, "its reviewers: {commit} was pushed since they approved it", step("the next pass has it reviewed"), nil},

	// Merges that are stopped.
	{
		work.WhyMergeNeverChecked, Operator, Overdue, "{checks} never reported on the head, for {waited} now",
		stepAfterFix("have it run, or take it out of the rules of the branch and out of required_checks", "{retry}, or wait: it is merged once that is green"), nil,
	},
	{
		work.WhyMergeChecksHidden, Operator, Overdue, "{checks} of required_checks cannot be seen with this token",
		stepAfterFix("give gh a token that may read checks, or take required_checks out of the config", "{retry}"), checksHidden,
	},
	{
		work.WhyMergeMethod, Operator, AtOnce, `merge_method is "{name}", which the repository or its rules do not allow|the repository and its rules allow no way to merge`,
		stepAfterFix("set an allowed one in the config: {names}|allow one in the settings of the repository", "{retry}"), nil,
	},
	{
		work.WhyMergePermission, Operator, AtOnce, "the account has {name} permission and may not merge[[: {text}]]|the account may not merge here[[: {text}]]",
		stepAfterFix("give it write permission (a fine-grained token: Contents, write), or merge it yourself", "{retry}"), nil,
	},
	{
		work.WhyMergeHalf, People, AtOnce, "it is half merged: {commit} is on `{branch}`, and GitHub shows the pull request as open",
		stepAfterFix("look at both, and close the pull request; to undo the change revert the commit as well, which leaves it in the branch's history: this head is never merged a second time",
			"{retry} once the commit is gone from the history"), nil,
	},
	{work.WhyMergeRefused, People, AtOnce, "GitHub refuses to merge it: {text}", stepAfterFix("see to that, or merge it yourself", "{retry}"), nil},
	{
		work.WhyMergeQueueOut, People, AtOnce, "it fell out of the merge queue, and the same head is queued only once[[; failed there: {names}]][[: {text}]]",
		stepAfterFix("push a commit, or queue it yourself", "{retry} to have it queued again"), nil,
	},
	{
		work.WhyMergeDiffers, Operator, AtOnce, "what landed as {commit} is not what was approved as {head}[[: {text}]]|{text}",
		stepAfterFix("look at what landed, and find out what GitHub or a queue did", "run {resume-merging}"), nil,
	},

	// Merges that wait.
	{work.WhyMergeDraft, People, Reminded, "it is a draft", step("mark it as ready for review"), nil},
	{work.WhyMergeConflicts, Nobody, Overdue, "it conflicts with `{branch}`", step("comment on {text}, and an agent merges the base into it; or do so yourself|a turn merges the base into it"), nil},
	{work.WhyMergeUnknown, Nobody, Overdue, "GitHub is finding out whether it can be merged", step("the next pass looks again"), nil},
	{work.WhyMergeBehind, Nobody, Overdue, "it is behind `{branch}`, and has to be up to date with it", step("its branch is brought up to date when it is the next one to be merged"), nil},
	{work.WhyMergeChecksRed, People, Overdue, "{checks} failed", step("it is merged once they are green"), checksOverdue},
	{work.WhyMergeChecksMissing, Nobody, Overdue, "{checks} did not report yet", step("it is merged once they are green"), nil},
	{work.WhyMergeNoCI, People, Overdue, "CI did not start: {names}|CI did not start", step("rerun it on GitHub: it may be merged once that is green"), nil},
	{work.WhyMergeChecksRun, Nobody, Overdue, "{checks} {have} not finished yet", step("it is merged once they are green"), nil},
	{work.WhyMergeReviews, People, Reminded, "not approved at this head by {names}[[: its base `{branch}` was changed or rewritten since it was approved]]|its reviewers have not all approved this head", step("they review it"), nil},
	{
		work.WhyMergeReviewRequired, People, IfNobodyCan, "the rules of the branch require {approvals} on GitHub[[; {names} {lack} write permission, so GitHub counts no approval of theirs]]",
		step("somebody with write permission who is not its author approves it on GitHub; a reviewer with an account of its own can"), nil,
	},
	{
		work.WhyMergeChangesAsked, People, Reminded, "{names} requested changes on GitHub|a review requested changes on GitHub",
		step("{names} approves, or the review is dismissed there|its author approves, or the review is dismissed there"), nil,
	},
	{work.WhyMergeThreads, People, Reminded, "the rules of the branch require resolved conversations, and {count} {is} open", step("resolve them on the pull request"), nil},
	{work.WhyMergeComments, Nobody, Reminded, "{count comment} of people to be answered", step("a turn answers them"), nil},
	{work.WhyMergeHeld, People, Reminded, "it is held[[ by {who}]]", step("{resume}, or remove the label"), nil},
	{
		work.WhyMergeNotAsked, People, Reminded, "issue {pull} does not have the label `{name}` any more|issue {pull} is closed as not planned",
		step("set the label `{name}` again, or close the pull request|reopen the issue, or close the pull request"), nil,
	},
	{work.WhyMergeFrozen, People, Reminded, "nothing is merged while issue {pull} is open (label `{name}`)", step("close that issue, or remove its label"), nil},
	{
		work.WhyMergePerson, People, Reminded, "a person has to approve this head (require_human_approval)",
		step("approve it on GitHub as somebody with write permission who is not its author, or {merge}"), personNeeded,
	},
	{
		work.WhyMergeNotReviewed, People, Reminded, "a reviewer that approved was not shown {count file} of this head whole: {names}[[; its base `{branch}` was changed or rewritten since it was approved]]",
		step("read these files and approve it on GitHub as somebody with write permission who is not its author, or {merge}; `review_unread` in the config names files that nobody needs to read"), nil,
	},
	{work.WhyMergeQueued, Nobody, Overdue, "it is in the merge queue[[ at position {position}]][[ ({spaced})]]", step("GitHub merges it when its turn comes, unless somebody takes it out of the queue there"), nil},
	{work.WhyMergeLastPush, People, IfNobodyCan, "the rules of the branch require an approval by somebody other than the last pusher[[; {names} {lack} write permission, so GitHub counts no approval of theirs]]", step("somebody else approves it on GitHub"), nil},
	{
		work.WhyMergeBlocked, Operator, Overdue, "GitHub reports that a rule of the branch blocks it: {names}|GitHub reports that a rule of the branch blocks it, and shows that rule to administrators only",
		step("look at the pull request on GitHub as an administrator"), nil,
	},
	{
		work.WhyMergeHalted, Operator, Reminded, "merging is stopped in this repository[[: what landed as {commit} is not what was approved]][[: {text}]]",
		step("look at what landed, then {resume-merging}"), nil,
	},
	{work.WhyMergeTaken, Nobody, Overdue, "GitHub accepted the merge", step("the next pass reads the result"), nil},
	{work.WhyMergeLater, Nobody, Overdue, "GitHub does not merge it at the moment[[: {text}]]", step("a later pass tries again"), nil},
	{work.WhyMergeUnclear, Nobody, Overdue, "GitHub's answer to its merge never arrived", step("the pull request and its base are looked at before anything is sent again"), nil},
	{work.WhyMergeBusy, Nobody, Reminded, "{turn} comes first", step("once that has ended, it is merged if its head is approved"), nil},
	{work.WhyMergeNext, Nobody, Reminded, "{first} is merged into `{branch}` first", step("it is judged again after that"), nil},
	{work.WhyMergeNotRead, Nobody, Overdue, "GitHub's merge box was not read since it changed", step("the next pass reads it"), nil},
	{work.WhyMergeDue, Nobody, Overdue, "a pass merges it", step("all gates are open"), dueToQueue},
}

const letIn = "name its folder in readable of [runtime] in the config (`gh mergexo doctor --sandbox {who}` lists what is let in)"

package work

// OutcomeShelved is for events that wait until a person says more.
const OutcomeShelved = "blocked"

// Outcomes of events. A void event is obsolete: its subject was merged, closed or removed.
const (
	OutcomeAnswered   = "answered"
	OutcomeRedirected = "redirected"
	OutcomeVoid       = "void: "
	OutcomeResolved   = "ignored: its thread is resolved" // until the thread is reopened
)

// ReasonGone ends a turn whose comments were all deleted or resolved while it ran.
const ReasonGone = "what it was to answer is gone"

// OutcomeNoCommander is for commands by people without the permission to give them.
const OutcomeNoCommander = "ignored: command by an author without write permission"

// OutcomeNoLabeller is for labels that start nothing because of who set them.
const OutcomeNoLabeller = "ignored: label set by somebody without triage permission"

// OutcomeOwnEdited is for our own comments that a person edited.
const OutcomeOwnEdited = "ignored: our own, edited by a person"

// OutcomeOwn is for our own comments.
const OutcomeOwn = "ignored: our own"

// OutcomeOthers is for comments of another installation, under its own account. Only installations
// end a comment with our marker. Two that answered each other would never stop.
const OutcomeOthers = "ignored: another installation's"

// OutcomeTheirs is for comments on somebody else's pull request: people talk to each other there.
const OutcomeTheirs = "ignored: on somebody else's pull request"

// OutcomeNoPermission is for comments by people without write permission.
const OutcomeNoPermission = "ignored: author without write permission"

// OutcomeVerdict is for a configured reviewer's comments in a verdict that requests changes. The
// fix answers them.
const OutcomeVerdict = "a reviewer's verdict"

// OutcomePaused is for comments made while the item was paused.
const OutcomePaused = "ignored: paused"

// OutcomeTakenOver is for comments by a login that the config names, but whose account is not the
// first one seen with that login.
const OutcomeTakenOver = "ignored: another account than the one that allowed_users names"

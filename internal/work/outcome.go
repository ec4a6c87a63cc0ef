package work

// OutcomeShelved is that of events which people must say more about.
const OutcomeShelved = "blocked"

// Outcomes of events. A void one was overtaken: what it was said about was
// merged, closed or taken back.
const (
	OutcomeAnswered   = "answered"
	OutcomeRedirected = "redirected"
	OutcomeVoid       = "void: "
	OutcomeResolved   = "ignored: its thread is resolved" // until somebody reopens the thread
)

// ReasonGone ends a turn whose comments were all deleted or resolved by then.
const ReasonGone = "what it was to answer is gone"

// OutcomeNoCommander is that of commands by people who may give none.
const OutcomeNoCommander = "ignored: command by an author without write permission"

// OutcomeNoLabeller is that of labels that begin nothing, for who set them.
const OutcomeNoLabeller = "ignored: label set by somebody without triage permission"

// OutcomeOwnEdited is that of what we wrote and somebody edited.
const OutcomeOwnEdited = "ignored: our own, edited by a person"

// OutcomeOwn is that of what we wrote ourselves.
const OutcomeOwn = "ignored: our own"

// OutcomeOthers is that of what another installation wrote, under its own account:
// two that answer each other would never end. Nobody else ends with our marker.
const OutcomeOthers = "ignored: another installation's"

// OutcomeTheirs is that of what people say on somebody else's pull request: they talk to
// each other.
const OutcomeTheirs = "ignored: on somebody else's pull request"

// OutcomeNoPermission is that of what people say who may not write.
const OutcomeNoPermission = "ignored: author without write permission"

// OutcomeVerdict is that of what a reviewer of the config's said with a verdict that asks
// for changes: the fix of that answers it.
const OutcomeVerdict = "a reviewer's verdict"

// OutcomePaused is that of what was said while people had taken the item over.
const OutcomePaused = "ignored: paused"

// OutcomeTakenOver is that of what somebody wrote whose login the config names, and
// who is not the account that it was seen to be first.
const OutcomeTakenOver = "ignored: another account than the one that allowed_users names"

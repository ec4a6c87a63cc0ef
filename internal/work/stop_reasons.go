package work

import "fmt"

// ConfirmHint says how people confirm an issue that was edited after its label was set.
func ConfirmHint(item Item) string {
	return fmt.Sprintf("read the issue, then take the label %s away and add it again", item.Label)
}

// AwaitsLabel reports whether a hint is ConfirmHint's: nothing but the label set
// again lets the item resume.
func AwaitsLabel(item Item, hint string) bool { return hint == ConfirmHint(item) }

// StartOver is the way on where comments on the issue are not acted on.
const StartOver = "comment `/mergexo retry`, or take the label away and set it again"

// LostReason says that a branch was rewritten. It names no head, which moves
// while the branch waits: it is one stop.
func LostReason(branch, lost string) string {
	return fmt.Sprintf("the branch %s was rewritten: %s is not in its history any more", branch, Short(lost))
}

// LostHint says what to do about a branch that was rewritten. It names the head, and follows it.
func LostHint(head string) string {
	return fmt.Sprintf("look at what the branch is now (its head is %s), then comment `/mergexo unblock` to have the work resume from there; "+
		"or push the old history back and comment. Comments made until then are answered then", Short(head))
}

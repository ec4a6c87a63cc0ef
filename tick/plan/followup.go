package plan

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// standsStill reports whether the item waits for a person.
func (r *itemPlanner) standsStill() bool {
	return r.item.State == work.StateBlocked || r.item.State == work.StateAwaitingIssueFollowup
}

// unheard are the comments on the issue that no turn was fed.
func (r *itemPlanner) unheard() []work.Event {
	return slices.DeleteFunc(slices.Clone(r.item.Events), func(e work.Event) bool {
		if e.Kind != work.EventSource {
			return true
		}
		if r.item.Followup != nil {
			return r.item.fed(e)
		}
		return !e.SeenAt.After(r.item.Since)
	})
}

// whyStill says what an item without a turn waits for.
func (r *itemPlanner) whyStill(unheard []work.Event) string {
	why := string(r.item.State) + ": " + r.item.Reason
	if len(unheard) > 0 {
		why = fmt.Sprintf("%s, and enable_issue_comment_routing is false; %s", work.Count(len(unheard), "comment"), why)
	}
	return why
}

package plan

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// pendingIssueComments returns the comments on the issue that no turn was given.
func (r *itemPlanner) pendingIssueComments() []work.Event {
	return known.Without(r.item.Events, func(e work.Event) bool {
		if e.Kind != work.EventSource {
			return true
		}
		if r.item.Followup != nil {
			return r.item.SeenByTurn(e)
		}
		return !e.SeenAt.After(r.item.Since)
	})
}

// waitForPerson plans the wait of a stopped item without a turn.
func (r *itemPlanner) waitForPerson(unheard []work.Event) {
	if len(unheard) == 0 {
		r.waitBlocked("", r.item.Reason)
		return
	}
	off := work.Reason{Kind: work.WhyIssueOff, Count: len(unheard)}
	r.waitFor("", explain.What(off, r.v.Here(r.item))+"; "+r.blockedBy(r.item.Reason), off, r.item.Reason)
}

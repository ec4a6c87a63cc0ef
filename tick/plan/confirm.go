package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// unconfirmed stops an item whose issue was edited since its labelling. It is
// no comment that lets it go on: nobody would have said that they read it.
func (r *itemPlanner) unconfirmed() bool {
	switch {
	case r.item.Edited == "":
		return false
	case r.item.State == work.StateBlocked && r.item.Reason == r.item.Edited:
		r.line("wait", "", "blocked: "+r.item.Reason)
	default:
		r.stop(r.item.Edited, work.ConfirmHint(r.item.Item))
	}
	return true
}

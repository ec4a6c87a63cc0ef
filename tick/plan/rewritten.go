package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// rewritten keeps an item waiting whose branch was rewritten. Its hint names the
// head, and follows it.
func (r *itemPlanner) rewritten() {
	reason, hint := work.LostReason(r.item.Pull.Branch, r.item.Pull.LostOID), work.LostHint(r.item.Pull.HeadOID)
	if r.item.State == work.StateBlocked && r.item.Reason == reason && r.item.Hint != hint {
		r.p.Moves = append(r.p.Moves, work.Move{Item: r.item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: reason, Hint: hint})
	}
	r.stop(reason, hint)
}

package plan

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/rewritten"
)

// accept stores an acceptance with the plan, and counts on it for the rest of
// the plan.
func (r *itemPlanner) accept(a rewritten.Acceptance) {
	r.p.Accepted = append(r.p.Accepted, a)
	r.item.Pull.AcceptedOID = a.Head
	r.line("resume", "", "a person accepted the head "+work.Short(a.Head))
}

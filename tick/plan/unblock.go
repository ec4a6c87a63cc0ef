package plan

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/change"
)

// accept plans an acceptance of the head and applies it to the rest of the plan.
func (r *itemPlanner) accept(a explain.Acceptance) {
	r.p.add(change.AcceptHead{Acceptance: a, Words: r.words("resume", "", "a person accepted the head "+work.Short(a.Head))})
	r.item.Pull.AcceptedOID = a.Head
}

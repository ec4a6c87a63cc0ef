package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// rewritten keeps an item waiting whose branch was rewritten. Its reason names the
// head, and follows it.
func (r *itemPlanner) rewritten() {
	pull := r.item.Pull
	r.stop(work.Reason{Kind: work.WhyRewritten, Branch: pull.Branch, Commit: pull.LostOID, Head: pull.HeadOID})
}

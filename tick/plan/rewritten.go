package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// rewritten stops an item whose branch was rewritten. The reason names the head and is updated with
// it.
func (r *itemPlanner) rewritten() {
	pull := r.item.Pull
	r.stop(work.Reason{Kind: work.WhyRewritten, Branch: pull.Branch, Commit: pull.LostOID, Head: pull.HeadOID})
}

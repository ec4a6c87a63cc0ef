package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// unconfirmed stops an item whose issue was edited since its labelling. It is
// no comment that lets it resume: nobody would have said that they read it.
func (r *itemPlanner) unconfirmed() bool {
	if r.item.Edited == "" {
		return false
	}
	r.stop(work.Reason{Kind: work.WhyIssueEdited, Text: r.item.Edited})
	return true
}

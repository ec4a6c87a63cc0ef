package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// unconfirmed stops an item whose issue was edited since its labelling. Comments do not resume it:
// none says that somebody has read the new text.
func (r *itemPlanner) unconfirmed() bool {
	if r.item.Edited == "" {
		return false
	}
	r.stop(work.Reason{Kind: work.WhyIssueEdited, Text: r.item.Edited})
	return true
}

package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// paused says that nothing is begun for an item that people have taken over.
// What was said before waits; a turn that has begun its effects ends.
func (r *itemPlanner) paused() bool {
	if r.item.Pause == nil {
		return false
	}
	r.line("wait", "", work.PausedReason(*r.item.Pause)+"; to resume: "+work.PausedHint(r.v.Policy.Labels.Ignore))
	return true
}

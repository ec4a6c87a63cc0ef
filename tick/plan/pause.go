package plan

import "github.com/mergexo/gh-mergexo/internal/work"

// paused says that nothing is begun for an item that people have taken over.
// What was said before waits; a turn that has begun its effects ends.
func (r *itemPlanner) paused() bool {
	pause, ok := r.v.Paused[r.item.ID]
	if ok {
		r.line("wait", "", work.PausedReason(pause)+"; to resume: "+work.PausedHint(r.v.Policy.Labels.Ignore))
	}
	return ok
}

package plan

import "github.com/mergexo/gh-mergexo/internal/work/explain"

// paused says that nothing is begun for an item that people have paused.
// What was said before waits; a turn that has begun its effects ends.
func (r *itemPlanner) paused() bool {
	if r.item.Pause == nil {
		return false
	}
	why := r.item.Pause.Reason()
	w := explain.Reason(why, r.v.Here(r.item))
	r.waitFor("", w.What+"; to resume: "+w.Next(), why)
	return true
}

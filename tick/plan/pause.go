package plan

import "github.com/mergexo/gh-mergexo/internal/work/explain"

// paused reports whether the item is paused. Its events wait; a turn after its first effect runs to
// its end.
func (r *itemPlanner) paused() bool {
	if r.item.Pause == nil {
		return false
	}
	why := r.item.Pause.Reason()
	w := explain.Reason(why, r.v.Here(r.item))
	r.waitFor("", w.What+"; to resume: "+w.Next(), why)
	return true
}

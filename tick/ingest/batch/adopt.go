package batch

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// DropHalf leaves what was found again only in part as if it had not been: a work
// item without its pull request would begin anew.
func (h *Batch) DropHalf() {
	for number, issue := range h.Adopted {
		if _, read := h.PullRows[number]; read {
			continue
		}
		delete(h.Adopted, number)
		delete(h.Open, number)
		delete(h.Lights, number)
		delete(h.Walks, WalkAdopted)
		h.Forgotten[number] = true
		if h.Items[issue].ID != 0 {
			continue
		}
		delete(h.Items, issue)
		delete(h.Promoted, issue)
		h.Forgotten[issue], h.Backlog[issue] = true, true
	}
	gone := func(n int) bool { return h.Forgotten[n] }
	h.ListedComments = slices.DeleteFunc(h.ListedComments, func(c github.Comment) bool { return gone(c.Number) })
	h.ReviewComments = slices.DeleteFunc(h.ReviewComments, func(c github.ReviewComment) bool { return gone(c.Pull) })
	h.Events = slices.DeleteFunc(h.Events, func(c Candidate) bool { return gone(c.Event.Number) })
}

// Heed remembers which events a body of ours names as answered.
func (h *Batch) Heed(body string) {
	marks, _ := work.ParseMarks(body)
	for _, key := range marks.Handled {
		h.Handled[key] = true
	}
}

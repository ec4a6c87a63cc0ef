package batch

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// FoundHalf reports whether a pull request, or that of an issue, was found again and its
// details were not read.
func FoundHalf(h *Batch, number int) bool {
	for pull, issue := range h.Adopted {
		if _, read := h.PullRows[pull]; !read && (pull == number || issue == number) {
			return true
		}
	}
	return false
}

// DropHalf leaves what was found again only in part as if it had not been: a work
// item without its pull request would begin again.
func (h *Batch) DropHalf() {
	for number, issue := range h.Adopted {
		if _, read := h.PullRows[number]; read {
			continue
		}
		delete(h.Adopted, number)
		h.Open.Drop(number)
		delete(h.Lights, number)
		h.Forgotten[number], h.Backlog[number] = true, true
		if h.Items[issue].ID != 0 {
			continue
		}
		delete(h.Items, issue)
		delete(h.Promoted, issue)
		h.Forgotten[issue], h.Backlog[issue] = true, true
	}
	gone := func(n int) bool { return h.Forgotten[n] }
	holdLeft(h)
	h.Deferred = slices.DeleteFunc(h.Deferred, func(d Deferral) bool { return d.Pull.ID == 0 && gone(d.Pull.Number) })
	h.ListedComments = slices.DeleteFunc(h.ListedComments, func(c github.Comment) bool { return gone(c.Number) })
	h.ReviewComments = slices.DeleteFunc(h.ReviewComments, func(c github.ReviewComment) bool { return gone(c.Pull) })
	h.Events = slices.DeleteFunc(h.Events, func(c Inbound) bool { return gone(c.Event.Number) })
}

// holdLeft has the lists show again what they show of pull requests that an earlier slice
// left: those that are tracked, open or not, for what is found again is read whole.
func holdLeft(h *Batch) {
	left := func(n int) bool { return h.LeftTracked[n] && h.Forgotten[n] }
	for _, c := range h.ListedComments {
		if left(c.Number) {
			h.Hold(WalkComments, &h.Repo.CommentsSince, h.R.Row.CommentsSince, c.UpdatedAt)
		}
	}
	for _, c := range h.ReviewComments {
		if left(c.Pull) {
			h.Hold(WalkReviewComments, &h.Repo.ReviewCommentsSince, h.R.Row.ReviewCommentsSince, c.UpdatedAt)
		}
	}
}

// NoteHandled remembers which events a body of ours names as answered.
func (h *Batch) NoteHandled(body string) {
	marks, _ := work.ParseMarks(body)
	for _, key := range marks.Handled {
		h.Handled[key] = true
	}
}

// People knows what people may do.
type People struct {
	*Batch
	answers map[int64]answer // about people, as far as the database was asked for them
}

// answer is what GitHub last said about somebody, and when; never: zero.
type answer struct {
	level string
	at    time.Time
}

// Promotion makes an implementation of a merged design. It is stored together
// with the sight of the merge, so that there is one, whatever dies.
type Promotion struct {
	Design   work.Item // its id is 0 while the design was found again and has no row yet
	Item     work.Item // without id until it is stored
	Trigger  work.Event
	Fulfills bool // the document says that it is implemented: nothing is made
}

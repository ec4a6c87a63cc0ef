package batch

import (
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Reviews is what was read of the reviews of one pull request.
type Reviews struct {
	Verdicts []Verdict
	Hold     *HoldLabel // what its timeline says of the label that holds reviews; nil: it was not read
	Fixed    []string   // keys of what commits of its branch name as done, where it was found again
	Found    bool       // the database may lack what our own writing says

	ForPeople bool // it was found again with the label that only people review it
}

// Verdict is one that GitHub shows, with what came with it.
type Verdict struct {
	review.Verdict
	Findings  []review.Finding
	Resolved  []string // earlier findings, by id
	Dismissed bool
}

// HoldLabel is whether the label that holds reviews is set, who set it or took it away,
// and when.
type HoldLabel struct {
	On bool
	By string
	At time.Time
}

// OwnWords is what our own comments on a pull request say of its reviews, for a pass
// whose database is gone.
type OwnWords struct {
	Epoch     int              // how often people had them begin again
	Approvals []review.Verdict // by commands, which the comments answer
	Merge     []merging.Word   // that a head may be merged, by commands
}

// NoteOwn remembers what a body of ours says: which events it names as answered, and what
// it says of reviews.
func (h *Batch) NoteOwn(e work.Event) {
	h.NoteHandled(e.Body)
	marks, _ := work.ParseMarks(e.Body)
	words := h.OwnWords[e.Number]
	if n, err := strconv.Atoi(marks.Epoch); err == nil {
		words.Epoch = max(words.Epoch, n)
	}
	if e.Kind == work.EventIssue {
		words.answers(marks, e.CreatedAt)
	}
	h.OwnWords[e.Number] = words
}

// answers takes over what the answers to commands say.
func (w *OwnWords) answers(marks work.Marks, at time.Time) {
	v, _, _, approves := review.ParseMark(marks.Review)
	for _, key := range marks.Handled {
		given, ok := work.EventOfKey(key)
		id := command.CommentOf(given)
		if !ok || id == 0 {
			continue
		}
		if approves {
			v.CommentID, v.Human, v.At = id, true, at
			w.Approvals = append(w.Approvals, v)
		}
		if marks.Merge != "" {
			w.Merge = append(w.Merge, merging.Word{Head: marks.Merge, CommentID: id, At: at})
		}
	}
}

// ReviewsOf is what was read of the reviews of a pull request.
func (h *Batch) ReviewsOf(number int) *Reviews {
	if h.Reviews[number] == nil {
		h.Reviews[number] = &Reviews{}
	}
	return h.Reviews[number]
}

package batch

import (
	"maps"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/adoption"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/outcome"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A repository is read in slices, so that a pass needs memory for one of them and not for
// all that is new. Each is judged and stored in one transaction, together with the
// cursors and ETags that vouch for what is in it, and for nothing else. A pass that is
// killed after some of them, or has no more time, has stored what a pass stores that
// read as much and no more: the next one resumes there. What makes that so:
//
//   - what stands together is in one slice: a new issue with all that was said on it, a
//     pull request with the events that its details show, what is found again with both
//   - issues come first, then pull requests, then what people wrote: a pause is known
//     before anything is judged by it, and who has the work before it is read what they say
//   - whether a pause lasts only the last of the comments tells, for one of them may resume
//     the work. What was said in it until then waits, see comments.JudgePaused
//   - what is not taken in holds its list back for the next pass, not this one, see Hold

// Slice is what was read and is not stored yet.
type Slice struct {
	History        adoption.History // what was read of many at once
	ListedComments []github.Comment
	ReviewComments []github.ReviewComment

	Items    map[int]work.Item        // changed or new, by issue number
	PullRows map[int]work.PullRequest // changed, by number
	Threads  map[int][]work.Thread    // of the pulls whose details were read
	Events   []Inbound
	Again    []work.Event // known ones that were read once more

	Validators   []work.Validator            // of what is no list
	Pages        map[string][]work.Validator // of the pages that were read, by walk
	stale        map[string]time.Time        // walks whose "since" moved, and to where: validators before it go
	Walks        map[string]string           // cut walks: name to where they continue
	Backlog      map[int]bool                // numbers that were listed: true while they are not taken in
	Labels       []string                    // now seen
	Deferred     []Deferral
	Removals     []work.Action
	Declined     []work.Action        // words to people whose commands or labels do not count
	Adopted      map[int]int          // pull requests found again: number to issue
	Commands     []work.Event         // new ones that are to be carried out
	Missed       []missed             // comments of ours that are not there any more
	Revoked      []work.Event         // waiting ones whose authors may give none any more
	Handled      map[string]bool      // event keys that our own writing names as answered
	Journals     []env.Journal        // turns found again
	Promoted     map[int]*Promotion   // merged designs, by issue
	Taken        map[int]env.Takeover // what timelines show of pauses, by number
	Pauses       map[int][]work.Pause // stored ones, by number, as far as they were asked for
	Paused       []int64              // events that waited for the end of a pause, and were in it
	Owed         bool                 // some event is stored that waits for that
	Submitted    map[int64]time.Time  // reviews, by id
	ReviewStates map[int64]string     // of reviews, by id
	Reviews      map[int]*Reviews     // what was read of them, by the pull request's number
	OwnWords     map[int]OwnWords     // what our own writing says of them, by the pull request's number
	Dependencies []store.Dependency   // looked at
	LabelHeads   map[int]string       // heads for which the label of somebody else's pull request stands, by number
	Ends         map[int]outcome.End  // of pull requests that were merged or closed, by number
	Lost         map[int]string       // what branches that were moved lack, by number; see detectRewrite
}

func newSlice() Slice {
	return Slice{
		Items: map[int]work.Item{}, PullRows: map[int]work.PullRequest{}, Threads: map[int][]work.Thread{},
		Pages: map[string][]work.Validator{}, stale: map[string]time.Time{}, Walks: map[string]string{}, Backlog: map[int]bool{},
		Adopted: map[int]int{}, Handled: map[string]bool{}, Promoted: map[int]*Promotion{}, Taken: map[int]env.Takeover{}, Pauses: map[int][]work.Pause{},
		Submitted: map[int64]time.Time{}, ReviewStates: map[int64]string{}, Reviews: map[int]*Reviews{}, OwnWords: map[int]OwnWords{},
		LabelHeads: map[int]string{}, Ends: map[int]outcome.End{}, Lost: map[int]string{},
	}
}

// How much one slice takes in, until it is full. What stands together may be more.
const (
	fullEvents = 200
	fullPulls  = 50
	fullFound  = 10 // whose details have to come with them
)

// Full reports whether the slice has enough.
func (h *Batch) Full() bool {
	return len(h.Events)+len(h.ListedComments)+len(h.ReviewComments) >= fullEvents || len(h.PullRows) >= fullPulls || len(h.Adopted) >= fullFound
}

// Next begins another slice once the last one is stored.
func (h *Batch) Next() {
	h.Open.stored(h.PullRows)
	maps.DeleteFunc(h.Known.Pages, func(url string, _ work.Validator) bool { return isStale(url, h.stale) })
	for _, pages := range h.Pages {
		for _, v := range pages {
			h.Known.Pages[v.URL] = v
		}
	}
	h.Known.Labels = append(h.Known.Labels, h.Labels...)
	maps.Copy(h.answered, h.Handled)
	h.Slice = newSlice()
}

// Answered reports whether our own writing names an event as answered.
func (h *Batch) Answered(key string) bool { return h.Handled[key] || h.answered[key] }

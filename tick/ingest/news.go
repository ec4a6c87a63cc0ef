package ingest

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// What is new of one issue or pull request is one value: it is stored whole or not at all.
// To leave an issue or a pull request as it was is to drop the value.

// issueNews is all that is new of one issue; its comments only if its work begins, or was
// found again.
type issueNews struct {
	item   work.Item // changed or new; without a number: neither
	events []candidate
}

// pullNews is all that is new of one pull request.
type pullNews struct {
	read      bool // its details were, or it was found again and has ended
	row       work.PullRequest
	threads   []work.Thread // nil: they were not read
	events    []candidate   // its details', and its conversation if that was read whole
	reviews   pullReviews
	promotion *promotion    // of the design that was merged with it
	end       *work.PullEnd // it was merged or closed
	lost      *string       // what its branch lacks since it was moved, see detectRewrite
	labelHead string        // the head for which the label of somebody else's pull request stands
}

func (n *pullNews) add(c candidate) {
	c.event = command.AsCommand(c.event)
	n.events = append(n.events, c)
}

// newsOf is what is new of a pull request, so far nothing if it is met for the first time.
func (h *reading) newsOf(pull int) *pullNews {
	if h.pulls[pull] == nil {
		h.pulls[pull] = &pullNews{}
	}
	return h.pulls[pull]
}

// readPull is what is new of a pull request whose details this slice read.
func (h *reading) readPull(pull int) (*pullNews, bool) {
	n := h.pulls[pull]
	return n, n != nil && n.read
}

// countRead is how many pull requests this slice read.
func (h *reading) countRead() int {
	read := 0
	for _, n := range h.pulls {
		if n.read {
			read++
		}
	}
	return read
}

// promotionOf is the promotion of an issue's design; nil if there is none.
func (h *reading) promotionOf(issue int) *promotion {
	for _, n := range h.pulls {
		if n.promotion != nil && n.promotion.design.Number == issue {
			return n.promotion
		}
	}
	return nil
}

// putItem notes that an issue's work item changed or is new.
func (h *reading) putItem(item work.Item) {
	n := h.issues[item.Number]
	n.item = item
	h.issues[item.Number] = n
}

// changedItem is a work item that changed or is new, by the number of its issue.
func (h *reading) changedItem(issue int) (work.Item, bool) {
	item := h.issues[issue].item
	return item, item.Number != 0
}

// addToIssue notes an event of an issue.
func (h *reading) addToIssue(issue int, c candidate) {
	c.event = command.AsCommand(c.event)
	n := h.issues[issue]
	n.events = append(n.events, c)
	h.issues[issue] = n
}

// add notes an event that a list shows.
func (h *reading) add(c candidate) {
	c.event = command.AsCommand(c.event)
	h.events = append(h.events, c)
}

// noteIssueTalk takes in all that was said on an issue. If this pass had left the issue, it
// is not left any more: nothing else brings what was said there.
func (h *reading) noteIssueTalk(item work.Item, talk []github.Comment) {
	delete(h.forgotten, item.Number)
	for _, c := range talk {
		h.addToIssue(item.Number, commentEvent(work.EventSource, item.ID, c))
	}
}

// notePullTalk does the same for a pull request.
func (h *reading) notePullTalk(pull work.PullRequest, talk []github.Comment) {
	delete(h.forgotten, pull.Number)
	n := h.newsOf(pull.Number)
	for _, c := range talk {
		n.add(commentEvent(work.EventIssue, pull.ItemID, c))
	}
}

// gatherEvents puts the events of all issues and pull requests with those of the lists,
// to be judged together.
func (h *reading) gatherEvents() {
	for _, n := range sortedKeys(h.issues) {
		if !h.forgotten[n] {
			h.events = append(h.events, h.issues[n].events...)
		}
	}
	for _, n := range sortedKeys(h.pulls) {
		if !h.forgotten[n] {
			h.events = append(h.events, h.pulls[n].events...)
		}
	}
}

// How much one slice takes in, until it is full. What belongs together may be more.
const (
	fullEvents = 200
	fullPulls  = 50
	fullFound  = 10 // whose details have to come with them
)

// full reports whether the slice has enough.
func (h *reading) full() bool {
	events := len(h.events) + len(h.listedComments) + len(h.reviewComments)
	for _, n := range h.issues {
		events += len(n.events)
	}
	for _, n := range h.pulls {
		events += len(n.events)
	}
	return events >= fullEvents || h.countRead() >= fullPulls || len(h.adopted) >= fullFound
}

// forget leaves the pull request of a candidate as it was, snapshot and events alike. A new
// issue waits for all that was said on it, or its work would begin without; one that was
// found again waits with its pull request. They are read again in the next pass.
func (h *reading) forget(c candidate) {
	h.holdBack(c)
	n := c.event.Number
	item, ok := h.changedItem(n)
	switch {
	case c.pull:
		h.forgetPull(n)
	case ok && item.ID == 0 && item.State == work.StatePending:
		h.forgetIssue(n)
	case ok && item.ID == 0:
		for pull, issue := range h.adopted {
			if issue == n {
				h.forgetPull(pull)
			}
		}
	}
}

func (h *reading) forgetPull(number int) {
	h.forgotten[number] = true
	if _, found := h.adopted[number]; !found {
		h.leftTracked[number] = true
	}
	delete(h.pulls, number)
}

func (h *reading) forgetIssue(number int) {
	h.forgotten[number], h.backlog[number] = true, true
	delete(h.issues, number)
}

// foundHalf reports whether a pull request, or that of an issue, was found again and its
// details were not read.
func (h *reading) foundHalf(number int) bool {
	for pull, issue := range h.adopted {
		if _, read := h.readPull(pull); !read && (pull == number || issue == number) {
			return true
		}
	}
	return false
}

// dropHalf leaves what was found again only in part as if it had not been: a work item
// without its pull request would begin again. What the lists show of what is left is not
// taken in.
func (h *reading) dropHalf() {
	for number, issue := range h.adopted {
		if _, read := h.readPull(number); read {
			continue
		}
		delete(h.adopted, number)
		delete(h.pulls, number)
		h.openPulls.drop(number)
		delete(h.lights, number)
		h.forgotten[number], h.backlog[number] = true, true
		if h.issues[issue].item.ID == 0 {
			h.forgetIssue(issue)
		}
	}
	gone := func(n int) bool { return h.forgotten[n] }
	h.holdLeft()
	h.deferred = slices.DeleteFunc(h.deferred, func(d deferredPull) bool { return d.pull.ID == 0 && gone(d.pull.Number) })
	h.listedComments = slices.DeleteFunc(h.listedComments, func(c github.Comment) bool { return gone(c.Number) })
	h.reviewComments = slices.DeleteFunc(h.reviewComments, func(c github.ReviewComment) bool { return gone(c.Pull) })
	h.events = slices.DeleteFunc(h.events, func(c candidate) bool { return gone(c.event.Number) })
}

// holdLeft has the lists show again what they show of tracked pull requests that an earlier
// slice left. What is found again is read whole.
func (h *reading) holdLeft() {
	left := func(n int) bool { return h.leftTracked[n] && h.forgotten[n] }
	for _, c := range h.listedComments {
		if left(c.Number) {
			h.lists.comments.hold(c.UpdatedAt)
		}
	}
	for _, c := range h.reviewComments {
		if left(c.Pull) {
			h.lists.reviews.hold(c.UpdatedAt)
		}
	}
}

package ingest

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The news of one issue or pull request is one value: it is stored whole or not at all. Dropping
// the value leaves the stored issue or pull request unchanged.

// issueNews is the news of one issue. It has the comments only if work begins or the issue was
// adopted.
type issueNews struct {
	item   work.Item // changed or new; its number is 0 if neither
	events []candidate
}

// pullNews is the news of one pull request.
type pullNews struct {
	read      bool // its details were read, or it was adopted after its end
	row       work.PullRequest
	threads   []work.Thread // nil: not read
	fewer     bool          // threads lacks some that are stored
	events    []candidate   // of its details, and of its conversation if that was read whole
	reviews   pullReviews
	promotion *promotion      // of the design that was merged with it
	end       *work.PullEnd   // set if it was merged or closed
	lost      *string         // the commit that its branch lost in a rewrite; "" if restored; see detectRewrite
	labelHead string          // the head that the label of somebody else's pull request covers
	proposed  []work.Proposal // follow-ups that its description lists
}

func (n *pullNews) add(c candidate) {
	c.event = work.AsCommand(c.event)
	n.events = append(n.events, c)
}

// newsOf returns the news of a pull request, empty at first.
func (h *reading) newsOf(pull int) *pullNews {
	if h.pulls[pull] == nil {
		h.pulls[pull] = &pullNews{}
	}
	return h.pulls[pull]
}

// readPull returns the news of a pull request. It reports false unless this slice read its details.
func (h *reading) readPull(pull int) (*pullNews, bool) {
	n := h.pulls[pull]
	return n, n != nil && n.read
}

// countRead returns how many pull requests this slice read.
func (h *reading) countRead() int {
	read := 0
	for _, n := range h.pulls {
		if n.read {
			read++
		}
	}
	return read
}

func (h *reading) putItem(item work.Item) {
	n := h.issues[item.Number]
	n.item = item
	h.issues[item.Number] = n
}

// changedItem returns the changed or new work item of an issue.
func (h *reading) changedItem(issue int) (work.Item, bool) {
	item := h.issues[issue].item
	return item, item.Number != 0
}

// addToIssue adds an event to an issue's news.
func (h *reading) addToIssue(issue int, c candidate) {
	c.event = work.AsCommand(c.event)
	n := h.issues[issue]
	n.events = append(n.events, c)
	h.issues[issue] = n
}

// add adds an event that a list shows.
func (h *reading) add(c candidate) {
	c.event = work.AsCommand(c.event)
	h.events = append(h.events, c)
}

// noteIssueTalk ingests an issue's whole conversation. An issue that this pass had left is ingested
// after all: nothing else brings its comments.
func (h *reading) noteIssueTalk(item work.Item, talk []github.Comment) {
	delete(h.forgotten, item.Number)
	for _, c := range talk {
		h.addToIssue(item.Number, commentEvent(work.EventSource, item.ID, c))
	}
}

// notePullTalk is noteIssueTalk for a pull request.
func (h *reading) notePullTalk(pull work.PullRequest, talk []github.Comment) {
	delete(h.forgotten, pull.Number)
	n := h.newsOf(pull.Number)
	for _, c := range talk {
		n.add(commentEvent(work.EventIssue, pull.ItemID, c))
	}
}

// gatherEvents adds the events of all issues and pull requests to those of the lists, so that they
// are judged together.
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

// How much fills one slice. What belongs together may exceed it.
const (
	fullEvents = 200
	fullPulls  = 50
	fullFound  = 10 // adopted ones, which need their details in the same slice
)

func (h *reading) full() bool {
	events := len(h.events) + len(h.comments)
	for _, n := range h.issues {
		events += len(n.events)
	}
	for _, n := range h.pulls {
		events += len(n.events)
	}
	return events >= fullEvents || h.countRead() >= fullPulls || len(h.adopted) >= fullFound
}

// forget drops the news of a candidate's pull request, snapshot and events. It also drops a new
// issue, whose work would begin without the comment, and an adopted issue with its pull request. The
// next pass reads them again.
func (h *reading) forget(c candidate) {
	h.deferCandidate(c)
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

// dropUnreadAdoptions undoes adoptions without details: a work item without its pull request would
// begin again. Events that the lists show of these are dropped, too.
func (h *reading) dropUnreadAdoptions() {
	for number, issue := range h.adopted {
		if _, read := h.readPull(number); read {
			continue
		}
		if err := h.unanswered[h.openPulls.light[number].NodeID]; err != nil {
			h.tellUnread(fmt.Errorf("adopt #%d: %w", number, err))
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
	h.deferLeft()
	h.deferred = slices.DeleteFunc(h.deferred, func(d deferredPull) bool { return d.pull.ID == 0 && gone(d.pull.Number) })
	h.comments = slices.DeleteFunc(h.comments, func(c listedItem) bool { return gone(c.number) })
	h.events = slices.DeleteFunc(h.events, func(c candidate) bool { return gone(c.event.Number) })
}

// deferLeft holds the lists back at comments on tracked pull requests that an earlier slice left.
// Adopted ones are read whole instead.
func (h *reading) deferLeft() {
	for _, c := range h.comments {
		if h.leftTracked[c.number] && h.forgotten[c.number] {
			c.list.hold(c.changed)
		}
	}
}

package ingest

import (
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

// add adds an event that a list or a conversation shows.
func (h *reading) add(c candidate) {
	c.event = work.AsCommand(c.event)
	h.events = append(h.events, c)
}

// noteIssueTalk ingests an issue's whole conversation.
func (h *reading) noteIssueTalk(item work.Item, talk []github.Comment) {
	for _, c := range talk {
		h.addToIssue(item.Number, commentEvent(work.EventSource, item.ID, c))
	}
}

// notePullTalk is noteIssueTalk for a pull request.
func (h *reading) notePullTalk(pull work.PullRequest, talk []github.Comment) {
	n := h.newsOf(pull.Number)
	for _, c := range talk {
		n.add(commentEvent(work.EventIssue, pull.ItemID, c))
	}
}

// gatherEvents adds what the reads of issues and pull requests show to what people said, so that all
// is judged together.
func (h *reading) gatherEvents() {
	var own []candidate
	for _, n := range sortedKeys(h.issues) {
		own = append(own, h.issues[n].events...)
	}
	for _, n := range sortedKeys(h.pulls) {
		own = append(own, h.pulls[n].events...)
	}
	h.events = append(own, h.events...)
}

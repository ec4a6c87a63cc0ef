package known

import (
	"cmp"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Item is a work item with everything that its plan may depend on. Without an id it is only a
// number with commands on which nothing is worked.
type Item struct {
	work.Item
	Pull     work.PullRequest // the newest; see HasPull
	Open     []int            // all open pull requests of its issue, by number; read only if commands wait, and for people
	Resolved []int64          // first comments of resolved review threads
	Events   []work.Event     // pending and of no turn; comments without their texts
	Turn     *work.Turn       // the unfinished one, or nil

	Stop     work.Stop      // why it is stopped, or last was
	Pause    *work.Pause    // people have paused it; nil if not
	Followup *work.Followup // what it waits for, or waited for before the turn that resumes it; nil if nothing

	Spent        []work.Spent                    // the turns that its budgets count, oldest first
	Findings     map[int64][]string              // what fix turns were to fix, by turn id; see work.Findings
	Dependencies map[string]work.DependencyState // what must be closed before it begins, by reference; empty once it has begun

	Below roadmap.Seat // its place below a roadmap, if its issue is one of a roadmap; read only if it may begin, or has waited for long

	Faults         []string // of the document at the head of a roadmap's open pull request; empty: none, or not read
	RoadmapStopped bool     // the roadmap that the item changes is stopped

	Lead *roadmap.Lead // the roadmap of its issue, which has not ended; nil: none, or work on the issue itself is open

	Notices   map[string]work.ActionState // states of the notices planned about its events, by token
	Pointed   []work.Event                // issue comments redirected to the pull request; read only if more of them wait
	Closings  map[int64]work.Action       // actions closing its pull request for cancel commands, by the command's event id
	Shelved   []string                    // keys of events given up for the present head; read only if commands wait
	Followed  *Followed                   // the next item on its issue; read only if commands wait; nil if none
	Newer     bool                        // newer work on its issue is open; read only if commands wait
	Restarted string                      // the label with which a command starts work, which no pass has read yet; read only if commands wait, and for people
	Pauses    []work.Pause                // all of its issue and its pull request, also those that ended; read only if a command asks for a pause or a hold; of ended work, always the open ones of its issue
	Proposals []work.Proposal             // follow-ups that agents proposed on its issue; read only if a command asks for one

	Reviews        review.Facts  // stored facts about its pull request's reviews; a pass derives the rest
	Reviewers      review.Policy // by today's config
	LabelHead      string        // somebody else's pull request only: the head that the label covers
	HeldBack       *review.Held  // people hold the reviews; nil if not
	UntilGreen     work.Reason   // why its pull request is a draft, if it is one of ours that is marked as ready once it is green
	ReviewsChanged bool          // the reviews must be decided again: their inputs or the config changed
	Decided        DecidedInputs // recorded once they are decided

	Landing Landing // merging its pull request by our own request
}

// Followed is the next item on the same issue.
type Followed struct {
	State work.State
	Pull  work.PullRequest // zero if none yet
}

// RestartedBy returns the label that an action sets on an issue without open work to start it, until a pass has read
// the repository since.
func (i Item) RestartedBy(a work.Action, read time.Time) string {
	if i.State.Open() || a.Kind != work.ActionFlow || a.State == work.ActionVoid || a.State.Settled() && a.SeenAt.Before(read) {
		return ""
	}
	return a.Target
}

// Closing reports whether a command cancelled the work, and no pass has read since that its pull request is closed.
func (i Item) Closing() bool {
	return i.State == work.StateClosed && i.Pull.State == work.PullOpen && i.Flow != work.FlowReview
}

// HasPull reports whether the item has a pull request.
func (i Item) HasPull() bool { return i.Pull.Number != 0 }

// Named returns the number by which commands in a terminal name the item: the given one, or that of its pull request if
// the issue has several open ones.
func (i Item) Named(number int) int {
	if len(i.Open) > 1 && i.Pull.State == work.PullOpen {
		return i.Pull.Number
	}
	return number
}

// Unanswered returns the comments that no turn has taken yet and that one may answer.
func (i Item) Unanswered() []work.Event {
	waits := i.State == work.StateAwaitingIssueFollowup && i.Turn == nil
	return Without(i.Events, func(e work.Event) bool {
		return !e.Kind.IsComment() || waits && i.SeenByTurn(e) || i.OnIssueDuringPull(e)
	})
}

// SeenByTurn reports whether the turn that left the item waiting was already given the event. A
// label that is removed and set again is a new event.
func (i Item) SeenByTurn(e work.Event) bool {
	return i.Followup != nil && e.ID <= i.Followup.EventCursor
}

// OnIssueDuringPull reports whether a comment was made on the issue while there was a pull request.
// No turn answers it.
func (i Item) OnIssueDuringPull(e work.Event) bool {
	return e.Kind == work.EventSource && i.HasPull() && e.CreatedAt.After(i.Pull.CreatedAt)
}

// Told reports whether a comment on GitHub tells why the item waits for a person.
func (i Item) Told() bool { return i.Stop.Lasts() && i.State.NeedsPerson() }

// Stopped reports whether the item waits for a person.
func (i Item) Stopped() bool {
	return i.State == work.StateBlocked || i.State == work.StateAwaitingIssueFollowup
}

// NeedsDecision reports whether the plan has anything to decide or to report about the item. State
// changes of an issue or a pull request are events.
func (i Item) NeedsDecision() bool {
	return len(i.Events) > 0 || i.Pause != nil || i.Pull.State == work.PullOpen && i.Pull.Rewritten() || i.ReviewsChanged || !i.UntilGreen.None()
}

// Active reports whether the item is an implementation under way, with which others may collide.
func (i Item) Active() bool {
	return i.Flow == work.FlowImplementation && i.State.Open() && (i.Pull.State == work.PullOpen || i.State == work.StateRunning)
}

// Banner returns what the item's stop comment does not show yet about who has the item. It returns
// false if the comment is up to date.
func (i Item) Banner() (work.PauseBanner, bool) {
	told := !i.Stop.Taken.IsZero()
	switch {
	case i.Pause == nil:
		return work.PauseBanner{Stop: i.Stop}, told
	case told || !i.Told():
		return work.PauseBanner{}, false
	}
	return work.PauseBanner{Stop: i.Stop, Pause: *i.Pause}, true
}

// Sorted returns the item for a plan that leaves out some of its events. They are sorted oldest
// first, since a turn takes the first ones.
func (i Item) Sorted() Item {
	older := func(a, b work.Event) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(i.Events, older) {
		i.Events = slices.Clone(i.Events)
		sorted.By(i.Events, older)
	}
	return i
}

// Without returns the events for which gone returns false, in order. It calls gone once per event
// and does not modify the list; it returns the list itself if none is gone: of thousands of pending
// comments each plan leaves out few.
func Without(events []work.Event, gone func(work.Event) bool) []work.Event {
	var left []work.Event
	for n, e := range events {
		switch {
		case !gone(e):
			if left != nil {
				left = append(left, e)
			}
		case left == nil:
			left = append(make([]work.Event, 0, len(events)-1), events[:n]...)
		}
	}
	if left == nil {
		return events
	}
	return left
}

// AskedAgain reports whether somebody else's pull request was labelled again or reopened.
func (i Item) AskedAgain() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind == work.EventLabelled || e.Kind == work.EventReopened })
}

// BranchDeleted reports whether a pending closing of the pull request shows that its branch is deleted.
func (i Item) BranchDeleted() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool {
		return e.Kind == work.EventClosed && e.Number == i.Pull.Number && e.Body != ""
	})
}

// IssueCloses reports whether the newest pending closing or reopening of the issue is a closing.
func (i Item) IssueCloses() bool {
	closed := false
	for _, e := range i.Events {
		if e.Number != i.Number {
			continue
		}
		if e.Kind == work.EventClosed {
			closed = true
		}
		if e.Kind == work.EventReopened {
			closed = false
		}
	}
	return closed
}

// InOrder returns the items by id, those without an id by number. It does not copy a sorted list:
// items mostly are sorted, and thousands are large.
func InOrder(items []Item) []Item {
	older := func(a, b Item) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Number, b.Number)) }
	if slices.IsSortedFunc(items, older) {
		return items
	}
	return sorted.Values(slices.Values(items), older)
}

// Labelled reports whether an event that begins the item is pending: a labelling, or the merge of
// its design.
func (i Item) Labelled() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool { return work.StartsItem(i.Item, e) && !i.SeenByTurn(e) })
}

// Relabelled reports whether a labelling is pending.
func (i Item) Relabelled() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind == work.EventLabelled && !i.SeenByTurn(e) })
}

// BegunAgain reports whether a person made the item begin again: the event that began it is
// pending, although a turn had it before.
func (i Item) BegunAgain() bool {
	return i.State == work.StatePending && slices.ContainsFunc(i.Events, func(e work.Event) bool { return work.StartsItem(i.Item, e) })
}

// mostQuiet is how many quiet periods a burst of comments may last, so that an endless one is
// answered, too.
const mostQuiet = 10

// QuietUntil returns when a burst of comments counts as over. GitHub's clock may be ahead of ours,
// so no comment counts as newer than when we saw it.
func QuietUntil(said []work.Event, quiet time.Duration) time.Time {
	times := make([]time.Time, len(said))
	for i, e := range said {
		times[i] = e.UpdatedAt
		if e.UpdatedAt.IsZero() || e.UpdatedAt.After(e.SeenAt) {
			times[i] = e.SeenAt
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	var first, last time.Time // of the burst
	for _, at := range times {
		if at.Sub(last) >= quiet {
			first = at
		}
		last = at
	}
	if most := first.Add(mostQuiet * quiet); most.Before(last.Add(quiet)) {
		return most
	}
	return last.Add(quiet)
}

// mostSeen is how many pending comments of an item get 👀, which shows that a comment was seen before
// anybody works on it.
const mostSeen = 30

// Seen returns the keys of the comments that get 👀. GitHub takes no reactions on a review's own text.
// Comments on the issue during a pull request get a link to the pull request instead.
func (i *Item) Seen() map[string]bool {
	eyes := map[string]bool{}
	for _, e := range i.Events {
		if len(eyes) < mostSeen && e.Kind.IsComment() && e.Kind != work.EventSummary && !i.OnIssueDuringPull(e) {
			eyes[e.Key] = true
		}
	}
	return eyes
}

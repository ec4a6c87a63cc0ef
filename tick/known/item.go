package known

import (
	"cmp"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/standing"
)

// Item is a work item with everything that its plan may depend on. One without an
// id is a number where commands were given and nothing is worked on.
type Item struct {
	work.Item
	Pull     work.PullRequest // the newest; see HasPull
	Resolved []int64          // review threads that are resolved, by their first comments
	Events   []work.Event     // pending and of no turn; of what people wrote the first ones, where there is more than a turn takes, and without their texts
	More     More             // of what people wrote
	Turn     *work.Turn       // the unfinished one; nil: none

	Stop     work.Stop      // why it is stopped, or last was stopped
	Pause    *work.Pause    // people have paused it; nil: they have not
	Followup *work.Followup // what it waits for, or waited for before the turn that resumes it; nil: nothing

	Spent        []work.Spent                    // the turns that its budgets count, oldest first
	Findings     map[int64][]string              // what turns that mended were to mend, by turn id; see work.Findings
	Dependencies map[string]work.DependencyState // of one that is ready, by reference

	Notices  map[string]work.ActionState // what is planned about its events already, by token
	Pointed  []work.Event                // what was said on the issue and pointed to the pull request, where more of it waits
	Closings map[int64]work.Action       // of its pull request, for a command that cancels the work, by the command's event
	Shelved  []string                    // keys of events that were given up for the present head, where commands wait
	Followed *Followed                   // what came after it on its issue, where commands wait; nil: nothing

	Reviews   review.Facts  // what is stored of its pull request's; what a pass makes of them is not set
	Reviewers review.Policy // by today's config
	LabelHead string        // of somebody else's: the head for which the label stands
	HeldBack  *review.Held  // people hold the reviews back; nil: they do not
	Looking   bool          // something changed by which the reviews are decided, or the config did
	Look      Look          // what is recorded once they are

	Landing Landing // of its pull request, by our own request
}

// More is what people wrote that waits as well.
type More struct {
	Count  int
	Newest time.Time // when the newest of it was written
}

// Followed is what came after an item on its issue.
type Followed struct {
	State work.State
	Pull  work.PullRequest // zero: none yet
}

// HasPull reports whether the item has a pull request.
func (i Item) HasPull() bool { return i.Pull.Number != 0 }

// Standing is what of it says why nothing happens.
func (i Item) Standing() standing.Item {
	return standing.Item{Item: i.Item, Pull: i.Pull, Turn: i.Turn, Pause: i.Pause, Unanswered: len(i.Unanswered()), Reviews: i.Awaited(i.Reviews.Record)}
}

// Unanswered is what people wrote that no turn has taken yet, and that one may answer.
func (i Item) Unanswered() []work.Event {
	waits := i.State == work.StateAwaitingIssueFollowup && i.Turn == nil
	return Without(i.Events, func(e work.Event) bool {
		return !e.Kind.Said() || waits && i.Fed(e) || i.Elsewhere(e)
	})
}

// Fed reports whether a turn had the event that left the item stopped.
// A label asks once; set again it asks again.
func (i Item) Fed(e work.Event) bool {
	return i.Followup != nil && e.ID <= i.Followup.EventCursor
}

// Elsewhere reports whether something was said on the issue while there was a pull
// request: no turn answers that.
func (i Item) Elsewhere(e work.Event) bool {
	return e.Kind == work.EventSource && i.HasPull() && e.CreatedAt.After(i.Pull.CreatedAt)
}

// Stopped reports whether the item waits for a person.
func (i Item) Stopped() bool {
	return i.State == work.StateBlocked || i.State == work.StateAwaitingIssueFollowup
}

// Asks reports whether there is anything to decide about the item, or to say: what
// becomes of an issue or a pull request is an event.
func (i Item) Asks() bool {
	return len(i.Events) > 0 || i.Pause != nil || i.Pull.State == work.PullOpen && i.Pull.Rewritten() || i.Looking
}

// Active reports whether it is an implementation under way, which others may
// collide with.
func (i Item) Active() bool {
	return i.Flow == work.FlowImplementation && i.State.Open() && (i.Pull.State == work.PullOpen || i.State == work.StateRunning)
}

// Banner is what the comment about the item's stop does not say yet about who has
// the item; false when it says what is so.
func (i Item) Banner() (work.PauseBanner, bool) {
	told := !i.Stop.Taken.IsZero()
	switch {
	case i.Pause == nil:
		return work.PauseBanner{Stop: i.Stop}, told
	case told || !i.State.Stands() || !i.Stop.Lasts():
		return work.PauseBanner{}, false
	}
	return work.PauseBanner{Stop: i.Stop, Pause: *i.Pause}, true
}

// Own is an item for one plan, which leaves out events of it: oldest first, since a turn
// takes the first of them.
func (i Item) Own() Item {
	older := func(a, b work.Event) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(i.Events, older) {
		i.Events = slices.Clone(i.Events)
		slices.SortStableFunc(i.Events, older)
	}
	return i
}

// Without is what is left of events, of which the ones that are gone are asked for once,
// in their order. The list stays as it is, and is itself what is left where none are gone:
// of thousands of comments that wait every plan leaves out few.
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

// AskedAgain reports whether the label of somebody else's pull request was set again, or
// that was reopened.
func (i Item) AskedAgain() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind == work.EventLabelled || e.Kind == work.EventReopened })
}

// IssueCloses reports whether the newest of the issue's pending closings and reopenings is a
// closing.
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

// InOrder are items as they came to be, and numbers without one in their order. They mostly
// are, and thousands of them are large.
func InOrder(items []Item) []Item {
	older := func(a, b Item) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Number, b.Number)) }
	if slices.IsSortedFunc(items, older) {
		return items
	}
	return slices.SortedStableFunc(slices.Values(items), older)
}

// Labelled reports whether what begins the item waits to be acted on: a labelling, or the
// merge of its design.
func (i Item) Labelled() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool { return work.Begins(i.Item, e) && !i.Fed(e) })
}

// Relabelled reports whether a labelling waits to be acted on.
func (i Item) Relabelled() bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool { return e.Kind == work.EventLabelled && !i.Fed(e) })
}

// SentBack reports whether a person had the item begin again: what began it waits, although
// a turn had it before.
func (i Item) SentBack() bool {
	return i.State == work.StatePending && slices.ContainsFunc(i.Events, func(e work.Event) bool { return work.Begins(i.Item, e) })
}

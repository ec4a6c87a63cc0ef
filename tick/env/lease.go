package env

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/telemetry"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Earlier returns the turn without the attempt that this pass began.
func (l *Lease) Earlier() work.Turn {
	t := l.Turn
	if l.Attempted {
		t.Attempts--
	}
	return t
}

// Uncommitted returns the turn's event keys for which the branch has no commit yet.
func (l *Lease) Uncommitted() []string {
	return slices.DeleteFunc(slices.Clone(l.Turn.EventKeys), func(key string) bool { return l.Carried[key] })
}

// Committed reports whether the branch has commits for all events of the turn.
func (l *Lease) Committed() bool {
	return len(l.Turn.EventKeys) > 0 && len(l.Uncommitted()) == 0
}

// BegunBy reports whether commits that name these events began the turn's work: they name the event
// that starts the item (a labelling), or, without one in the turn, any of the turn's events.
func (l *Lease) BegunBy(carried map[string]bool) bool {
	for _, e := range l.Events {
		if work.StartsItem(l.Item, e) {
			return carried[e.Key]
		}
	}
	return slices.ContainsFunc(l.Turn.EventKeys, func(key string) bool { return carried[key] })
}

// EarlierAttempts returns a text for the agent: what earlier attempts left on the branch, and why
// the last answer was not used.
func (l *Lease) EarlierAttempts(unused string) string {
	var told []string
	switch {
	case l.Committed():
		told = append(told, "You have done this work already: its commit is on the branch. Only your answer was lost. Look at the commit, and answer as if you had just made it; no further change of files will be committed now.")
	case len(l.Carried) > 0 && len(l.Uncommitted()) < len(l.Turn.EventKeys):
		told = append(told, "You have done a part of this already: its commit is on the branch. Your answer was lost. Look at the branch before you change anything.")
	}
	if unused != "" {
		told = append(told, "Your last answer to this could not be used, and nothing of it was sent: "+unused)
	}
	if l.Turn.LastError != "" {
		told = append(told, l.Turn.LastError)
	}
	return strings.Join(told, "\n\n")
}

// About reports whether one of the turn's events is of a kind.
func (l *Lease) About(kind work.EventKind) bool {
	return slices.ContainsFunc(l.Events, func(e work.Event) bool { return e.Kind == kind })
}

// Approves reports whether people only approved, with a review or line comments. Such a turn may
// reply but pushes nothing over the approved head. A dismissed review asks for nothing, as it may
// have approved.
func (l *Lease) Approves() bool {
	said := slices.DeleteFunc(slices.Clone(l.Events), func(e work.Event) bool { return !e.Kind.IsComment() })
	return len(said) > 0 && !slices.ContainsFunc(said, func(e work.Event) bool {
		return e.Kind != work.EventSummary && e.Kind != work.EventReview || e.State != "APPROVED" && e.State != "DISMISSED"
	})
}

// OnlyReads reports whether the turn discards files that the agent leaves in the checkout. A design
// start does not: its file is written from the answer.
func (l *Lease) OnlyReads() bool {
	return l.Mode() == work.ModeRead && l.Turn.Kind != work.KindDesignStart
}

// Mode returns whether the turn's agent may change files.
func (l *Lease) Mode() work.Mode {
	if l.Approves() {
		return work.ModeRead
	}
	return l.Turn.Kind.Mode()
}

// Lease is one turn in one slot. The phases of a turn pass it on.
type Lease struct {
	Turn            work.Turn
	Item            work.Item
	Slot            *folder.Slot
	Repo            *Repo
	Events          []work.Event // the turn's, oldest first
	Checkout        folder.Checkout
	Threads         map[int64]github.Thread // read right before the effects, by id of the first comment
	Carried         map[string]bool         // event keys for which the branch has a commit
	Adopted         bool                    // a start turn continues a branch that was pushed before
	Red             []github.Check          // checks of the head, for a turn about checks
	Runs            []github.WorkflowRun    // red workflow runs of the head
	Merge           *git.Merge              // in progress, for a turn about a conflict
	Guarded         git.Guarded             // files of the checkout that differ from the head of somebody else's pull request
	Files           []string                // changed by the turn's commit
	Lines           git.Lines               // of the pull request's diff, for a turn that reviews it
	EventsExhausted bool                    // the events end with the turn and start no other
	EarlierKeys     []string                // event keys of an earlier flow that the agent was also shown
	LostOID         string                  // commit that a force push removed from the branch
	Resumed         bool
	Ahead           *ahead.Reads // prefetched GitHub reads of this phase, for it and the next

	Attempted bool    // this pass began an attempt, which still counts
	BegunRuns []int64 // ids of agent runs that this pass began
	Used      bool    // their usage is unknown or not zero

	Trace *telemetry.Span // of the current phase; nil: no trace

	Disclosure     string // line below the agent's text
	DisclosedAside string // the line if the agent takes no part afterwards
}

// Release stops prefetched reads and frees the slot.
func (l *Lease) Release() {
	l.Ahead.Stop()
	l.Slot.Release()
}

// NewPrefetch drops earlier prefetched reads and returns a context for new ones. Each stays valid
// for most.
func (l *Lease) NewPrefetch(ctx context.Context, most time.Duration) context.Context {
	l.Ahead.Stop()
	l.Ahead = ahead.New(ctx, most)
	return l.Ahead.Into(ctx)
}

// Conflict returns the merge in progress as the agent is shown it; nil: there is none.
func (l *Lease) Conflict() *prompts.Conflict {
	if l.Merge == nil {
		return nil
	}
	return &prompts.Conflict{Base: l.Turn.Base, BaseSHA: l.Merge.Other, HeadSHA: l.Turn.Head, Paths: l.Merge.Paths, Log: l.Merge.Log}
}

// Parents returns the parents of the turn's commit.
func (l *Lease) Parents() []string {
	if l.Merge == nil {
		return []string{l.Turn.Head}
	}
	return []string{l.Turn.Head, l.Merge.Other}
}

// CheckoutTree returns the tree of the checkout if it is not the head's, else "".
func (l *Lease) CheckoutTree() string {
	if l.Merge == nil {
		return ""
	}
	return l.Merge.Tree
}

// DisclosureBlock returns the disclosure and a blank line; "" without one.
func (l *Lease) DisclosureBlock() string {
	if l.Disclosure == "" {
		return ""
	}
	return l.Disclosure + "\n\n"
}

// Unused returns why the answer of the previous turn was not used; empty if there was no answer or
// it was used.
func Unused(turns []work.Turn, t work.Turn) string {
	var last work.Turn
	for _, earlier := range turns {
		if earlier.ID < t.ID && earlier.ID > last.ID {
			last = earlier
		}
	}
	if last.Step == work.StepSuperseded && len(last.Answer) > 0 {
		return last.LastError
	}
	return ""
}

// TurnEvents returns the events of a turn, oldest first.
func TurnEvents(ctx context.Context, tx *store.Tx, t work.Turn) ([]work.Event, error) {
	all, err := tx.ListItemEvents(ctx, t.ItemID)
	return slices.DeleteFunc(all, func(e work.Event) bool { return e.TurnID != t.ID }), err
}

// MissingEvents returns events of a turn restored from its journal that the database does not have:
// their comments were edited or deleted before the new database read them. Their keys suffice to
// look up the comments.
func MissingEvents(t work.Turn, known []work.Event) (missing []work.Event) {
	if t.Step == work.StepClaimed {
		return nil
	}
	for _, key := range t.EventKeys {
		e, ok := work.EventOfKey(key)
		if ok && !slices.ContainsFunc(known, func(k work.Event) bool { return k.Key == key }) {
			missing = append(missing, e)
		}
	}
	return missing
}

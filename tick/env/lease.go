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

// Unheard is what people said on the pull request that no turn was told of.
func (l *Lease) Unheard(ctx context.Context, tx *store.Tx) ([]work.Event, error) {
	said, err := tx.ListSaid(ctx, l.Turn.RepoID, l.Item.ID)
	return slices.DeleteFunc(said, func(e work.Event) bool { return e.Kind == work.EventSource }), err
}

// Earlier is the turn with the attempts that it had before this pass.
func (l *Lease) Earlier() work.Turn {
	t := l.Turn
	if l.Attempted {
		t.Attempts--
	}
	return t
}

// Uncommitted are the events of the turn for which no commit stands on the
// branch yet.
func (l *Lease) Uncommitted() []string {
	return slices.DeleteFunc(slices.Clone(l.Turn.EventKeys), func(key string) bool { return l.Carried[key] })
}

// Committed reports whether the branch has the commit for all of the turn.
func (l *Lease) Committed() bool {
	return len(l.Turn.EventKeys) > 0 && len(l.Uncommitted()) == 0
}

// BegunBy reports whether commits that name these events began the turn's work:
// they were made for what asks for it, as a labelling does, or else for one of
// its events.
func (l *Lease) BegunBy(carried map[string]bool) bool {
	for _, e := range l.Events {
		if work.Begins(l.Item, e) {
			return carried[e.Key]
		}
	}
	return slices.ContainsFunc(l.Turn.EventKeys, func(key string) bool { return carried[key] })
}

// Before tells the agent what earlier attempts left, and why the answer of the
// last one was not used.
func (l *Lease) Before(unused string) string {
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

// Approves reports whether people only approved, with a word or with comments on lines:
// that is answered, and nothing is pushed over what they approved. A review that was
// dismissed may have approved, and asks for nothing any more.
func (l *Lease) Approves() bool {
	said := slices.DeleteFunc(slices.Clone(l.Events), func(e work.Event) bool { return !e.Kind.Said() })
	return len(said) > 0 && !slices.ContainsFunc(said, func(e work.Event) bool {
		return e.Kind != work.EventSummary && e.Kind != work.EventReview || e.State != "APPROVED" && e.State != "DISMISSED"
	})
}

// OnlyReads reports whether nothing that the turn's agent leaves in the checkout is
// looked at. A design is written by us, from the answer.
func (l *Lease) OnlyReads() bool {
	return l.Mode() == work.ModeRead && l.Turn.Kind != work.KindDesignStart
}

// Mode says whether the turn's agent may change files.
func (l *Lease) Mode() work.Mode {
	if l.Approves() {
		return work.ModeRead
	}
	return l.Turn.Kind.Mode()
}

// Lease is one turn in one slot: what restore, execute and finalize hand to
// one another.
type Lease struct {
	Turn            work.Turn
	Item            work.Item
	Slot            *folder.Slot
	Repo            *Repo
	Events          []work.Event // the turn's, oldest first
	Checkout        folder.Checkout
	Threads         map[int64]github.Thread // as read right before the effects, by first comment
	Carried         map[string]bool         // event keys for which a commit stands on the branch
	Adopted         bool                    // a start continues on a branch that was pushed before
	Red             []github.Check          // of the head, where the turn is about checks
	Runs            []github.WorkflowRun    // the red ones of the head
	Merge           *git.Merge              // in progress, where the turn is about a conflict
	Guarded         git.Guarded             // what its checkout holds in place of the head, where that is somebody else's
	Files           []string                // that its commit changes
	Lines           git.Lines               // that the pull request's difference shows, where the turn reviews it
	EventsExhausted bool                    // what asked for the turn asks no more
	EarlierKeys     []string                // keys of what was said for an earlier flow, and was told to the agent as well
	LostOID         string                  // the commit that somebody's rewriting took out of the branch
	Resumed         bool
	Ahead           *ahead.Reads // what was asked of GitHub in advance, in this phase and for the one after it

	Attempted bool    // this pass has begun an attempt, which still counts
	BegunRuns []int64 // of the agent, by this pass
	Used      bool    // by them, as far as is known

	Trace *telemetry.Span // of what is done for the turn just now; nil: nobody observes

	Disclosure     string // the line below what its agent wrote
	DisclosedAside string // the line where its agent takes no part afterwards
}

// Release gives the slot back.
func (l *Lease) Release() {
	l.Ahead.Stop()
	l.Slot.Release()
}

// Foresee forgets what was asked in advance, and makes room for what is: it stands for so
// long.
func (l *Lease) Foresee(ctx context.Context, most time.Duration) context.Context {
	l.Ahead.Stop()
	l.Ahead = ahead.New(ctx, most)
	return l.Ahead.Into(ctx)
}

// Conflict is what the agent is told of the merge in progress.
func (l *Lease) Conflict() *prompts.Conflict {
	if l.Merge == nil {
		return nil
	}
	return &prompts.Conflict{Base: l.Turn.Base, BaseSHA: l.Merge.Other, HeadSHA: l.Turn.Head, Paths: l.Merge.Paths, Log: l.Merge.Log}
}

// Parents are those of the turn's commit.
func (l *Lease) Parents() []string {
	if l.Merge == nil {
		return []string{l.Turn.Head}
	}
	return []string{l.Turn.Head, l.Merge.Other}
}

// From is the tree that the checkout began as, when it is not the head's.
func (l *Lease) From() string {
	if l.Merge == nil {
		return ""
	}
	return l.Merge.Tree
}

// Below is the line with the blank line that follows it.
func (l *Lease) Below() string {
	if l.Disclosure == "" {
		return ""
	}
	return l.Disclosure + "\n\n"
}

// Unused is why the attempt before this one came to nothing although its agent
// had answered; empty when there was none.
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

// TurnEvents are the events that a turn answers, oldest first.
func TurnEvents(ctx context.Context, tx *store.Tx, t work.Turn) ([]work.Event, error) {
	all, err := tx.ListItemEvents(ctx, t.ItemID)
	return slices.DeleteFunc(all, func(e work.Event) bool { return e.TurnID != t.ID }), err
}

// Unread are the events of a turn that was found again in its journal and that
// nobody can read any more: their comments were edited or deleted before the
// new database saw them. Their keys say enough to look at what became of them.
func Unread(t work.Turn, known []work.Event) (missing []work.Event) {
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

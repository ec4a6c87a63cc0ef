// Package news decides what the operator is told outside of GitHub: an agent asks, work is
// blocked, a pull request was opened or merged, passes fail. It sends nothing and stores
// nothing: the same facts give the same messages, each with a key under which it is told
// once.
package news

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What is something that people may be told.
type What string

// What there is to tell.
const (
	Question    What = "question"
	Blocked     What = "blocked"
	HumanReview What = "human_review"
	PullOpened  What = "pull_request_opened"
	Merged      What = "merged"
	BudgetSpent What = "budget_spent"
	PassFailing What = "pass_failing"

	// Recovered goes to whom PassFailing went, and cannot be asked for by itself.
	Recovered What = "pass_recovered"
	// Test is what people send to see whether a target works.
	Test What = "test"
)

// All lists what a target may ask for.
func All() []What {
	return []What{Question, Blocked, HumanReview, PullOpened, Merged, BudgetSpent, PassFailing}
}

// State is how far a message came. It is sent at most once: that it is being sent is
// stored before it is.
type State string

// The states of a message.
const (
	Planned State = "planned"
	Sent    State = "sent"    // it is being sent, or a pass died while it was
	Done    State = "done"    // the target took it
	Failed  State = "failed"  // the target did not take it
	Unclear State = "unclear" // the pass that sent it died: nobody knows
	Dropped State = "dropped" // it was never sent: too old, or nobody is to get it any more
)

// Target is somebody who is told.
type Target struct {
	Name  string
	Kinds []What
}

// Wants reports whether a target is told something.
func (t Target) Wants(w What) bool { return slices.Contains(t.Kinds, w) }

// Known says since when a target is told something: what began before is no news to it.
type Known struct {
	Target string
	What   What
	Config string // the path of the config that names it
	Since  time.Time
}

// Entry is one message to one target.
type Entry struct {
	ID        int64
	Target    string
	Key       string // what it is about; a target is told once
	What      What
	RepoID    int64 // 0: it is about the pass itself
	ItemID    int64
	Number    int
	At        time.Time // when it happened
	State     State
	SentAt    time.Time // when it was sent last, or tried to be
	SettledAt time.Time
	LastError string
	Body      string // JSON
}

// Untold is what a target was to be told since it took a message last, and was not.
type Untold struct {
	Target    string
	Count     int
	LastError string
}

// Delivery is the message's name for its receiver: the same after the database is lost.
func Delivery(target, key string) string {
	sum := sha256.Sum256([]byte(target + "\x00" + key))
	return hex.EncodeToString(sum[:16])
}

// Place is where on GitHub something is.
type Place struct {
	RepoID int64
	Repo   work.RepoName
	Key    work.RepoKey
	ItemID int64
	Number int // of the issue or pull request where people act; 0: it is about the repository
	Pull   bool
	URL    string
	Title  string
}

// Stop is a work item that waits for a person.
type Stop struct {
	Place
	Token  string
	Reason work.Reason
	State  work.State // of the item
	Since  time.Time
}

// Pull is a pull request of ours that was opened, or merged, at a time.
type Pull struct {
	Place
	At time.Time
}

// Approval is a pull request that waits for the approval of a person.
type Approval struct {
	Place
	Head string
	At   time.Time // when the last of its other reviewers said what they think
}

// Halt is a repository that is not merged into any more.
type Halt struct {
	Place
	Reason work.Reason
	At     time.Time
}

// Facts are what is known at one moment.
type Facts struct {
	Now       time.Time
	Stops     []Stop
	Opened    []Pull
	Merged    []Pull
	Approvals []Approval
	Halts     []Halt
	Budget    work.Reason // of the day, spent; none: it is not
	Last      work.LastPass
	LastKnown bool             // Last is known: before the end of a pass it is not
	Failing   map[string]Entry // by target: the last row of failures that it was told of, and whose end it was not
}

// Clean takes out of people's texts what may not be told, before they are sent anywhere.
func (f *Facts) Clean(redact func(string) string) {
	for i := range f.Stops {
		f.Stops[i].Title, f.Stops[i].Reason = redact(f.Stops[i].Title), f.Stops[i].Reason.Map(redact)
	}
	for i := range f.Opened {
		f.Opened[i].Title = redact(f.Opened[i].Title)
	}
	for i := range f.Merged {
		f.Merged[i].Title = redact(f.Merged[i].Title)
	}
	for i := range f.Approvals {
		f.Approvals[i].Title = redact(f.Approvals[i].Title)
	}
	for i := range f.Halts {
		f.Halts[i].Reason = f.Halts[i].Reason.Map(redact)
	}
	f.Last.Why = redact(f.Last.Why)
}

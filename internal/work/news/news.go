// Package news decides which notifications the operator gets outside GitHub: an agent asks, work is
// blocked, a pull request was opened or merged, passes fail. It sends and stores nothing: the same
// facts give the same messages. Each message has a key and is sent once.
package news

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Kind is a kind of notification.
type Kind string

// The kinds of notification.
const (
	Question    Kind = "question"
	Blocked     Kind = "blocked"
	HumanReview Kind = "human_review"
	PullOpened  Kind = "pull_request_opened"
	Merged      Kind = "merged"
	BudgetSpent Kind = "budget_spent"
	PassFailing Kind = "pass_failing"
	Silent      Kind = "machine_silent" // no pass begins on another machine

	// Recovered goes to the targets of PassFailing; it has no start of its own.
	Recovered Kind = "pass_recovered"
	// Back ends Silent, and goes to its targets; it has no start of its own.
	Back Kind = "machine_back"
	// Test is sent by a person to test a target.
	Test Kind = "test"
)

// All lists the kinds that each target gets.
func All() []Kind {
	return []Kind{Question, Blocked, HumanReview, PullOpened, Merged, BudgetSpent, PassFailing, Silent}
}

// State is how far a message has come. Sent is stored before the message is sent, so it is sent at
// most once.
type State string

// The states of a message.
const (
	Planned State = "planned"
	Sent    State = "sent"    // being sent, or a pass died while sending it
	Done    State = "done"    // the target accepted it
	Failed  State = "failed"  // the target rejected it
	Unclear State = "unclear" // the pass died while sending it: it may have arrived
	Dropped State = "dropped" // never sent: too old, or no longer configured
)

// Known is since when a target gets a kind. Earlier events are not sent.
type Known struct {
	Target string
	What   Kind
	Config string // path of the config that names the target
	Since  time.Time
}

// Entry is one message for one target.
type Entry struct {
	ID        int64
	Target    string
	Key       string // a target gets one message for each key
	What      Kind
	RepoID    int64 // 0: about passes
	ItemID    int64
	Number    int
	At        time.Time // when the event happened
	State     State
	SentAt    time.Time // time of the last attempt to send it
	SettledAt time.Time
	LastError string
	Machine   string // about whose passes it is; empty: about no machine's
	Body      string // JSON
}

// Undelivered counts the messages that a target did not get since the last one that it accepted.
type Undelivered struct {
	Target    string
	Count     int
	LastError string
}

// Delivery returns the id that the receiver sees. It is the same after a loss of the database.
func Delivery(target, key string) string {
	sum := sha256.Sum256([]byte(target + "\x00" + key))
	return hex.EncodeToString(sum[:16])
}

// Place is what a message is about, on GitHub.
type Place struct {
	RepoID int64
	Repo   work.RepoName
	Key    work.RepoKey
	ItemID int64
	Number int // of the issue or pull request where people act; 0: about the repository
	Pull   bool
	URL    string
	Title  string
}

// Stop is a work item that waits for a person.
type Stop struct {
	Place
	Token  string
	Reason work.Reason
	State  work.State // state of the item
	Since  time.Time
}

// Wait is a work item that waits for too long.
type Wait struct {
	Place
	Reason work.Reason
	Since  time.Time
	ToldAt time.Time // when a notification about it became due
}

// Pull is one of our pull requests, with the time it was opened or merged.
type Pull struct {
	Place
	At time.Time
}

// Approval is a pull request that waits for a person's approval.
type Approval struct {
	Place
	Head string
	At   time.Time // when the last of its other reviewers gave a verdict
}

// Halt is a repository in which merging is halted.
type Halt struct {
	Place
	Reason work.Reason
	At     time.Time
}

// Login is a host, or an owner, that accepts nothing from gh's login.
type Login struct {
	Where string    // host, or host/owner
	Says  string    // what is wrong
	Do    string    // what to type, or which page to open
	Since time.Time // when a pass met it first
}

// Facts are the inputs of a decision.
type Facts struct {
	Now       time.Time
	Stops     []Stop
	Waits     []Wait
	Opened    []Pull
	Merged    []Pull
	Approvals []Approval
	Halts     []Halt
	Agents    []work.Outage    // that cannot work before a person acts
	Logins    []Login          // that more than one pass of this machine met
	Budget    work.Reason      // the day's budget is spent; zero: it is not
	Passes    *work.PassFacts  // nil while a pass runs
	Machine   string           // whose passes these are; empty: there is one machine only
	Others    []work.Machine   // the other machines
	Silences  []Entry          // of each target and machine the last Silent message, unless Back was sent since
	Failing   map[string]Entry // by target: its last PassFailing message, unless Recovered was sent since
}

// Clean removes secrets from texts before they are sent.
func (f *Facts) Clean(redact func(string) string) {
	for i := range f.Stops {
		f.Stops[i].Title, f.Stops[i].Reason = redact(f.Stops[i].Title), f.Stops[i].Reason.Map(redact)
	}
	for i := range f.Agents {
		f.Agents[i].Why = f.Agents[i].Why.Map(redact)
	}
	for i := range f.Logins {
		f.Logins[i].Says = redact(f.Logins[i].Says)
	}
	for i := range f.Waits {
		f.Waits[i].Title, f.Waits[i].Reason = redact(f.Waits[i].Title), f.Waits[i].Reason.Map(redact)
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
	if f.Passes != nil {
		known := *f.Passes
		known.Last.Why = redact(known.Last.Why)
		f.Passes = &known
	}
}

// retryAfter is how long to wait after a target could not be reached.
const retryAfter = 5 * time.Minute

// Due selects from the planned messages those to send now, oldest first and at most most, and those
// that are too old to send. It skips a target for retryAfter after it could not be reached.
func Due(planned []Entry, targets []string, now time.Time, most int) (send, drop []Entry) {
	away := map[string]bool{}
	for _, e := range planned {
		if !e.SentAt.IsZero() && now.Sub(e.SentAt) < retryAfter {
			away[e.Target] = true
		}
	}
	for _, e := range planned {
		wanted := slices.Contains(targets, e.Target)
		switch {
		case now.Sub(e.At) > MostAge:
			drop = append(drop, e)
		case wanted && !away[e.Target]:
			send = append(send, e)
		}
	}
	sorted.By(send, func(a, b Entry) int { return a.At.Compare(b.At) })
	return send[:min(len(send), most)], drop
}

package known

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Policy is the config for routing.
type Policy struct {
	QuietPeriod   time.Duration
	FeedbackLoop  bool
	IssueComments bool
	Labels        work.Labels
	MaxEvents     int // of one turn
	Budgets       work.Budgets
	Weights       work.ScoreWeights
	Checks        work.ChecksPolicy
	Spending      bool // agents' costs may be posted on GitHub

	Title func(string) string                    // makes a pull request's title safe for a commit: it closes no issues and skips no checks; nil keeps it
	Clean func(string) string                    // makes other people's text harmless after ours on the same line
	Mark  func(body string, m work.Marks) string // adds marks to a body and keeps it within GitHub's limit
	Match func(glob, path string) bool           // reports whether the glob matches the path
}

// Snapshot is everything that routing one repository may depend on.
type Snapshot struct {
	Repo      work.Repo
	Policy    Policy
	Now       time.Time
	Items     []Item            // if all are planned at once, at least those with something to decide; otherwise those that others are weighed against
	Untracked []Item            // numbers with pending commands on which nothing is worked
	Ignored   map[int]work.Flow // issues that begin once people remove the ignore label, as far as this pass saw them
	Held      []work.Holder     // what the held slot locks name
	Free      int               // free slots
	Files     []string          // of the base branch, if implementations are weighed against others
	Day       spending.Day      // over all repositories
	Served    RoundRobin

	Halt *merging.Halt // merging is halted in the repository; nil if not
	Sent []work.Action // merges and branch updates sent with no known end; and updates whose pull requests merge next

	Terminal string // how a terminal names the item, for a command given there; otherwise ""
}

// RoundRobin has the newest turn of a repository in each of its two queues; 0 if there was none.
// Turn ids rise in the order in which turns begin, so this is the round robin's memory between
// passes.
type RoundRobin struct {
	Feedback int64
	Fresh    int64
}

// DecidedInputs records which inputs the reviews of a pull request were decided from.
type DecidedInputs struct {
	Pull   int64
	Count  int    // changes counted by then
	Policy string // hash of the config for reviews
}

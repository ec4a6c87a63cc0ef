package known

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/score"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Policy is what the config says about routing.
type Policy struct {
	QuietPeriod   time.Duration
	FeedbackLoop  bool
	IssueComments bool
	Labels        work.Labels
	MaxEvents     int // of one turn
	Budgets       work.Budgets
	Weights       score.Weights
	Checks        work.ChecksPolicy
	Spending      bool // what agents cost may be told on GitHub

	Title func(string) string                    // makes a pull request's title fit for a commit: nothing in it closes issues or skips checks; nil: as it is
	Clean func(string) string                    // makes what others wrote harmless behind words of ours on their line
	Mark  func(body string, m work.Marks) string // marks a body, and keeps it within what GitHub takes
	Match func(glob, path string) bool           // reports whether a path is one that a glob means
}

// Snapshot is everything that routing one repository may depend on.
type Snapshot struct {
	Repo    work.Repo
	Policy  Policy
	Now     time.Time
	Items   []Item            // where all are planned for at once: at least those that ask for something; else those that others are weighed against
	Strays  []Item            // numbers where commands wait and nothing is worked on
	Ignored map[int]work.Flow // issues that begin once people take their label away, as far as this pass saw them
	Held    []work.Holder     // what the held slots name
	Free    int               // slots that nothing runs in
	Files   []string          // of the base branch, where implementations are to be weighed against others
	Day     spending.Day      // over all repositories
	Served  RoundRobin

	Halt *merging.Halt // nothing is merged in the repository; nil: what may be is
	Sent []work.Action // merges and updates of branches that were sent, and of which nobody has seen the end; updates that are to be merged next

	Terminal string // the item as a terminal names it, where a command is given there; else empty
}

// RoundRobin names the newest turn of a repository on each of its two lines; 0 when
// there was none. Turns are numbered in the order in which they begin, so it is
// the round robin's memory from pass to pass.
type RoundRobin struct {
	Feedback int64
	Fresh    int64
}

// Look says by what the reviews of a pull request were decided.
type Look struct {
	Pull   int64
	Count  int    // of what changed by then
	Policy string // what the config said, in short
}

package work

import "time"

// Stop is why a work item is stopped, or last was, and where GitHub shows it. The same reason in
// the same place is the same stop, regardless of the number of attempts.
type Stop struct {
	ItemID   int64
	Number   int    // the issue or pull request that has the comment
	Token    string // of the comment
	Reason   Reason
	Attempts int // how often the item stopped for this reason; 0: the stop is over, and the next one starts at 1
	Since    time.Time
	Ended    time.Time // when the item resumed; zero: it has not
	Taken    time.Time // since when the comment says that people paused the item; zero: it does not
}

// Lasts reports whether the item is stopped now.
func (s Stop) Lasts() bool { return s.Attempts > 0 && s.Ended.IsZero() }

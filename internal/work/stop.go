package work

import "time"

// Stop is why a work item is stopped, or last was stopped, and where GitHub
// says so. The same reason in the same place is the same stop, however often it is
// tried again.
type Stop struct {
	ItemID   int64
	Number   int    // the issue or pull request whose conversation says so
	Token    string // of the comment there
	Reason   Reason
	Attempts int // how often it came to this; 0 when it is over, and the next one counts anew
	Since    time.Time
	Ended    time.Time // when it resumed; zero: it lasts
	Taken    time.Time // since when people have the item, as the comment says; zero: it does not
}

// Lasts reports whether it is stopped now.
func (s Stop) Lasts() bool { return s.Attempts > 0 && s.Ended.IsZero() }

package work

import "time"

// Stop is why a work item stands still, or last stood still, and where GitHub
// says so. The same reason in the same place is the same stop, however often it is
// tried again meanwhile.
type Stop struct {
	ItemID   int64
	Number   int    // the issue or pull request whose conversation says so
	Token    string // of the comment there
	Reason   string // as GitHub is told
	Hint     string
	Attempts int // how often it came to this; 0 when it is over, and the next one counts anew
	Since    time.Time
	Ended    time.Time // when it went on; zero: it lasts
	Taken    time.Time // since when people have the item, as the comment says; zero: it does not
}

// Lasts reports whether it stands still now.
func (s Stop) Lasts() bool { return s.Attempts > 0 && s.Ended.IsZero() }

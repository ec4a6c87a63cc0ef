package work

import "time"

// Pause is a time in which people had taken an issue or a pull request over:
// the label agent:ignore stood on it, or /mergexo pause was said.
type Pause struct {
	RepoID  int64
	Number  int       // of the issue or the pull request
	LabelID int64     // timeline id of the labelling; 0: begun by a command
	Began   time.Time // GitHub's clock
	Ended   time.Time // GitHub's clock; zero: it lasts
	By      string    // login
}

// Open reports whether the pause lasts.
func (p Pause) Open() bool { return p.Ended.IsZero() }

// Covers reports whether something that happened at a time happened in the
// pause. GitHub's stamps are whole seconds: what shares its second with the
// beginning was said in the pause, and what shares it with the end after it.
func (p Pause) Covers(at time.Time) bool {
	return !at.Before(p.Began) && (p.Open() || at.Before(p.Ended))
}

// Meets reports whether any moment of a span, its ends included, lies in the
// pause.
func (p Pause) Meets(from, to time.Time) bool {
	return !to.Before(p.Began) && (p.Open() || from.Before(p.Ended))
}

// Reason is that the item is paused.
func (p Pause) Reason() Reason { return Reason{Kind: WhyPaused, Who: p.By, At: p.Began.UnixMilli()} }

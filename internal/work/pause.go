package work

import (
	"time"
)

// Pause is a time in which an issue or pull request was paused by the label agent:ignore or by
// /mergexo pause.
type Pause struct {
	RepoID  int64
	Number  int       // of the issue or the pull request
	LabelID int64     // timeline id of the labelling; 0: a command paused it
	Began   time.Time // GitHub's clock
	Ended   time.Time // GitHub's clock; zero: it lasts
	By      string    // login
}

// Open reports whether the pause still lasts.
func (p Pause) Open() bool { return p.Ended.IsZero() }

// Covers reports whether at is in the pause. GitHub's times are whole seconds: the second of the
// beginning is in the pause, the second of the end is after it.
func (p Pause) Covers(at time.Time) bool {
	return !at.Before(p.Began) && (p.Open() || at.Before(p.Ended))
}

// Reason returns the reason of a paused item.
func (p Pause) Reason() Reason { return Reason{Kind: WhyPaused, Who: p.By, At: p.Began.UnixMilli()} }

// PauseChange begins or ends a pause of a work item. A pause lasts until it is ended.
type PauseChange struct {
	Item   int64
	Number int       // of the issue or the pull request on which it begins
	Began  time.Time // on GitHub's clock; if set: begin a pause, also if one is open
	Ended  time.Time // on GitHub's clock; if set: end open pauses
	By     string    // login
}

// PauseBanner is a stopped item that was paused or resumed, whose comment does not say so yet.
type PauseBanner struct {
	Stop  Stop
	Pause Pause // zero: resumed
}

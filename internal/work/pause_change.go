package work

import "time"

// PauseChange has people take a work item over, from a moment on GitHub's clock, or
// gives it back: an item that is paused stays so until one ends it.
type PauseChange struct {
	Item  int64
	Began time.Time // set: begins one, unless one lasts
	Ended time.Time // set: ends what lasts
	By    string    // login
}

// PauseBanner is that people have taken an item over that stands still, or have given
// it back, and its comment does not say so yet.
type PauseBanner struct {
	Stop  Stop
	Pause Pause // zero: they have given it back
}

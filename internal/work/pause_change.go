package work

import "time"

// PauseChange has people pause a work item, from a moment on GitHub's clock, or
// ends that: an item that is paused stays so until one ends it.
type PauseChange struct {
	Item  int64
	Began time.Time // set: begins one, unless one lasts
	Ended time.Time // set: ends what lasts
	By    string    // login
}

// PauseBanner is that people have paused an item that is stopped, or have resumed
// it, and its comment does not say so yet.
type PauseBanner struct {
	Stop  Stop
	Pause Pause // zero: they have resumed it
}

package work

import "time"

// PauseChange begins or ends a pause of a work item. A pause lasts until it is ended.
type PauseChange struct {
	Item  int64
	Began time.Time // on GitHub's clock; if set: begin a pause, unless one is open
	Ended time.Time // on GitHub's clock; if set: end open pauses
	By    string    // login
}

// PauseBanner is a stopped item that was paused or resumed, whose comment does not say so yet.
type PauseBanner struct {
	Stop  Stop
	Pause Pause // zero: resumed
}

package batch

import "time"

// Now is the time by the clock of the repository's host.
func (h *Batch) Now() time.Time { return h.R.GitHub.Now() }

package batch

import "time"

const (
	// Overlap is re-read before the newest thing seen: GitHub's lists may lag
	// and its stamps have one-second resolution.
	Overlap = 5 * time.Minute
)

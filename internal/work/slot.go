package work

import "time"

// Holder is the content of a slot's lock file: the turn that runs in the slot. It is valid only
// while the lock is held.
type Holder struct {
	Repo   string    `json:"repo"` // host/owner/name
	Number int       `json:"number"`
	Issue  int       `json:"issue"`
	Turn   string    `json:"turn"`
	Since  time.Time `json:"since,omitzero"` // by this machine's clock
}

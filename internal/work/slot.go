package work

import "time"

// Holder is what a slot's lock file says of the turn that runs in it. It holds
// as long as the lock is held, and only then.
type Holder struct {
	Repo   string    `json:"repo"` // host/owner/name
	Number int       `json:"number"`
	Issue  int       `json:"issue"`
	Turn   string    `json:"turn"`
	Since  time.Time `json:"since,omitzero"` // by this machine's clock
}

package batch

import "github.com/mergexo/gh-mergexo/internal/github"

// Swept takes over what a light query said.
func (h *Batch) Swept(who github.Identity) {
	switch {
	case who.NodeID == h.Repo.NodeID:
		h.R.Confirm(h.Now())
	case who.NodeID != "", who.Gone:
		h.Another = true
	}
}

package batch

import "context"

// What people write on a pull request appears in lists, and who had the work
// then in its details. While those cannot be read nothing that is said there is
// judged: it might have been said in a pause.

// NoteUnread notes which pull requests are to be read, which could not be before,
// and about which GitHub did not even say whether they changed.
func (h *Batch) NoteUnread() {
	for n, pull := range h.Open.Light {
		light, seen := h.Lights[n]
		_, read := h.PullRows[n] // found again in this very pass
		if seen && h.Tried[n] {
			continue
		}
		if !seen && !read && !h.Rested[n] || seen && light != pull.Fingerprint || pull.Failures > 0 {
			h.Unread[n] = true
		}
	}
}

// WhyUnread is what was in the way of reading a pull request, as far as that is
// known.
func (h *Batch) WhyUnread(ctx context.Context, number int) string {
	for _, d := range h.Deferred {
		if d.Pull.Number == number {
			return ": " + d.Err.Error()
		}
	}
	if pull, _, err := h.Open.Whole(ctx, number); err == nil && pull.LastError != "" {
		return ": " + pull.LastError
	}
	return ""
}

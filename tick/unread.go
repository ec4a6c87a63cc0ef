package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What is said on a pull request comes to light in lists, and who had the work
// then in its details. While those cannot be read nothing that is said there is
// judged: it might have been said in a pause.

// noteUnread notes which pull requests are to be read, which could not be before,
// and about which GitHub did not even say whether they changed.
func (h *harvest) noteUnread() {
	h.unread = map[int]bool{}
	for n, pull := range h.open {
		light, seen := h.lights[n]
		_, read := h.pullRows[n] // found again in this very pass
		if !seen && !read || seen && light.Fingerprint != pull.Fingerprint || pull.Failures > 0 {
			h.unread[n] = true
		}
	}
}

// untold reports whether something that was said waits until its pull request
// can be read: the lists that show it are read again then. A command does not
// wait, it may be the way out.
func (h *Comments) untold(ctx context.Context, c candidate) (bool, error) {
	if len(h.unread) == 0 || !c.event.Kind.Said() || c.event.Kind == work.EventCommand {
		return false, nil
	}
	numbers, err := h.partners(ctx, c)
	at := slices.IndexFunc(numbers, func(n int) bool { return h.unread[n] })
	if err != nil || at < 0 {
		return false, err
	}
	said := fmt.Sprintf("what is said on #%d waits until the pull request can be read%s", numbers[at], h.whyUnread(numbers[at]))
	if h.late == nil && !slices.Contains(h.trouble, said) {
		h.trouble = append(h.trouble, said)
	}
	return true, nil
}

// whyUnread is what was in the way of reading a pull request, as far as that is
// known.
func (h *harvest) whyUnread(number int) string {
	for _, d := range h.deferred {
		if d.pull.Number == number {
			return ": " + d.err.Error()
		}
	}
	if last := h.open[number].LastError; last != "" {
		return ": " + last
	}
	return ""
}

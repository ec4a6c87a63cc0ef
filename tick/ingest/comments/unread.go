package comments

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// waitsForPull reports whether something that was said waits until its pull request
// can be read: the lists that show it are read again then. A command does not
// wait, it may be the way out.
func (h *Comments) waitsForPull(ctx context.Context, c batch.Inbound) (bool, error) {
	if len(h.Unread) == 0 || !c.Event.Kind.Said() || c.Event.Kind == work.EventCommand {
		return false, nil
	}
	numbers, err := h.partners(ctx, c)
	at := slices.IndexFunc(numbers, func(n int) bool { return h.Unread[n] })
	if err != nil || at < 0 {
		return false, err
	}
	said := fmt.Sprintf("comments on #%d wait until the pull request can be read%s", numbers[at], h.WhyUnread(ctx, numbers[at]))
	if h.Incomplete == nil && !slices.Contains(h.Trouble, said) {
		h.Trouble = append(h.Trouble, said)
	}
	return true, nil
}

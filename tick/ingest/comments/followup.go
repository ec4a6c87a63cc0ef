package comments

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// Since lists what was said on a turn's issue since the turn was claimed.
func (h *Comments) Since(ctx context.Context, l *env.Lease) ([]github.Comment, error) {
	return h.R.GitHub.CommentsOf(ctx, h.Repo.Current, l.Item.Number, l.Turn.ClaimedAt.Add(-batch.Overlap))
}

// ReadNewComments reads what was said on a turn's issue since the turn was claimed, as
// far as it counts and is not known. What does not count is ingest's to judge.
func (h *Comments) ReadNewComments(ctx context.Context, l *env.Lease) (err error) {
	if h.ListedComments, err = h.Since(ctx, l); err != nil {
		return err
	}
	for _, c := range h.ListedComments {
		h.Add(CommentEvent(work.EventSource, l.Item.ID, c))
	}
	if err := h.FilterEvents(ctx); err != nil {
		return err
	}
	if h.Incomplete != nil {
		return h.Incomplete
	}
	if len(h.Trouble) > 0 {
		return &work.WaitError{Until: h.Now().Add(h.P.Config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyNotRead, Local: h.Trouble[0]}}
	}
	h.Events = slices.DeleteFunc(h.Events, func(c batch.Inbound) bool { return c.Event.Outcome != "" })
	return nil
}

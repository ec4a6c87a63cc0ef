package comments

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// Comments takes in what people wrote.
type Comments struct {
	*batch.Batch
	people *batch.People
	known  lookups
}

// New takes comments into a batch.
func New(b *batch.Batch, people *batch.People) *Comments { return &Comments{Batch: b, people: people} }

// LogQueued logs, for each work item without a pull request, the comments on
// its issue that this batch found.
func (h *Comments) LogQueued(ctx context.Context, what string) {
	queued := batch.SourceEvents(h.Events)
	if len(queued) == 0 {
		return
	}
	opened := map[int64]bool{}
	for _, pull := range h.Open.Light {
		opened[pull.ItemID] = true
	}
	found := map[int64][]work.Event{}
	for _, e := range queued {
		if e.ItemID != 0 && !opened[e.ItemID] {
			found[e.ItemID] = append(found[e.ItemID], e)
		}
	}
	for item, comments := range found {
		from, to := env.IDRange(comments)
		h.P.Log.InfoContext(ctx, what, //nolint:sloglint // one of the fixed names of the followups' events
			"repo_full_name", h.R.Name.FullName(), "work_item_id", item, "issue_number", comments[0].Number, "comment_id_from", from, "comment_id_to", to)
	}
}

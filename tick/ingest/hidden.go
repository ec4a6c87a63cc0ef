package ingest

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// hiddenLife is the time after which GitHub is asked again whether a hidden comment is shown: that
// changes no stamp.
const hiddenLife = 30 * time.Minute

// readHidden makes comments that were hidden pending again when people show them again.
func (h *reading) readHidden(ctx context.Context) error {
	hidden := h.due.hidden
	if len(hidden) == 0 {
		return nil
	}
	var nodes []string
	var ids []int64
	for _, e := range hidden {
		nodes, ids = append(nodes, e.Node), append(ids, e.ID)
	}
	words, err := h.repo.GitHub.Words(ctx, nodes)
	if err != nil {
		return h.deferOne(h.untilStopped(err), "read which comments are hidden")
	}
	var shown []candidate
	for _, e := range hidden {
		if word, known := words[e.Node]; known && word.Ignored(e.Author) != work.OutcomeHidden {
			e.Outcome = ""
			shown = append(shown, candidate{event: e, word: word})
		}
	}
	others := h.events // they count as they are
	h.events = shown
	err = h.judgeEvents(ctx)
	h.events = others
	if err == nil {
		h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error { return tx.LookedAt(ctx, ids, now) })
	}
	return h.deferOne(h.untilStopped(err), "judge what is shown again")
}

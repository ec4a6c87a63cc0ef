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
	nodes := make([]string, len(hidden))
	for i, e := range hidden {
		nodes[i] = e.Node
	}
	words, err := h.repo.GitHub.Words(ctx, nodes)
	if err != nil {
		return h.deferOne(h.untilStopped(err), "read which comments are hidden")
	}
	var shown []candidate
	var still []int64
	for _, e := range hidden {
		word, known := words[e.Node]
		if e.Outcome = word.Ignored(e.Author); !known || e.Outcome == work.OutcomeHidden {
			still = append(still, e.ID)
			continue
		}
		shown = append(shown, candidate{event: e})
	}
	h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error { return tx.LookedAt(ctx, still, now) })
	if len(shown) == 0 {
		return nil
	}
	f, err := h.factsAbout(ctx, shown)
	if err != nil {
		return err
	}
	j, err := h.settle(ctx, f, func() *judgement {
		j := newJudgement(f)
		for _, c := range shown {
			if c.event.Outcome == "" && c.event.Kind.IsComment() {
				c.event.Outcome = j.paused(c)
			}
			j.readAgain = append(j.readAgain, c.event)
		}
		return j
	})
	if err != nil {
		return h.deferOne(h.untilStopped(err), "judge what is shown again")
	}
	h.judged = j
	return nil
}

package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// refind finds again what a lost database knew, before anything else is taken in: page by
// page, each a slice of its own, until all was looked at or the time is up.
func (h *Reading) refind(ctx context.Context, share shares) (whole bool, err error) {
	if h.Rebuild.Done() {
		return true, nil
	}
	for h.Incomplete == nil && !h.Rebuild.Done() {
		if err := h.refindSlowly(share.reading); err != nil {
			return false, err
		}
		if err := h.judge(ctx, true); err != nil {
			return false, err
		}
		if h.AskedEnough() {
			h.StopReading(batch.ErrAskedEnough)
		}
		h.Rebuild.Vouch()
		if err := h.keep(context.WithoutCancel(ctx), true); err != nil {
			return false, err
		}
		h.logFirstLook(ctx)
		if err := share.issues.Err(); err != nil {
			h.StopReading(err) // the next pass has time for what follows
		}
	}
	if h.Incomplete == nil {
		return true, nil
	}
	if at, underWay := h.Rebuild.Place(); underWay {
		h.Note = at.Resumes()
	}
	return false, h.keep(context.WithoutCancel(ctx), false)
}

// refindSlowly is refindPage, which whoever watches is told how far the look came of.
func (h *Reading) refindSlowly(ctx context.Context) error {
	if at, underWay := h.Rebuild.Place(); underWay {
		defer h.P.Slowly(h.P.Config.Called(h.R.Name) + ": " + at.Says())()
	}
	return h.refindPage(ctx)
}

func (h *Reading) logFirstLook(ctx context.Context) {
	at, _ := h.Rebuild.Place()
	h.P.Log.InfoContext(ctx, "first look at pull requests", "repo_full_name", h.R.Name.FullName(), "looked_at", at.LookedAt(), "open", at.All, "done", h.Rebuild.Done())
}

// refindPage finds again what one page of the open pull requests shows. That the time is
// up is no failure: what was read whole is kept.
func (h *Reading) refindPage(ctx context.Context) error {
	defer h.DropHalf()
	err := h.Rebuild.List(ctx)
	if err == nil {
		err = h.identify(ctx)
	}
	if err == nil {
		err = h.Rebuild.Adopt(ctx)
	}
	if batch.OutOfTime(err) {
		h.StopReading(err)
		return nil
	}
	return err
}

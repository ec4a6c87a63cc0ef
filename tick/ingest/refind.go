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
		if err := h.refindPage(share.reading); err != nil {
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
		h.P.Log.InfoContext(ctx, "pull requests found again", "repo_full_name", h.R.Name.FullName(), "progress", h.Rebuild.Progress())
		if err := share.issues.Err(); err != nil {
			h.StopReading(err) // the next pass has time for what follows
		}
	}
	if h.Incomplete == nil {
		return true, nil
	}
	if far := h.Rebuild.Progress(); far != "" {
		h.Note = far + "; " + batch.MoreNext
	}
	return false, h.keep(context.WithoutCancel(ctx), false)
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

package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/resume"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// shares are the parts of an ingest's time.
type shares struct{ issues, pulls, reading context.Context }

func (h *Reading) share(ctx context.Context) (shares, context.CancelFunc) {
	until := func(tenths int) (context.Context, context.CancelFunc) {
		return h.ingest.until(ctx, h.P.Config.Runtime.IngestTimeout*time.Duration(tenths)/10)
	}
	issues, endIssues := until(issuesUntil)
	pulls, endPulls := until(pullsUntil)
	reading, endReading := until(readUntil)
	return shares{issues, pulls, reading}, func() { endIssues(); endPulls(); endReading() }
}

// read asks GitHub, slice by slice. That the time is up is no failure: what was read is
// kept.
func (h *Reading) read(ctx context.Context) error {
	ctx, reads := ahead.With(ctx, asked)
	defer reads.Stop()
	h.R.Asked = reads
	ctx = resume.With(ctx, h.Lists)
	share, cancel := h.share(ctx)
	defer cancel()
	h.lists = h.walks()
	if err := h.fetch(share.reading); err != nil { // who we are decides what is ours: nothing is judged without
		return err
	}
	h.foresee(share.reading)
	if err := (env.Speakers{Env: h.P}).MeetAll(share.reading, h.R); err != nil {
		return err
	}
	if whole, err := h.refind(ctx, share); err != nil || !whole {
		return err
	}
	for first := true; ; first = false {
		if err := h.identify(share.reading); err != nil {
			return err
		}
		more, err := h.slice(share, first)
		if err != nil {
			return err
		}
		h.Partial = !h.lists.comments.Through() || !h.lists.reviews.Through()
		if err := h.judge(ctx, more); err != nil {
			return err
		}
		if err := h.keep(context.WithoutCancel(ctx), more); err != nil || !more {
			return err
		}
	}
}

// slice reads one slice: issues first, then pull requests, and then, when there are no
// more of both, what people wrote. It says whether there is more to read.
func (h *Reading) slice(share shares, first bool) (more bool, err error) {
	defer h.DropHalf()
	if first {
		h.labelWalks()
	}
	moreIssues, err := h.readIssues(share.issues)
	if err != nil {
		return false, err
	}
	morePulls, err := h.pulls.ReadPulls(share.pulls)
	if err != nil {
		return false, err
	}
	if !moreIssues && !morePulls {
		if more, err = h.readComments(share.reading); err != nil {
			return false, err
		}
	}
	if moreIssues || morePulls || more {
		return true, nil
	}
	return false, h.readRest(share.reading)
}

// readIssues takes in a page of what changed among issues and pull requests, or what is
// left of one.
func (h *Reading) readIssues(ctx context.Context) (more bool, err error) {
	if err := h.fetchIssues(ctx); err != nil {
		return false, err
	}
	return h.Issues.intakeIssues(ctx, h.lists.issues)
}

// readComments takes in a page of what people wrote.
func (h *Reading) readComments(ctx context.Context) (more bool, err error) {
	talk, lines := h.lists.comments, h.lists.reviews
	if !talk.Waits() && !lines.Waits() {
		if err := h.fetchComments(ctx); err != nil {
			return false, err
		}
	}
	h.ListedComments = append(h.ListedComments, talk.Take(h.Batch)...)
	h.ReviewComments = append(h.ReviewComments, lines.Take(h.Batch)...)
	return !talk.Over() || !lines.Over(), nil
}

// readRest reads what is read once in a pass, when all else is known.
func (h *Reading) readRest(ctx context.Context) error {
	for _, read := range []func(context.Context) error{h.merges.Read, h.Issues.readDependencies} {
		if err := read(ctx); batch.OutOfTime(err) {
			h.StopReading(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// judge decides what of a slice counts. What waits since earlier passes is looked at with
// the last one.
func (h *Reading) judge(ctx context.Context, more bool) error {
	sifts := []func(context.Context) error{h.Comments.StorePauses, h.Comments.IntakeComments, h.Comments.FilterEvents}
	if !more {
		sifts = append(sifts, h.Comments.JudgePaused, h.Issues.askCommandersAgain)
	}
	for _, sift := range append(sifts, h.Rebuild.ReadJournals) {
		if err := sift(ctx); err != nil {
			return err
		}
	}
	return nil
}

// keep stores a slice, and begins the next one.
func (h *Reading) keep(ctx context.Context, more bool) error {
	h.Comments.LogQueued(ctx, "issue comments seen")
	put := h.conclude
	if more {
		put = h.store
	}
	if err := h.P.Store.Update(ctx, func(tx *store.Tx) error { return put(ctx, tx, h.Now()) }); err != nil {
		return fmt.Errorf("store what was read: %w", err)
	}
	h.ingest.SetRepo(h.R, h.Repo)
	h.log(ctx)
	h.Comments.LogQueued(ctx, "issue comments queued")
	h.Next()
	return nil
}

package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// shares are the time limits for the parts of an ingest.
type shares struct{ issues, pulls, reading context.Context }

func (h *reading) share(ctx context.Context) (shares, context.CancelFunc) {
	until := func(tenths int) (context.Context, context.CancelFunc) {
		return h.ingest.until(ctx, h.env.Config.Runtime.IngestTimeout*time.Duration(tenths)/10)
	}
	issues, endIssues := until(issuesUntil)
	pulls, endPulls := until(pullsUntil)
	reading, endReading := until(readUntil)
	return shares{issues, pulls, reading}, func() { endIssues(); endPulls(); endReading() }
}

// read reads the repository slice by slice. Running out of time is no failure: what was read is
// kept.
func (h *reading) read(ctx context.Context) error {
	ctx, reads := ahead.With(ctx, answersLast)
	defer reads.Stop()
	h.repo.Asked = reads
	share, cancel := h.share(ctx)
	defer cancel()
	if err := h.fetch(share.reading); err != nil { // our account decides what is ours: nothing is judged without it
		return err
	}
	h.prefetch(share.reading)
	if err := (env.Speakers{Env: h.env}).RecordReviewers(share.reading, h.repo); err != nil {
		return err
	}
	if whole, err := h.searchOpenPulls(ctx, share); err != nil || !whole {
		return err
	}
	for first := true; ; first = false {
		if err := h.identify(share.reading); err != nil {
			return err
		}
		more, err := h.readSlice(share, first)
		if err != nil {
			return err
		}
		h.partial = !h.lists.commentsRead()
		if err := h.judge(ctx, more); err != nil {
			return err
		}
		if err := h.keep(context.WithoutCancel(ctx), more); err != nil || !more {
			return err
		}
	}
}

// readSlice reads one slice: issues first, then pull requests, then, if neither has more, comments.
// more reports whether there is more to read.
func (h *reading) readSlice(share shares, first bool) (more bool, err error) {
	defer h.dropUnreadAdoptions()
	if first {
		h.labelWalks()
	}
	moreIssues, err := h.readIssues(share.issues)
	if err != nil {
		return false, err
	}
	morePulls, err := h.readPulls(share.pulls)
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

// readIssues ingests a page of changed issues and pull requests, or the rest of one.
func (h *reading) readIssues(ctx context.Context) (more bool, err error) {
	if err := h.fetchIssues(ctx); err != nil {
		return false, err
	}
	return h.intakeIssues(ctx, h.lists.issues)
}

// readComments ingests a page of comments.
func (h *reading) readComments(ctx context.Context) (more bool, err error) {
	if !slices.ContainsFunc(h.lists.comments, func(w *walk) bool { return w.waiting }) {
		if err := h.fetchComments(ctx); err != nil {
			return false, err
		}
	}
	for _, w := range h.lists.comments {
		h.comments = append(h.comments, w.take()...)
		more = more || !w.over()
	}
	return more, nil
}

// readRest does the reads that come last and once per pass.
func (h *reading) readRest(ctx context.Context) error {
	for _, read := range []func(context.Context) error{h.readMergeBoxes, h.readDesigns, h.readDependencies, h.readBlockers, h.readSubIssues, h.readAgentMerge} {
		if err := read(ctx); github.OutOfTime(err) {
			h.stopReading(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// judge decides what of a slice counts. Events pending since earlier passes are judged with the
// last slice.
func (h *reading) judge(ctx context.Context, more bool) error {
	sifts := []func(context.Context) error{h.storePauses, h.intakeComments, h.filterEvents}
	if !more {
		sifts = append(sifts, h.judgePaused, h.readHidden, h.askCommandersAgain)
	}
	for _, sift := range sifts {
		if err := sift(ctx); err != nil {
			return err
		}
	}
	return nil
}

// keep stores a slice and begins the next one.
func (h *reading) keep(ctx context.Context, more bool) error {
	h.logQueued(ctx, "issue comments seen")
	put := h.conclude
	if more {
		put = h.store
	}
	now := h.now()
	if err := h.env.Store.Update(store.Under(ctx, h.repo.Planning()), func(tx *store.Tx) error { return put(ctx, tx, now) }); err != nil {
		return fmt.Errorf("store what was read: %w", err)
	}
	if !more {
		h.row.HeartbeatAt = now
	}
	h.ingest.setRepo(h.repo, h.row)
	h.log(ctx)
	h.logQueued(ctx, "issue comments queued")
	h.next()
	return nil
}

// log writes a line for each new event, and a warning for those on which an operator may want to
// act.
func (h *reading) log(ctx context.Context) {
	for _, c := range h.events {
		e := c.event
		h.env.Log.InfoContext(ctx, "event", h.eventAttrs(c, "outcome", e.Outcome)...)
		switch e.Outcome {
		case work.OutcomeNoCommander:
			h.env.Log.WarnContext(ctx, "a command was ignored: its author has no write permission", h.eventAttrs(c)...)
		case work.OutcomeTakenOver:
			h.env.Log.WarnContext(ctx, "a login of the config is another account now; to accept it, write the value of entry there",
				h.eventAttrs(c, "account_id_before", h.permissions.takenOver[e.Author.ID], "entry", fmt.Sprintf("%s:%d", e.Author.Login, e.Author.ID))...)
		case work.OutcomeEditedByOther:
			h.env.Log.WarnContext(ctx, "a comment does not count: the last to edit it is not its author", h.eventAttrs(c, "editor", c.word.Editor.Login)...)
		case work.OutcomeOwnEdited:
			h.env.Log.WarnContext(ctx, "somebody edited a comment of gh mergexo; it still does not count as feedback", h.eventAttrs(c)...)
		case work.OutcomeNoLabeller:
			h.env.Log.WarnContext(ctx, "a label starts no work: the account that set it has no triage permission", h.eventAttrs(c, "label", e.State)...)
		}
	}
}

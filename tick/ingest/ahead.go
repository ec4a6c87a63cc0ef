package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
)

// What is read first of a number depends on no other one: the timeline of an issue, the details of a pull
// request. So those of the next numbers are read side by side, and then the numbers one by one, in order.

const (
	mostAhead  = 50 // numbers that are read side by side
	atOnce     = 10 // requests of them at a time, and questions about authors
	aheadUntil = 4  // tenths of Timings.IngestTimeout for that
)

// readAhead reads what is read first of the next numbers. What GitHub does not answer is read again with its
// number, and its error is the number's. If one hangs, all that follow are read by themselves.
func (h *reading) readAhead(ctx, most context.Context) {
	if h.slow || h.next[0].ahead {
		return
	}
	var reads []func(context.Context) error
	var pulls []string
	asked := 0
	for _, c := range h.next[:min(len(h.next), mostAhead)] {
		if c.done || c.waits || c.ahead {
			continue
		}
		if c.ahead = true; c.unheard { // what was said comes first: it is judged by the pauses before it
			continue
		}
		if open, is := h.openPulls[c.Number]; is && (c.details || c.waited) {
			asked++
			pulls = append(pulls, open.NodeID)
			continue
		}
		if c.issue == nil || c.issue.IsPull {
			continue
		}
		if h.needsTimeline(h.listedIssue(ctx, *c.issue)) {
			asked++
			reads = append(reads, func(ctx context.Context) error {
				timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, c.Number)
				if err == nil {
					c.timeline = &timeline
				}
				return err
			})
		}
	}
	for ids := range slices.Chunk(pulls, github.MaxDetails) {
		reads = append(reads, func(ctx context.Context) error {
			all, _, err := h.repo.GitHub.DetailsSince(ctx, ids, h.readSince(ids))
			for _, d := range all {
				h.numbers[d.Number].detail = &d
			}
			return err
		})
	}
	if asked < 2 { // it is read next
		return
	}
	most, cancel := h.until(most, h.config.Runtime.IngestTimeout*aheadUntil/10)
	defer cancel()
	err := errors.Join(github.AtOnce(most, atOnce, reads)...)
	h.slow = errors.Is(err, context.DeadlineExceeded)
}

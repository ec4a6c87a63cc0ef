package ingest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// One issue or pull request is ingested whole or not at all. If the time of a pass does not suffice
// for the first one that it reads, no other pass would get further with it, and those behind it
// would never be read: it waits, at growing intervals, and passes say so.

// leaveLong leaves an issue or pull request in the backlog because it takes longer than a pass.
func (h *reading) leaveLong(number int) {
	h.backlog[number], h.tooLong[number] = true, true
	_ = h.tellLong(number)
}

// leaveLongPull is leaveLong for a pull request whose details are read. If issues took half of the
// pass, a tracked one is only read later. An adopted one is not: its issue would take that time
// again.
func (h *reading) leaveLongPull(nodeID string, hurried bool) {
	for n, pull := range h.openPulls.light {
		if pull.NodeID != nodeID {
			continue
		}
		if _, found := h.adopted[n]; found {
			h.leaveLong(n)
		} else if !hurried {
			h.deferPull(nodeID, h.tellLong(n))
		}
		return
	}
}

// tellLong reports that an issue or pull request takes longer than a pass, and returns that as an
// error.
func (h *reading) tellLong(number int) error {
	h.long = fmt.Sprintf("#%d has more to read than a pass has time for (%s); ingest_timeout under [runtime] in the config gives it more", number, h.env.Config.Runtime.IngestTimeout)
	if !slices.Contains(h.trouble, h.long) {
		h.trouble = append(h.trouble, h.long)
	}
	return errors.New(h.long)
}

// waits reports whether a number of the backlog is left for a later pass because an earlier one had
// too little time for it. More time, and a person who asks for this pass, end that.
func (h *reading) waits(number int) bool {
	b, late := h.known.late[number]
	return late && !h.env.AtOnce && h.env.Config.Runtime.IngestTimeout <= b.Within && b.At.After(h.now()) && !env.Future(b.At, h.now(), work.LongestWait)
}

// backlogged returns the row of a number that was not ingested.
func (h *reading) backlogged(number int, now time.Time) store.Backlogged {
	b := store.Backlogged{Number: number, At: now, Failures: h.known.late[number].Failures}
	if h.tooLong[number] {
		b.Failures++
		b.Within = h.env.Config.Runtime.IngestTimeout
		b.At = now.Add(min(work.Backoff(h.env.Config.Runtime.RetryBase, b.Failures), work.LongestWait))
	}
	return b
}

package batch

import (
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A walk begins at "since", which moves from page to page, but never past what a list may
// still lack: only over pages that were read when all that stands on them was older than
// the overlap. After many changes at once that are younger there are many pages behind it.
// So that passes do not read all of them again, the next ones begin where the last page
// does, which is the front. What lagged is looked for from "since" on as soon as the
// overlap has passed: those pages have kept their addresses, and so their ETags.

// front is where walks may begin that need not begin at "since", and until when.
type front struct{ at, until time.Time }

// frontOf is the name under which a walk's front is stored.
func frontOf(name string) string { return "front " + name }

// parseFront reads a stored front.
func parseFront(stored string) front {
	at, until, _ := strings.Cut(stored, " ")
	return front{cutAt(at), cutAt(until)}
}

func (f front) String() string {
	return f.at.UTC().Format(time.RFC3339) + " " + f.until.UTC().Format(time.RFC3339)
}

// keepFront keeps where the next walk may begin, once this one came to the end. When all is
// read again was decided by the first walk that left something young behind it.
func (w *Walk[T]) keepFront(h *Batch) string {
	next := front{at: github.SinceOf(w.last), until: w.front.until}
	if w.Since == nil || !next.at.After(*w.Since) {
		return ""
	}
	if !w.behind || next.until.IsZero() {
		next.until = h.Now().Add(Overlap)
	}
	return next.String()
}

// advance moves "since" to where the next page begins, and says whether it did: if what is
// before that cannot change any more but by moving to the end. Neither may what stands in
// that second and the next one: the page may be full of it.
func (w *Walk[T]) advance(h *Batch, next time.Time) bool {
	if held := h.held[w.Name]; !held.IsZero() && held.Before(next) {
		next = held
	}
	if w.Since == nil || w.behind || next.After(w.asked.Add(-Overlap-2*time.Second)) || !next.After(*w.Since) {
		return false
	}
	*w.Since, h.stale[w.Name] = next, next
	return true
}

// lastOfSecond is the last page that was taken in of those that begin at one second: there
// is nothing but a number to tell them apart. A walk begins there: otherwise a pass that has
// no time for all of them would never get past, and one that has would read all of them for
// nothing. A page that was read when its second was older than the overlap lacks nothing. One
// that was read before may, though those behind it are as they were: it is passed only where
// the second is still young, or a cut walk resumes, and that walk then vouches for nothing.
// A full page is never passed for one behind it that was empty.
func lastOfSecond(pages map[string]work.Validator, address string, hurried bool) (last string, lacks bool) {
	for range pages {
		v := pages[address]
		if v.Next == "" || strings.HasSuffix(v.Next, behindAll) || !github.SinceOf(v.Next).Equal(github.SinceOf(address)) {
			break
		}
		if !settledBy(v, v.SeenAt) {
			if !hurried {
				break
			}
			lacks = true
		}
		address = v.Next
	}
	return address, lacks
}

// settledBy reports whether a page cannot lack anything any more at some time.
func settledBy(page work.Validator, at time.Time) bool {
	return !at.Before(github.SinceOf(page.URL).Add(Overlap + 2*time.Second))
}

package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// openPulls are the open pull requests. A pass loads enough of each to see whether it must be read,
// and the whole rows only of those: if nothing changed, none of a thousand.
type openPulls struct {
	light map[int]store.OpenPull // by number
	rows  map[int]work.PullRequest
	read  func(context.Context, int) (work.PullRequest, bool, error)
}

func newOpenPulls(read func(context.Context, int) (work.PullRequest, bool, error)) openPulls {
	return openPulls{map[int]store.OpenPull{}, map[int]work.PullRequest{}, read}
}

// know replaces all open pull requests; their whole rows are not loaded.
func (o *openPulls) know(all []store.OpenPull) {
	o.light = make(map[int]store.OpenPull, len(all))
	for _, pull := range all {
		o.light[pull.Number] = pull
	}
}

// put adds or replaces an open pull request.
func (o *openPulls) put(pull work.PullRequest) {
	o.light[pull.Number], o.rows[pull.Number] = store.OpenPullOf(pull), pull
}

// drop removes a pull request.
func (o *openPulls) drop(number int) {
	delete(o.light, number)
	delete(o.rows, number)
}

// whole returns the whole row of an open pull request, without the changes of this slice.
func (o *openPulls) whole(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if _, open := o.light[number]; !open {
		return work.PullRequest{}, false, nil
	}
	if pull, read := o.rows[number]; read {
		return pull, true, nil
	}
	pull, ok, err := o.read(ctx, number)
	if ok && err == nil {
		o.rows[number] = pull
	}
	return pull, ok, err
}

// before returns the earlier row of a pull request whose details this slice read.
func (o *openPulls) before(number int) (work.PullRequest, bool) {
	pull, open := o.rows[number]
	return pull, open
}

// stored takes over the pull requests that a slice stored. Their whole rows are in the database.
func (o *openPulls) stored(pulls map[int]*pullNews) {
	for n, news := range pulls {
		if !news.read {
			continue
		}
		o.drop(n)
		if news.row.State == work.PullOpen {
			o.light[n] = store.OpenPullOf(news.row)
		}
	}
}

// Lists show comments on a pull request, and its details show who had the work at that time. While
// the details cannot be read, no comment on it is judged: it may have been made in a pause.

// noteUnread records the pull requests that must be read and could not be before, and those about
// which GitHub did not even report whether they changed.
func (h *reading) noteUnread() {
	for n, pull := range h.openPulls.light {
		light, seen := h.lights[n]
		_, read := h.readPull(n) // adopted in this pass
		if seen && h.tried[n] {
			continue
		}
		if !seen && !read || seen && light != pull.Fingerprint || pull.Failures > 0 {
			h.unread[n] = true
		}
	}
}

// whyUnread returns the error that kept a pull request from being read, if known.
func (h *reading) whyUnread(ctx context.Context, number int) string {
	for _, d := range h.deferred {
		if d.pull.Number == number {
			return ": " + d.err.Error()
		}
	}
	if pull, _, err := h.openPulls.whole(ctx, number); err == nil && pull.LastError != "" {
		return ": " + pull.LastError
	}
	return ""
}

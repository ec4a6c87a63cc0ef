package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// openPulls are the open pull requests. A pass knows enough of each to see whether it is to be
// read, and reads the whole rows of those alone: where nothing changed that is none of a
// thousand.
type openPulls struct {
	light map[int]store.OpenPull // by number
	rows  map[int]work.PullRequest
	read  func(context.Context, int) (work.PullRequest, bool, error)
}

func newOpenPulls(read func(context.Context, int) (work.PullRequest, bool, error)) openPulls {
	return openPulls{map[int]store.OpenPull{}, map[int]work.PullRequest{}, read}
}

// know has some be open, and no others, of which no more than that is known.
func (o *openPulls) know(all []store.OpenPull) {
	o.light = make(map[int]store.OpenPull, len(all))
	for _, pull := range all {
		o.light[pull.Number] = pull
	}
}

// put has one be open, as it is given.
func (o *openPulls) put(pull work.PullRequest) {
	o.light[pull.Number], o.rows[pull.Number] = store.OpenPullOf(pull), pull
}

// drop has one be open no more.
func (o *openPulls) drop(number int) {
	delete(o.light, number)
	delete(o.rows, number)
}

// whole is the whole row of one, as it was before this slice.
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

// before is the whole row of one whose details this slice read, as it was before.
func (o *openPulls) before(number int) (work.PullRequest, bool) {
	pull, open := o.rows[number]
	return pull, open
}

// stored takes over what a slice stored of them: what is whole is in the database.
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

// What people write on a pull request appears in lists, and who had the work
// then in its details. While those cannot be read nothing that is said there is
// judged: it might have been said in a pause.

// noteUnread notes which pull requests are to be read, which could not be before,
// and about which GitHub did not even say whether they changed.
func (h *reading) noteUnread() {
	for n, pull := range h.openPulls.light {
		light, seen := h.lights[n]
		_, read := h.readPull(n) // found again in this very pass
		if seen && h.tried[n] {
			continue
		}
		if !seen && !read && !h.rested[n] || seen && light != pull.Fingerprint || pull.Failures > 0 {
			h.unread[n] = true
		}
	}
}

// whyUnread is what was in the way of reading a pull request, as far as that is
// known.
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

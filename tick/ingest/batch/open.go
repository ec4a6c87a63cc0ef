package batch

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// OpenPulls are the open pull requests. A pass knows enough of each to see whether it is to be
// read, and reads the whole rows of those alone: where nothing changed that is none of a
// thousand.
type OpenPulls struct {
	Light map[int]store.OpenPull // by number
	whole map[int]work.PullRequest
	read  func(context.Context, int) (work.PullRequest, bool, error)
}

func newOpenPulls(read func(context.Context, int) (work.PullRequest, bool, error)) OpenPulls {
	return OpenPulls{map[int]store.OpenPull{}, map[int]work.PullRequest{}, read}
}

// Know has some be open, and no others, of which no more than that is known.
func (o *OpenPulls) Know(all []store.OpenPull) {
	o.Light = make(map[int]store.OpenPull, len(all))
	for _, pull := range all {
		o.Light[pull.Number] = pull
	}
}

// Put has one be open, as it is given.
func (o *OpenPulls) Put(pull work.PullRequest) {
	o.Light[pull.Number], o.whole[pull.Number] = store.OpenPullOf(pull), pull
}

// Drop has one be open no more.
func (o *OpenPulls) Drop(number int) {
	delete(o.Light, number)
	delete(o.whole, number)
}

// Whole is the whole row of one, as it was before this slice.
func (o *OpenPulls) Whole(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if _, open := o.Light[number]; !open {
		return work.PullRequest{}, false, nil
	}
	if pull, read := o.whole[number]; read {
		return pull, true, nil
	}
	pull, ok, err := o.read(ctx, number)
	if ok && err == nil {
		o.whole[number] = pull
	}
	return pull, ok, err
}

// Before is the whole row of one whose details this slice read, as it was before.
func (o *OpenPulls) Before(number int) (work.PullRequest, bool) {
	pull, open := o.whole[number]
	return pull, open
}

// stored takes over what a slice stored of them: what is whole is in the database.
func (o *OpenPulls) stored(pulls map[int]work.PullRequest) {
	for n, pull := range pulls {
		o.Drop(n)
		if pull.State == work.PullOpen {
			o.Light[n] = store.OpenPullOf(pull)
		}
	}
}

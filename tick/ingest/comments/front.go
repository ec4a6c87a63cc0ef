package comments

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// beside is how many people are asked about at a time.
const beside = 8

// front goes over a slice's events ahead of those who judge them, one by one and in order,
// and asks in advance about the people whose words are new: as many at a time, and no more
// than are asked about at all.
type front struct {
	*Comments
	known map[string]store.KnownEvent // what was stored before, or is judged already
	at    int                         // how far it came
	met   []int64                     // who was asked about
	going []work.Event                // and is still to be judged
}

// judges says that somebody's word is judged next.
func (f *front) judges(ctx context.Context, who work.Account) {
	for ; f.at < len(f.Events) && len(f.going) < beside; f.at++ {
		c := f.Events[f.at]
		if f.asksAbout(ctx, c) && f.people.ForeseeFeed(ctx, c.Event, f.going) {
			f.met, f.going = append(f.met, c.Event.Author.ID), append(f.going, c.Event)
		}
	}
	f.going = slices.DeleteFunc(f.going, func(e work.Event) bool { return e.Author.ID == who.ID })
}

// asksAbout reports whether a word counts only if its author may write here, about whom
// nobody was asked yet.
func (f *front) asksAbout(ctx context.Context, c batch.Inbound) bool {
	e := c.Event
	if slices.Contains(f.met, e.Author.ID) || c.Pending || !e.Kind.Written() || e.Outcome != "" {
		return false
	}
	_, known := f.known[e.Key]
	_, marked := work.ParseMarks(e.Body)
	if known || marked || slices.Contains(f.P.Accounts.Writers(f.R.Name.Host), e.Author.ID) {
		return false
	}
	theirs, err := f.onTheirs(ctx, e)
	if theirs || err != nil {
		return false
	}
	waits, err := f.waitsForPull(ctx, c)
	return !waits && err == nil
}

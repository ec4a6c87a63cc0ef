package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// lately is how long finished items are shown without --all.
const lately = 24 * time.Hour

// loadEnded reads a repository's items that ended within lately: each with a pull request, as of a design
// and its implementation, and of an issue's items without one the last.
func loadEnded(ctx context.Context, tx *store.Tx, q Query, r work.Repo) (all []Item, err error) {
	since := q.Now.Add(-lately)
	items, err := tx.ListEndedItems(ctx, r.ID, since)
	if err != nil {
		return nil, err
	}
	sorted.By(items, func(x, y work.Item) int { return x.Since.Compare(y.Since) })
	for n, i := range items {
		pull, has, err := tx.FindPullOfItem(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		if has && !pull.EndedAt.IsZero() { // a design ends again with its implementation
			i.Since = pull.EndedAt
		}
		if i.Since.Before(since) || !has && slices.ContainsFunc(items[n+1:], func(later work.Item) bool { return later.Number == i.Number }) {
			continue
		}
		all = append(all, ItemFacts{Item: known.Item{Item: i, Pull: pull}, Repo: r, Called: q.Config.Called(r.Name), Now: q.Now}.shown())
	}
	return all, nil
}

// result is what became of a finished item. Its issue may be open.
func (i Item) result() string {
	p := i.pull()
	switch {
	case i.State == string(roadmap.Cancelled):
		return "the roadmap was cancelled"
	case p.closing:
		return fmt.Sprintf("#%d is being closed", p.Number)
	case p.Number == 0 || p.State == work.PullOpen:
		return "the work ended"
	case p.Number == i.Number:
		return string(p.State)
	}
	return fmt.Sprintf("#%d is %s", p.Number, p.State)
}

// printEnded prints recently finished items for people.
func (b Board) printEnded(out terminal.Output) error {
	if len(b.finished) == 0 || b.all {
		return nil
	}
	if len(b.Items) == 0 {
		fmt.Fprintln(out.W)
	}
	fmt.Fprintln(out.W, out.Bold("ENDED IN THE LAST 24 HOURS"))
	for _, i := range b.finished {
		line := fmt.Sprintf("%s: %s: %s", i.ref(), terminal.OneLine(i.Title), i.result())
		fmt.Fprint(out.W, out.Linked(fmt.Sprintf("%4s  ", terminal.Age(i.Since.Time, b.now)), line, i.address()))
	}
	_, err := fmt.Fprintln(out.W)
	return err
}

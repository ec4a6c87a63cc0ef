package status

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// lately is how long finished items are shown without --all.
const lately = 24 * time.Hour

// ended is an issue that was merged or closed lately.
type ended struct {
	work.Item
	called    string    // its repository's name
	at        time.Time // when it ended, as far as a pass saw
	pull      work.PullRequest
	merged    *Merged // by gh mergexo; nil: merged by somebody else, or not merged
	cancelled bool    // it is a roadmap
}

// loadEnded reads a repository's issues that ended within lately, newest first. Of several items of an
// issue, such as a design and its implementation, it is the one that ended last.
func loadEnded(ctx context.Context, tx *store.Tx, q Query, r work.Repo) ([]ended, error) {
	items, err := tx.ListEndedItems(ctx, r.ID, q.Now.Add(-lately))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(items, func(x, y work.Item) int { return x.Since.Compare(y.Since) })
	all := make([]ended, 0, len(items))
	for n, i := range items {
		if slices.ContainsFunc(items[n+1:], func(later work.Item) bool { return later.Number == i.Number }) {
			continue
		}
		pull, _, err := tx.FindPullOfItem(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		merged, err := loadMerged(ctx, tx, pull)
		if err != nil {
			return nil, err
		}
		if merged != nil && merged.Stage != merging.Landed {
			merged = nil
		}
		all = append(all, ended{i, q.Config.Called(r.Name), i.Since, pull, merged, i.Reason.Kind == work.WhyRoadmapCancelled})
	}
	return all, nil
}

// says is the item's result.
func (e ended) says() string {
	if e.cancelled {
		return "cancelled"
	}
	is := "merged"
	if e.State == work.StateClosed {
		is = "closed"
	}
	if e.pull.Number != 0 && e.pull.Number != e.Number {
		is = fmt.Sprintf("#%d is %s", e.pull.Number, is)
	}
	if e.merged == nil {
		return is
	}
	return is + " (" + e.merged.says() + ")"
}

// link is its URL on GitHub.
func (e ended) link() string { return cmp.Or(e.pull.URL, e.URL) }

// printEnded prints recently finished items for people.
func (b Board) printEnded(out terminal.Output, to io.Writer) error {
	if len(b.finished) == 0 || b.all {
		return nil
	}
	if len(b.Items) == 0 {
		fmt.Fprintln(to)
	}
	if _, err := fmt.Fprintln(to, out.Bold("MERGED OR CLOSED IN THE LAST 24 HOURS")); err != nil {
		return err
	}
	for _, e := range b.finished {
		line := fmt.Sprintf("%s#%d: %s: %s", e.called, e.Number, terminal.OneLine(e.Title), e.says())
		if _, err := fmt.Fprint(to, out.Linked(fmt.Sprintf("%4s  ", terminal.Age(e.at, b.now)), line, e.link())); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(to)
	return err
}

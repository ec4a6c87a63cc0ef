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
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

// lately is how long finished items are shown without --all.
const lately = 24 * time.Hour

// Ended is an issue that was merged or closed lately.
type Ended struct {
	Repo   string        `json:"repo"`        // owner/name, with the host in front where two hosts are configured
	Number int           `json:"number"`      // of the issue or pull request
	Title  string        `json:"title"`       // the title
	URL    string        `json:"url"`         // its address on GitHub; empty: it has none
	State  work.State    `json:"state"`       // `completed`, `merged` (a design), `closed`, `cancelled` (a roadmap)
	At     terminal.Time `json:"at"`          // when it was merged or closed, as far as a pass saw
	Pull   string        `json:"pullRequest"` // its address; empty: it had none
	Commit string        `json:"commit"`      // the commit that our merge put on the base; empty: gh mergexo did not merge it

	pull   int     // 0: it had none
	merged *Merged // by gh mergexo; nil: merged by somebody else, or not merged
}

// loadEnded reads a repository's issues that ended within lately, newest first. Of several items of an
// issue, such as a design and its implementation, it is the one that ended last.
func loadEnded(ctx context.Context, tx *store.Tx, q Query, r work.Repo) ([]Ended, error) {
	items, err := tx.ListEndedItems(ctx, r.ID, q.Now.Add(-lately))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(items, func(x, y work.Item) int { return x.Since.Compare(y.Since) })
	all := make([]Ended, 0, len(items))
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
		e := Ended{
			Repo: q.Config.Called(r.Name), Number: i.Number, Title: i.Title, URL: i.URL, State: i.State, At: terminal.Stamp(i.Since), Pull: pull.URL,
			pull: pull.Number,
		}
		if i.Reason.Kind == work.WhyRoadmapCancelled {
			e.State = work.State(roadmap.Cancelled)
		}
		if merged != nil && merged.Stage == merging.Landed {
			e.Commit, e.merged = merged.Commit, merged
		}
		all = append(all, e)
	}
	return all, nil
}

// says is the item's result.
func (e Ended) says() string {
	if e.State == work.State(roadmap.Cancelled) {
		return string(e.State)
	}
	is := "merged"
	if e.State == work.StateClosed {
		is = "closed"
	}
	if e.pull != 0 && e.pull != e.Number {
		is = fmt.Sprintf("#%d is %s", e.pull, is)
	}
	if e.merged == nil {
		return is
	}
	return is + " (" + e.merged.says() + ")"
}

// link is its URL on GitHub.
func (e Ended) link() string { return cmp.Or(e.Pull, e.URL) }

// printEnded prints recently finished items for people.
func (b Board) printEnded(out terminal.Output, to io.Writer) error {
	if len(b.Finished) == 0 || b.all {
		return nil
	}
	if len(b.Items) == 0 {
		fmt.Fprintln(to)
	}
	if _, err := fmt.Fprintln(to, out.Bold("MERGED OR CLOSED IN THE LAST 24 HOURS")); err != nil {
		return err
	}
	for _, e := range b.Finished {
		line := fmt.Sprintf("%s#%d: %s: %s", e.Repo, e.Number, terminal.OneLine(e.Title), e.says())
		if _, err := fmt.Fprint(to, out.Linked(fmt.Sprintf("%4s  ", terminal.Age(e.At.Time, b.now)), line, e.link())); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(to)
	return err
}

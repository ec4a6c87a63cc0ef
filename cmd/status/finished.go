package status

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// lately is how long finished items are shown without --all.
const lately = 24 * time.Hour

// ended is a work item that was merged or closed lately.
type ended struct {
	work.Item
	ref    string
	pull   work.PullRequest
	merge  *merging.Merge // by gh mergexo; nil: merged by somebody else, or not merged
	revert string         // URL of the pull request that reverts it; empty: none
}

// loadEnded reads a repository's items that ended within lately, newest first.
func loadEnded(ctx context.Context, tx *store.Tx, q Query, r repoStatus) ([]ended, error) {
	items, err := tx.ListEndedItems(ctx, r.ID, q.Now.Add(-lately))
	if err != nil {
		return nil, err
	}
	all := make([]ended, 0, len(items))
	for _, i := range items {
		e := ended{Item: i, ref: fmt.Sprintf("%s#%d", r.called, i.Number)}
		if e.pull, _, err = tx.FindPullOfItem(ctx, i.ID); err != nil {
			return nil, err
		}
		if e.merge, e.revert, err = landedOf(ctx, tx, r.Repo, e.pull); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// landedOf returns our merge of a pull request's head, if it landed, and the URL of its revert.
func landedOf(ctx context.Context, tx *store.Tx, r work.Repo, pull work.PullRequest) (m *merging.Merge, revert string, err error) {
	if pull.ID == 0 {
		return nil, "", nil
	}
	row, found, err := tx.FindMerge(ctx, pull.ID, pull.HeadOID)
	if err != nil || !found || row.Stage != merging.Landed {
		return nil, "", err
	}
	if len(row.Red) == 0 {
		return &row, "", nil
	}
	a, _, err := tx.GetAction(ctx, work.RevertToken(r.Key(), row.Number, row.Commit))
	return &row, a.ResultURL, err
}

// says is the item's result.
func (e ended) says() string {
	is := "closed"
	if e.State != work.StateClosed {
		is = "merged"
	}
	if e.pull.Number != 0 && e.pull.Number != e.Number {
		is = fmt.Sprintf("#%d is %s", e.pull.Number, is)
	}
	if e.merge == nil {
		return is
	}
	is += " (" + mergedAs(*e.merge) + ")"
	if red := e.merge.Red; len(red) > 0 {
		is += fmt.Sprintf("; then %s turned red: %s", e.merge.Base, strings.Join(red, ", "))
		if e.revert != "" {
			is += "; " + number(e.revert) + " takes it back"
		}
	}
	return is
}

// number returns #N for a pull request's URL.
func number(url string) string { return "#" + url[strings.LastIndex(url, "/")+1:] }

// link is its URL on GitHub: the revert's if it was reverted.
func (e ended) link() string {
	switch {
	case e.revert != "":
		return e.revert
	case e.pull.URL != "":
		return e.pull.URL
	}
	return e.URL
}

// printEnded prints recently finished items for people.
func (b Board) printEnded(out terminal.Output, to io.Writer) error {
	if len(b.ended) == 0 || b.all {
		return nil
	}
	if len(b.items) == 0 {
		fmt.Fprintln(to)
	}
	if _, err := fmt.Fprintln(to, out.Bold("MERGED OR CLOSED IN THE LAST 24 HOURS")); err != nil {
		return err
	}
	for _, e := range b.ended {
		line := fmt.Sprintf("%s: %s: %s", e.ref, terminal.OneLine(e.Title), e.says())
		if _, err := fmt.Fprint(to, out.Linked(fmt.Sprintf("%4s  ", terminal.Age(e.Since, b.now)), line, e.link())); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(to)
	return err
}

// endedView is ended as JSON.
type endedView struct {
	Repo   string     `json:"repo"`        // owner/name, with the host in front where two hosts are configured
	Number int        `json:"number"`      // of the issue or pull request
	Title  string     `json:"title"`       // the title
	URL    string     `json:"url"`         // its address on GitHub; empty: it has none
	State  string     `json:"state"`       // `completed`, `merged` (a design), `closed`
	At     *time.Time `json:"at"`          // when it was merged or closed, as far as a pass saw
	Pull   string     `json:"pullRequest"` // its address; empty: it had none
	Commit string     `json:"commit"`      // that a merge of ours put on the base; empty: it was not ours
	Red    []string   `json:"red"`         // checks of the base that turned red after it
	Revert string     `json:"revert"`      // the address of the pull request that takes it back; empty: there is none
}

func viewEnded(e ended) endedView {
	repo, _, _ := strings.Cut(e.ref, "#")
	v := endedView{Repo: repo, Number: e.Number, Title: e.Title, URL: e.URL, State: string(e.State), At: terminal.Stamp(e.Since), Pull: e.pull.URL, Revert: e.revert, Red: []string{}}
	if e.merge != nil {
		v.Commit, v.Red = e.merge.Commit, terminal.OrEmpty(e.merge.Red)
	}
	return v
}

func newestFirst(all []ended) {
	slices.SortStableFunc(all, func(x, y ended) int { return y.Since.Compare(x.Since) })
}

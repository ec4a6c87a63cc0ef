package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// The other lists show only later changes. So a database that is new or was lost lists once what is open:
// pull requests of our account and what has a label of ours go to the backlog, and so do the pull requests
// that the mirror remembers as merged. Each is then read like any other number, with nothing stored. A
// label that is new in the config has the list read once more.

// firstLook lists what is open, from where the last pass got to.
func (h *reading) firstLook(ctx, most context.Context) error {
	unseen := func(label string) bool { return !slices.Contains(h.seenLabels, label) }
	if h.lookedUpTo == work.FirstLookDone && !slices.ContainsFunc(h.repo.Settings.StartLabels(), unseen) {
		return nil
	}
	from, _ := time.Parse(time.RFC3339, h.lookedUpTo) // zero: from the beginning
	l := &list{name: "open issues", address: github.OpenIssuesURL, read: itemsOf(h.repo.GitHub.ListIssues, listedIssue)}
	place := ""
	err := h.eachPage(most, l, l.address(h.row.Current, from), func(_ string, p page, _ time.Time) error {
		found := h.unknownOf(ctx, l.items)
		l.items = nil
		if at := github.SinceOf(p.Next); !at.IsZero() {
			from = at
		}
		if place = from.UTC().Format(time.RFC3339); p.Next == "" {
			place = work.FirstLookDone
			merged, err := h.mergedUnseen(ctx)
			if err != nil {
				return err
			}
			found = append(found, merged...)
		}
		return h.storeFound(ctx, found, place)
	})
	if err == nil && place != work.FirstLookDone && !h.timeIsUp() {
		h.incomplete = errors.New("more is open than a pass lists") // nothing begins before all of it is known
	}
	return err
}

// unknownOf returns the numbers of listed issues that are ours or ask for work and that the database lacks, or
// knows differently. Of ours are all pull requests of our account: a commit may prove it where the description
// was rewritten.
func (h *reading) unknownOf(ctx context.Context, items []listedItem) (found []*number) {
	for _, it := range items {
		is := *it.issue
		asks := slices.ContainsFunc(h.repo.Settings.StartLabels(), func(label string) bool { return work.HasLabel(is.Labels, label) })
		if !asks && (!is.IsPull || !h.isOurs(is.Author)) {
			continue
		}
		known := false
		if is.IsPull {
			_, known = h.pull(ctx, is.Number)
		} else {
			item, tracked := h.item(ctx, is.Number)
			known = tracked && unchanged(item, is)
		}
		if known {
			continue
		}
		c := h.numberOf(is.Number)
		if c.waits {
			continue
		}
		h.noteListed(it)
		if c.waited = true; is.IsPull && c.Tries == 0 {
			c.At = is.UpdatedAt // before the issues: work that is done comes before work that is to be done
		}
		found = append(found, c)
	}
	return found
}

// mergedUnseen returns the pull requests that a lost database may have merged. No list shows them: the merge closed
// them and their issues. The mirror keeps the head of each since before its request.
func (h *reading) mergedUnseen(ctx context.Context) (found []*number, err error) {
	var merged []int
	if h.preflight(ctx) == nil { // without git this pass claims no turn either, and reports why
		if merged, err = h.repo.Git().Merged(ctx, h.now().Add(-keptFor)); err != nil {
			return nil, fmt.Errorf("read which heads were merged: %w", err)
		}
	}
	for _, n := range merged {
		_, tracked := h.pull(ctx, n)
		if c, some := h.numbers[n]; !tracked && (!some || !c.waited) {
			c = h.numberOf(n)
			c.waited, c.At = true, time.Time{}
			found = append(found, c)
		}
	}
	return found, nil
}

// keptFor is how long after its merge a pull request is looked for by the head that the mirror keeps: what
// landed is compared within that time.
const keptFor = 7 * 24 * time.Hour

// storeFound puts numbers into the backlog, with how far the list was read.
func (h *reading) storeFound(ctx context.Context, found []*number, place string) error {
	return h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		for _, c := range found {
			err = cmp.Or(err, tx.PutBacklog(ctx, h.row.ID, c.Backlogged))
		}
		for _, label := range h.repo.Settings.StartLabels() {
			if place == work.FirstLookDone {
				err = cmp.Or(err, tx.AddSeenLabel(ctx, h.row.ID, label))
			}
		}
		return cmp.Or(err, tx.SetFirstLook(ctx, h.row.ID, place))
	})
}

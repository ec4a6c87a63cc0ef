package report

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/report"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// load reads the sums of the repositories that keep selects.
func load(ctx context.Context, tx *store.Tx, f *report.Facts, keep func(work.RepoName) bool) error {
	var err error
	if f.Pulls, err = tx.Pulls(ctx, f.From); err != nil {
		return err
	}
	f.Pulls = slices.DeleteFunc(f.Pulls, func(p store.PullFacts) bool { return !keep(p.Repo) })
	if f.ByItem, err = tx.Costs(ctx, time.Time{}, store.ByItem); err != nil {
		return err
	}
	if f.Costs, err = tx.Costs(ctx, f.From, store.ByDay, store.ByRepo); err != nil {
		return err
	}
	if f.Failures, err = tx.Failures(ctx, f.From, store.ByDay, store.ByRepo, store.ByKind); err != nil {
		return err
	}
	if f.Verdicts, err = tx.Verdicts(ctx, f.From, store.ByRepo, store.ByReviewer, store.ByOutcome); err != nil {
		return err
	}
	if f.Answers, err = tx.Times(ctx, store.TimeAnswer, f.From, store.ByDay, store.ByRepo); err != nil {
		return err
	}
	f.Costs = slices.DeleteFunc(f.Costs, func(l store.CostLine) bool { return !keep(l.Repo) })
	f.Failures = slices.DeleteFunc(f.Failures, func(l store.CountLine) bool { return !keep(l.Repo) })
	f.Verdicts = slices.DeleteFunc(f.Verdicts, func(l store.VerdictLine) bool { return !keep(l.Repo) })
	f.Answers = slices.DeleteFunc(f.Answers, func(l store.TimeLine) bool { return !keep(l.Repo) })
	var items []int64
	for _, p := range f.Pulls {
		items = append(items, p.ItemID)
	}
	f.Marks, err = tx.Marks(ctx, items)
	return err
}

func itemOf(b status.Brief) report.OpenItem {
	i := report.OpenItem{
		Repo: b.Repo, Number: b.Number, Title: b.Title, URL: b.URL, Flow: b.Flow, State: b.State, Why: b.Why, Code: b.Code, Next: b.Next,
		Pull: b.Pull, PullURL: b.PullURL, Stopped: b.Stopped,
	}
	if !b.Since.IsZero() {
		since := b.Since.UTC()
		i.Since = &since
	}
	return i
}

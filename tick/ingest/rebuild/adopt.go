package rebuild

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// Adopt finds again those on the page that are ours, each with its details and all that
// was said on it, or not at all. What there is no time for is left as if it had not been
// seen; of the others each counts, so that the next pass has fewer.
func (h *Rebuild) Adopt(ctx context.Context) error {
	ours, err := h.unknown(ctx)
	if err != nil {
		return err
	}
	late := h.readAhead(ctx, ours)
	if late != nil && batch.IsItemError(late) {
		late = nil // each is asked for singly
	} else if late != nil && !batch.OutOfTime(late) {
		return late
	}
	h.leave(ours)
	for i, p := range ours {
		for _, soon := range ours[i:min(len(ours), i+2)] {
			h.foresee(ctx, soon)
		}
		for _, soon := range ours[i:min(len(ours), i+authorsAtOnce)] {
			h.foreseeAuthor(ctx, soon)
		}
		if err := h.adoptOne(ctx, p.Pull); batch.OutOfTime(err) {
			late = err
			h.slowest = cmp.Or(h.slowest, p.Number)
		} else if err != nil {
			return err
		} else {
			delete(h.left, p.Number)
		}
	}
	if late == nil {
		h.pass()
	}
	return late
}

// leave notes which of the page are still to be looked at: those that may be ours.
func (h *Rebuild) leave(ours []candidate) {
	clear(h.left)
	for _, p := range ours {
		h.left[p.Number] = true
		h.first = cmp.Or(h.first, p.Number)
	}
}

// candidate is a pull request that may be ours, with the issue that it would come from.
type candidate struct {
	github.Pull
	issue int
}

// unknown are those on the page that may be ours, are not tracked, and are not read singly
// anyway.
func (h *Rebuild) unknown(ctx context.Context) (ours []candidate, err error) {
	for _, p := range h.page.Pulls {
		_, issue, named := work.ParseBranch(p.Head)
		if !named || !h.byUs(p) || slices.Contains(h.Known.Backlog, p.Number) {
			continue
		}
		_, tracked, err := h.Pull(ctx, p.Number)
		if err != nil {
			return nil, err
		}
		if !tracked {
			ours = append(ours, candidate{p, issue})
		}
	}
	return ours, nil
}

// adoptOne finds one again. What is wrong with it alone puts it off.
func (h *Rebuild) adoptOne(ctx context.Context, p github.Pull) error {
	mark, ours, err := h.OwnPull(ctx, p)
	if err == nil && ours {
		err = h.adoptPull(ctx, p, mark)
	}
	if err == nil && ours {
		err = h.takeDetails(ctx, p.Number)
	}
	h.Lists.Settle(err == nil && !batch.FoundHalf(h.Batch, p.Number), p.Number)
	if err == nil {
		return nil
	}
	if _, known := h.Items[mark.Issue]; !known {
		h.Forgotten[mark.Issue] = true // and what was read of it
	}
	if batch.OutOfTime(err) {
		return err
	}
	h.Backlog[p.Number] = true
	return h.DeferOne(err, "adopt #%d", p.Number)
}

// byUs reports whether one of our accounts opened a pull request here, and not from a fork
// that took our branch's name.
func (h *Rebuild) byUs(p github.Pull) bool {
	return !p.CrossRepo && p.Author.ID != 0 && slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), p.Author.ID)
}

// ourPull reports whether a pull request is one that we opened: by account, by
// mark and by branch, and not from a fork that took our branch's name.
func (h *Rebuild) ourPull(p github.Pull) (origin.PullMark, bool) {
	mark, marked := origin.ParsePullMark(p.Body)
	flow, issue, named := work.ParseBranch(p.Head)
	return mark, marked && named && flow == mark.Flow && issue == mark.Issue && h.byUs(p)
}

// OwnPull is ourPull for a pull request whose description people may have rewritten,
// its mark gone: account and branch are ours, and a commit names the turn that made
// it.
func (h *Rebuild) OwnPull(ctx context.Context, p github.Pull) (origin.PullMark, bool, error) {
	mark, ours := h.ourPull(p)
	flow, issue, named := work.ParseBranch(p.Head)
	if ours || !named || !h.byUs(p) {
		return mark, ours, nil
	}
	commits, err := h.Ahead().CommitsOf(ctx, p.Number)
	if err != nil {
		return origin.PullMark{}, false, err
	}
	mark = origin.PullMark{Issue: issue, Flow: flow}
	for _, c := range commits {
		turn, handled := origin.TrailersOf(c.Message)
		if turn != "" {
			mark.Turn = turn
		}
		for _, key := range handled { // the description said so, too
			h.Handled[key] = true
		}
	}
	return mark, mark.Turn != "", nil
}

// AdoptReopened tracks a pull request of ours that was closed, and so not
// looked for, when the database was lost.
func (h *Rebuild) AdoptReopened(ctx context.Context, is github.Issue) error {
	mark, marked := origin.ParsePullMark(is.Body)
	waited := slices.Contains(h.Known.Backlog, is.Number) // its description may have been rewritten
	if !marked && !waited || is.State != "open" || !slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), is.Author.ID) {
		return nil
	}
	if _, known, err := h.Item(ctx, mark.Issue); err != nil || known && !waited {
		return err
	}
	p, ok, err := h.R.GitHub.Pull(ctx, h.Repo.Current, is.Number)
	if err != nil || !ok || p.State != work.PullOpen {
		return err
	}
	mark, ours, err := h.OwnPull(ctx, p)
	if err != nil || !ours {
		return err
	}
	return h.adoptPull(ctx, p, mark)
}

// adoptPull tracks an open pull request of ours. Its details and everything
// that was said on it are read in this pass.
func (h *Rebuild) adoptPull(ctx context.Context, p github.Pull, mark origin.PullMark) error {
	if _, tracked, err := h.Pull(ctx, p.Number); err != nil || tracked {
		return err
	}
	item, known, err := h.Item(ctx, mark.Issue)
	if err != nil {
		return err
	}
	if !known {
		if item, err = h.originOf(ctx, mark); err != nil {
			return err
		}
	}
	item.Branch = p.Head
	h.Items[mark.Issue] = item
	h.Adopted[p.Number] = mark.Issue
	pull := trackedPull(h.Repo, item, p)
	pull.DetailsAt = time.Time{}
	h.Open[p.Number] = pull
	if _, swept := h.Lights[p.Number]; !swept {
		h.Lights[p.Number] = github.PullLight{NodeID: p.NodeID, Number: p.Number}
	}
	h.NoteHandled(p.Body)
	return nil
}

// trackedPull is the snapshot of a pull request as a single read shows it.
func trackedPull(repo work.Repo, item work.Item, p github.Pull) work.PullRequest {
	return work.PullRequest{
		RepoID: repo.ID, ItemID: item.ID, Number: p.Number, NodeID: p.NodeID, URL: p.URL, Title: p.Title, State: p.State,
		Branch: p.Head, HeadOID: p.HeadOID, Base: p.Base, MergeCommit: p.MergeCommit,
		UpdatedAt: p.UpdatedAt, CreatedAt: p.CreatedAt,
	}
}

// originOf makes the work item of a pull request's source issue again.
func (h *Rebuild) originOf(ctx context.Context, mark origin.PullMark) (work.Item, error) {
	is, ok, err := h.Ahead().IssueOf(ctx, mark.Issue)
	if err != nil {
		return work.Item{}, err
	}
	if !ok {
		is = github.Issue{Number: mark.Issue} // deleted: its pull request lives on
	}
	item := batch.NewItem(h.Batch, is, batch.FlowLabel{Name: h.R.Settings.Labels.Of(mark.Flow), Flow: mark.Flow})
	item.State = work.StateAwaitingFeedback
	var timeline []github.TimelineEvent
	if ok {
		if timeline, err = h.Ahead().LabelsOf(ctx, mark.Issue, is.Labels); err != nil {
			return work.Item{}, err
		}
		h.comments.IssueTaken(is, timeline)
		if labelled, ok := batch.Last(timeline, "labeled", item.Label); ok {
			item.LabelEvent = batch.Labelling(labelled)
		}
		comments, err := h.Ahead().CommentsOf(ctx, mark.Issue, time.Time{})
		if err != nil {
			return work.Item{}, err
		}
		h.Ahead().NoteTalk(mark.Issue, comments)
	}
	return h.retell(ctx, item, is, timeline, item.Label)
}

// StoreAdopted stores what was found again, after items, pull requests and
// events have their rows.
func (h *Rebuild) StoreAdopted(ctx context.Context, tx *store.Tx, now time.Time) error {
	if err := h.finishHandled(ctx, tx, now); err != nil {
		return err
	}
	for number, issue := range h.Adopted {
		item, ok := h.Items[issue]
		pull, read := h.PullRows[number]
		if !ok || !read {
			continue
		}
		if pull.State != work.PullOpen {
			if err := h.Notices.Show(ctx, tx, work.Move{Item: item.ID, Cause: work.CauseAdopted, To: item.State}, now); err != nil {
				return err
			}
			continue
		}
		if err := h.Notices.Move(ctx, tx, work.Move{Item: item.ID, Cause: work.CauseAdopted, To: work.StateAwaitingFeedback}, now); err != nil {
			return err
		}
	}
	for _, j := range h.Journals {
		if err := h.storeJournal(ctx, tx, j); err != nil {
			return err
		}
	}
	return nil
}

// finishHandled finishes waiting events that our own writing says were
// answered: by a pass whose database is gone.
func (h *Rebuild) finishHandled(ctx context.Context, tx *store.Tx, now time.Time) error {
	if len(h.Handled) == 0 {
		return nil
	}
	pending, err := tx.ListPendingEvents(ctx, h.Repo.ID)
	if err != nil {
		return err
	}
	var done []int64
	for _, e := range pending {
		if e.TurnID == 0 && e.Kind != work.EventCommand && (h.Handled[e.Key] || h.Handled[work.ShortKey(e.Key)]) {
			done = append(done, e.ID)
		}
	}
	return tx.FinishEvents(ctx, done, work.OutcomeAnswered, now)
}

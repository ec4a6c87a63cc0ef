package ingest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// The database is disposable. What it should know stands elsewhere: pull
// requests carry their origin in branch and body, our comments name the events
// that they answered, and the mirror's journal has the turns that were under
// way. Adoption reads all that back when a repository is seen for the first
// time, and again when a turn finds work of ours that the database lacks.

// adopt finds our open pull requests.
func (h *Rebuild) adopt(ctx context.Context) error {
	if h.Known.Cuts[batch.WalkAdopted] != "" {
		return nil
	}
	issues, comments, reviewComments := h.ListedIssues, h.ListedComments, h.ReviewComments
	h.ListedIssues, h.ListedComments, h.ReviewComments = nil, nil, nil
	pulls, err := h.R.GitHub.OpenPulls(ctx, h.Repo.Current)
	if err == nil {
		h.Adopting = true
		err = h.adoptAll(ctx, pulls)
	}
	if batch.OutOfTime(err) { // what was found again is stored, and nothing else: the next pass continues
		h.StopReading(err)
		h.Rebuilding, h.Pages, h.Walks = true, map[string][]work.Validator{}, map[string]string{}
		return nil
	}
	h.ListedIssues, h.ListedComments, h.ReviewComments = issues, append(h.ListedComments, comments...), append(h.ReviewComments, reviewComments...)
	if err == nil && len(h.Trouble) == 0 {
		h.Walked(batch.WalkAdopted, nil, map[string]string{batch.WalkAdopted: "done"})
	}
	return err
}

// adoptAll finds them again one by one: only those that were read whole are kept
// when the time is up.
func (h *Rebuild) adoptAll(ctx context.Context, pulls []github.Pull) error {
	for _, p := range pulls {
		mark, ours, err := h.OwnPull(ctx, p)
		if err == nil && !ours {
			continue
		}
		if err == nil {
			err = h.adoptPull(ctx, p, mark)
		}
		if _, known := h.Items[mark.Issue]; err != nil && !known {
			h.Forgotten[mark.Issue] = true // and what was read of it
		}
		if batch.OutOfTime(err) {
			return err
		}
		if err := h.DeferOne(err, "adopt #%d", p.Number); err != nil {
			return err
		}
		if _, found := h.Adopted[p.Number]; !found {
			continue
		}
		if err := h.pulls.ReadBatch(ctx, []string{p.NodeID}); err != nil {
			return err
		}
	}
	return nil
}

// ourPull reports whether a pull request is one that we opened: by account, by
// mark and by branch, and not from a fork that took our branch's name.
func (h *Rebuild) ourPull(p github.Pull) (origin.PullMark, bool) {
	mark, marked := origin.ParsePullMark(p.Body)
	flow, issue, named := work.ParseBranch(p.Head)
	ours := marked && named && !p.CrossRepo && flow == mark.Flow && issue == mark.Issue &&
		p.Author.ID != 0 && slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), p.Author.ID)
	return mark, ours
}

// OwnPull is ourPull for a pull request whose description people may have rewritten,
// its mark gone: account and branch are ours, and a commit names the turn that made
// it.
func (h *Rebuild) OwnPull(ctx context.Context, p github.Pull) (origin.PullMark, bool, error) {
	mark, ours := h.ourPull(p)
	flow, issue, named := work.ParseBranch(p.Head)
	if ours || !named || p.CrossRepo || p.Author.ID == 0 || !slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), p.Author.ID) {
		return mark, ours, nil
	}
	commits, err := h.R.GitHub.PullCommits(ctx, h.Repo.Current, p.Number)
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

// adoptReopened tracks a pull request of ours that was closed, and so not
// looked for, when the database was lost.
func (h *Rebuild) adoptReopened(ctx context.Context, is github.Issue) error {
	mark, marked := origin.ParsePullMark(is.Body)
	if !marked || is.State != "open" || !slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), is.Author.ID) {
		return nil
	}
	if _, known, err := h.Item(ctx, mark.Issue); err != nil || known {
		return err
	}
	p, ok, err := h.R.GitHub.Pull(ctx, h.Repo.Current, is.Number)
	if err != nil || !ok || p.State != work.PullOpen {
		return err
	}
	if mark, ours := h.ourPull(p); ours {
		return h.adoptPull(ctx, p, mark)
	}
	return nil
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
	h.Lights[p.Number] = github.PullLight{NodeID: p.NodeID, Number: p.Number}
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
	is, ok, err := h.R.GitHub.Issue(ctx, h.Repo.Current, mark.Issue)
	if err != nil {
		return work.Item{}, err
	}
	if !ok {
		is = github.Issue{Number: mark.Issue} // deleted: its pull request lives on
	}
	item := h.newItem(is, batch.FlowLabel{Name: h.R.Settings.Labels.Of(mark.Flow), Flow: mark.Flow})
	item.State = work.StateAwaitingFeedback
	told := confirmed{Title: is.Title, Body: is.Body}
	if ok {
		timeline, err := h.R.GitHub.TimelineOf(ctx, h.Repo.Current, mark.Issue)
		if err != nil {
			return work.Item{}, err
		}
		h.comments.IssueTaken(is, timeline)
		if labelled, ok := batch.Last(timeline, "labeled", item.Label); ok {
			item.LabelEvent = strconv.FormatInt(labelled.ID, 10)
		}
		comments, err := h.R.GitHub.CommentsOf(ctx, h.Repo.Current, mark.Issue, time.Time{})
		if err != nil {
			return work.Item{}, err
		}
		h.ListedComments = append(h.ListedComments, comments...)
		if told, err = h.issues.ConfirmText(ctx, item, is, timeline); err != nil {
			return work.Item{}, err
		}
	}
	h.issues.refresh(item, is, told)
	return h.Items[mark.Issue], nil
}

// newItem is an issue's work item before anything happened.
func (h *Rebuild) newItem(is github.Issue, label batch.FlowLabel) work.Item {
	return work.Item{
		RepoID: h.Repo.ID, Number: is.Number, Flow: label.Flow, State: work.StatePending, Since: h.Now(),
		Label: label.Name, Priority: priority(is.Labels),
	}
}

// storeAdopted stores what was found again, after items, pull requests and
// events have their rows.
func (h *Rebuild) storeAdopted(ctx context.Context, tx *store.Tx, now time.Time) error {
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

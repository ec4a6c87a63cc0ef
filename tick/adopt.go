package tick

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// The database is disposable. What it should know stands elsewhere: pull
// requests carry their origin in branch and body, our comments name the events
// that they answered, and the mirror's journal has the turns that were under
// way. Adoption reads all that back when a repository is seen for the first
// time, and again when a turn finds work of ours that the database lacks.

// adopt finds our open pull requests.
func (h *Rebuild) adopt(ctx context.Context) error {
	if h.known.cuts[walkAdopted] != "" {
		return nil
	}
	issues, comments, reviewComments := h.listedIssues, h.listedComments, h.reviewComments
	h.listedIssues, h.listedComments, h.reviewComments = nil, nil, nil
	pulls, err := h.r.GitHub.OpenPulls(ctx, h.repo.Current)
	if err == nil {
		h.adopting = true
		err = h.adoptAll(ctx, pulls)
	}
	if late(err) { // what was found again is stored, and nothing else: the next pass goes on
		h.cut(err)
		h.rebuilding, h.pages, h.walks = true, map[string][]store.Validator{}, map[string]string{}
		return nil
	}
	h.listedIssues, h.listedComments, h.reviewComments = issues, append(h.listedComments, comments...), append(h.reviewComments, reviewComments...)
	if err == nil && len(h.trouble) == 0 {
		h.walked(walkAdopted, nil, map[string]string{walkAdopted: "done"})
	}
	return err
}

// adoptAll finds them again one by one: only those that were read whole are kept
// when the time is up.
func (h *Rebuild) adoptAll(ctx context.Context, pulls []github.Pull) error {
	for _, p := range pulls {
		mark, ours, err := h.ownPull(ctx, p)
		if err == nil && !ours {
			continue
		}
		if err == nil {
			err = h.adoptPull(ctx, p, mark)
		}
		if _, known := h.items[mark.Issue]; err != nil && !known {
			h.forgotten[mark.Issue] = true // and what was read of it
		}
		if late(err) {
			return err
		}
		if err := h.isolate(err, "adopt #%d", p.Number); err != nil {
			return err
		}
		if _, found := h.adopted[p.Number]; !found {
			continue
		}
		if err := h.pulls.readBatch(ctx, []string{p.NodeID}); err != nil {
			return err
		}
	}
	return nil
}

// dropHalf leaves what was found again only in part as if it had not been: a work
// item without its pull request would begin anew.
func (h *harvest) dropHalf() {
	for number, issue := range h.adopted {
		if _, read := h.pullRows[number]; read {
			continue
		}
		delete(h.adopted, number)
		delete(h.open, number)
		delete(h.lights, number)
		delete(h.walks, walkAdopted)
		h.forgotten[number] = true
		if h.items[issue].ID != 0 {
			continue
		}
		delete(h.items, issue)
		delete(h.promoted, issue)
		h.forgotten[issue], h.backlog[issue] = true, true
	}
	gone := func(n int) bool { return h.forgotten[n] }
	h.listedComments = slices.DeleteFunc(h.listedComments, func(c github.Comment) bool { return gone(c.Number) })
	h.reviewComments = slices.DeleteFunc(h.reviewComments, func(c github.ReviewComment) bool { return gone(c.Pull) })
	h.events = slices.DeleteFunc(h.events, func(c candidate) bool { return gone(c.event.Number) })
}

// ourPull reports whether a pull request is one that we opened: by account, by
// mark and by branch, and not from a fork that took our branch's name.
func (h *Rebuild) ourPull(p github.Pull) (work.PullMark, bool) {
	mark, marked := work.ParsePullMark(p.Body)
	flow, issue, named := work.ParseBranch(p.Head)
	ours := marked && named && !p.CrossRepo && flow == mark.Flow && issue == mark.Issue &&
		p.Author.ID != 0 && slices.Contains(h.p.accounts.ids(h.r.Name.Host), p.Author.ID)
	return mark, ours
}

// ownPull is ourPull for a pull request whose description people may have rewritten,
// its mark gone: account and branch are ours, and a commit names the turn that made
// it.
func (h *Rebuild) ownPull(ctx context.Context, p github.Pull) (work.PullMark, bool, error) {
	mark, ours := h.ourPull(p)
	flow, issue, named := work.ParseBranch(p.Head)
	if ours || !named || p.CrossRepo || p.Author.ID == 0 || !slices.Contains(h.p.accounts.ids(h.r.Name.Host), p.Author.ID) {
		return mark, ours, nil
	}
	messages, err := h.r.GitHub.PullMessages(ctx, h.repo.Current, p.Number)
	if err != nil {
		return work.PullMark{}, false, err
	}
	mark = work.PullMark{Issue: issue, Flow: flow}
	for _, m := range messages {
		turn, handled := work.TrailersOf(m)
		if turn != "" {
			mark.Turn = turn
		}
		for _, key := range handled { // the description said so, too
			h.handled[key] = true
		}
	}
	return mark, mark.Turn != "", nil
}

// adoptReopened tracks a pull request of ours that was closed, and so not
// looked for, when the database was lost.
func (h *Rebuild) adoptReopened(ctx context.Context, is github.Issue) error {
	mark, marked := work.ParsePullMark(is.Body)
	if !marked || is.State != "open" || !slices.Contains(h.p.accounts.ids(h.r.Name.Host), is.Author.ID) {
		return nil
	}
	if _, known, err := h.item(ctx, mark.Issue); err != nil || known {
		return err
	}
	p, ok, err := h.r.GitHub.Pull(ctx, h.repo.Current, is.Number)
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
func (h *Rebuild) adoptPull(ctx context.Context, p github.Pull, mark work.PullMark) error {
	if _, tracked, err := h.pull(ctx, p.Number); err != nil || tracked {
		return err
	}
	item, known, err := h.item(ctx, mark.Issue)
	if err != nil {
		return err
	}
	if !known {
		if item, err = h.originOf(ctx, mark); err != nil {
			return err
		}
	}
	item.Branch = p.Head
	h.items[mark.Issue] = item
	h.adopted[p.Number] = mark.Issue
	pull := trackedPull(h.repo, item, p)
	pull.DetailsAt = time.Time{}
	h.open[p.Number] = pull
	h.lights[p.Number] = github.PullLight{NodeID: p.NodeID, Number: p.Number}
	h.heed(p.Body)
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
func (h *Rebuild) originOf(ctx context.Context, mark work.PullMark) (work.Item, error) {
	is, ok, err := h.r.GitHub.Issue(ctx, h.repo.Current, mark.Issue)
	if err != nil {
		return work.Item{}, err
	}
	if !ok {
		is = github.Issue{Number: mark.Issue} // deleted: its pull request lives on
	}
	item := h.newItem(is, flowLabel{h.r.Settings.Labels.Of(mark.Flow), mark.Flow})
	item.State = work.StateAwaitingFeedback
	told := confirmed{title: is.Title, body: is.Body}
	if ok {
		timeline, err := h.r.GitHub.TimelineOf(ctx, h.repo.Current, mark.Issue)
		if err != nil {
			return work.Item{}, err
		}
		h.comments.issueTaken(is, timeline)
		if labelled, ok := last(timeline, "labeled", item.Label); ok {
			item.LabelEvent = strconv.FormatInt(labelled.ID, 10)
		}
		comments, err := h.r.GitHub.CommentsOf(ctx, h.repo.Current, mark.Issue, time.Time{})
		if err != nil {
			return work.Item{}, err
		}
		h.listedComments = append(h.listedComments, comments...)
		if told, err = h.issues.confirmText(ctx, item, is, timeline); err != nil {
			return work.Item{}, err
		}
	}
	h.issues.refresh(item, is, told)
	return h.items[mark.Issue], nil
}

// newItem is an issue's work item before anything happened.
func (h *Rebuild) newItem(is github.Issue, label flowLabel) work.Item {
	return work.Item{
		RepoID: h.repo.ID, Number: is.Number, Flow: label.flow, State: work.StatePending, Since: h.now(),
		Label: label.name, Priority: priority(is.Labels),
	}
}

// heed remembers which events a body of ours names as answered.
func (h *harvest) heed(body string) {
	marks, _ := work.ParseMarks(body)
	for _, key := range marks.Handled {
		h.handled[key] = true
	}
}

// storeAdopted stores what was found again, after items, pull requests and
// events have their rows.
func (h *Rebuild) storeAdopted(ctx context.Context, tx *store.Tx, now time.Time) error {
	if err := h.finishHandled(ctx, tx, now); err != nil {
		return err
	}
	for number, issue := range h.adopted {
		item, ok := h.items[issue]
		pull, read := h.pullRows[number]
		if !ok || !read {
			continue
		}
		if pull.State != work.PullOpen {
			if err := h.p.notices.show(ctx, tx, work.Move{Item: item.ID, Cause: work.CauseAdopted, To: item.State}, now); err != nil {
				return err
			}
			continue
		}
		if err := h.p.notices.move(ctx, tx, work.Move{Item: item.ID, Cause: work.CauseAdopted, To: work.StateAwaitingFeedback}, now); err != nil {
			return err
		}
	}
	for _, j := range h.journals {
		if err := h.storeJournal(ctx, tx, j); err != nil {
			return err
		}
	}
	return nil
}

// finishHandled finishes waiting events that our own writing says were
// answered: by a pass whose database is gone.
func (h *Rebuild) finishHandled(ctx context.Context, tx *store.Tx, now time.Time) error {
	if len(h.handled) == 0 {
		return nil
	}
	pending, err := tx.ListPendingEvents(ctx, h.repo.ID)
	if err != nil {
		return err
	}
	var done []int64
	for _, e := range pending {
		if e.TurnID == 0 && e.Kind != work.EventCommand && (h.handled[e.Key] || h.handled[work.ShortKey(e.Key)]) {
			done = append(done, e.ID)
		}
	}
	return tx.FinishEvents(ctx, done, work.OutcomeAnswered, now)
}

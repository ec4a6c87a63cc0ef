package ingest

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
)

// byUs reports whether one of our accounts opened the pull request, from a branch of this
// repository. A fork may use our branch's name.
func (h *reading) byUs(p github.Pull) bool {
	return !p.CrossRepo && p.Author.ID != 0 && slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), p.Author.ID)
}

// ourPull reports whether we opened the pull request: account, mark and branch must be ours, and
// the branch must not be in a fork.
func (h *reading) ourPull(p github.Pull) (work.PullMark, bool) {
	mark, marked := work.ParsePullMark(p.Body)
	flow, issue, named := work.ParseBranch(p.Head)
	return mark, marked && named && flow == mark.Flow && issue == mark.Issue && h.byUs(p)
}

// ownPull reports what ourPull reports, even if somebody removed the mark from the description.
// Without the mark, the account and the branch must be ours, and a commit must name the turn that
// made it.
func (h *reading) ownPull(ctx context.Context, p github.Pull) (work.PullMark, bool, error) {
	mark, ours := h.ourPull(p)
	flow, issue, named := work.ParseBranch(p.Head)
	if ours || !named || !h.byUs(p) {
		return mark, ours, nil
	}
	commits, err := h.commitsOf(ctx, p.Number)
	if err != nil {
		return work.PullMark{}, false, err
	}
	mark = work.PullMark{Issue: issue, Flow: flow}
	for _, c := range commits {
		turn, handled := work.TrailersOf(c.Message)
		if turn != "" {
			mark.Turn = turn
		}
		for _, key := range handled { // the lost description named them, too
			h.handled[key] = true
		}
	}
	return mark, mark.Turn != "", nil
}

// adoptFound tracks a pull request that the first look found, if it is ours.
func (h *reading) adoptFound(ctx context.Context, p github.Pull) error {
	mark, ours, err := h.ownPull(ctx, p)
	if err != nil || !ours {
		return err
	}
	return h.adoptPull(ctx, p, mark)
}

// adoptUnlisted tracks a pull request of ours that the search over open pull requests missed: it
// was closed when the database was lost and is reopened, or its number waits in the backlog.
func (h *reading) adoptUnlisted(ctx context.Context, is github.Issue) error {
	mark, marked := work.ParsePullMark(is.Body)
	waited := h.numberOf(is.Number).waited // its description may have been rewritten
	if !waited && (!marked || is.State != "open") || !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), is.Author.ID) {
		return nil
	}
	if _, known, err := h.item(ctx, mark.Issue); err != nil || known && !waited {
		return err
	}
	p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, is.Number)
	if err != nil || !ok || p.State != work.PullOpen && !waited {
		return err
	}
	mark, ours, err := h.ownPull(ctx, p)
	if err != nil || !ours {
		return err
	}
	if p.State == work.PullOpen {
		return h.adoptPull(ctx, p, mark)
	}
	if _, known, err := h.item(ctx, mark.Issue); err != nil || known {
		return err // newer work of the issue was found
	}
	return h.adoptKept(ctx, p, mark)
}

// adoptPull tracks an open pull request of ours. This pass also reads its details and its whole
// conversation.
func (h *reading) adoptPull(ctx context.Context, p github.Pull, mark work.PullMark) error {
	if _, tracked, err := h.pull(ctx, p.Number); err != nil || tracked {
		return err
	}
	if c, some := h.numbers[p.Number]; some && c.waits {
		return errors.New(c.Why)
	}
	item, known, err := h.item(ctx, mark.Issue)
	if err != nil {
		return err
	}
	switch {
	case !known && mark.Flow == work.FlowRoadmap:
		if merged, err := h.adoptMergedRoadmap(ctx, mark.Issue); merged || err != nil {
			h.again(p.Number) // it is a revision, which comes once the merged one has its rows
			return err
		}
	case known && item.ID != 0 && item.Flow == work.FlowRoadmap && item.State == work.StateMerged && mark.Flow == work.FlowRoadmap:
		item = work.Item{RepoID: item.RepoID, Number: item.Number, Flow: item.Flow, Parent: item.ID, Since: h.now(), State: work.StateAwaitingFeedback, Title: item.Title, Body: item.Body, Author: item.Author, URL: item.URL, Priority: item.Priority, Label: item.Label, LabelEvent: item.LabelEvent, SubIssueOf: item.SubIssueOf}
	}
	if !known {
		if item, err = h.originOf(ctx, mark); err != nil {
			return err
		}
	}
	item.Branch = p.Head
	h.putItem(item)
	h.adopted[p.Number] = mark.Issue
	pull := trackedPull(h.row, item, p)
	pull.DetailsAt = time.Time{}
	h.met[p.Number] = pull
	if _, swept := h.lights[p.Number]; !swept {
		h.lights[p.Number] = ""
	}
	h.noteOwn(p.Body, p.CreatedAt, p.URL)
	return nil
}

// trackedPull converts a pull request that was read singly.
func trackedPull(repo work.Repo, item work.Item, p github.Pull) work.PullRequest {
	return work.PullRequest{
		RepoID: repo.ID, ItemID: item.ID, Number: p.Number, NodeID: p.NodeID, URL: p.URL, Title: p.Title, State: p.State,
		Branch: p.Head, HeadOID: p.HeadOID, Base: p.Base, MergeCommit: p.MergeCommit,
		UpdatedAt: p.UpdatedAt, CreatedAt: p.CreatedAt,
	}
}

// originOf makes the work item of a pull request's source issue again.
func (h *reading) originOf(ctx context.Context, mark work.PullMark) (work.Item, error) {
	is, ok, err := h.issueOf(ctx, mark.Issue)
	if err != nil {
		return work.Item{}, err
	}
	if !ok {
		is = github.Issue{Number: mark.Issue} // deleted; its pull request is still tracked
	}
	item := newItem(h, is, config.FlowLabel{Name: h.repo.Settings.Labels.Of(mark.Flow), Flow: mark.Flow})
	item.State = work.StateAwaitingFeedback
	var timeline []github.TimelineEvent
	var talk []github.Comment
	h.labels[mark.Issue] = is.Labels
	if ok {
		if timeline, err = h.labelsOf(ctx, mark.Issue, is.Labels); err != nil {
			return work.Item{}, err
		}
		h.noteIssuePauses(is, mark.Flow, timeline)
		if labelled, ok := lastEvent(timeline, "labeled", item.Label); ok {
			item.LabelEvent = labellingID(labelled)
		}
		if talk, err = h.wholeTalk(ctx, mark.Issue); err != nil {
			return work.Item{}, err
		}
	}
	if item, err = h.updateText(ctx, item, is, timeline, item.Label); err == nil {
		h.noteIssueTalk(item, talk)
	}
	return item, err
}

// storeAdopted stores what was adopted. It runs after items, pull requests and events have their
// rows.
func (h *reading) storeAdopted(ctx context.Context, tx *store.Tx, now time.Time) error {
	if err := h.finishHandled(ctx, tx, now); err != nil {
		return err
	}
	for number, issue := range h.adopted {
		item, ok := h.changedItem(issue)
		pull, read := h.readPull(number)
		if !ok || !read {
			continue
		}
		if pull.row.State != work.PullOpen {
			if err := h.notices.Show(ctx, tx, work.Move{Item: h.itemID(issue), Cause: work.CauseAdopted, To: item.State, Labels: h.labels}, now); err != nil {
				return err
			}
			continue
		}
		if err := h.notices.Move(ctx, tx, work.Move{Item: h.itemID(issue), Cause: work.CauseAdopted, To: work.StateAwaitingFeedback, Labels: h.labels}, now); err != nil {
			return err
		}
	}
	return nil
}

// finishHandled closes pending events that our own texts on GitHub name as answered, by a pass
// whose database is lost.
func (h *reading) finishHandled(ctx context.Context, tx *store.Tx, now time.Time) error {
	if len(h.handled) == 0 {
		return nil
	}
	pending, err := tx.ListPendingEvents(ctx, h.row.ID)
	if err != nil {
		return err
	}
	var done []int64
	for _, e := range pending {
		if e.TurnID == 0 && e.Kind != work.EventCommand && (h.handled[e.Key] || h.handled[work.ShortKey(e.Key)]) {
			done = append(done, e.ID)
		}
	}
	// Shown again, a comment that was answered before it was hidden is not answered twice.
	hidden, err := tx.ListHidden(ctx, h.row.ID, now.Add(time.Second), math.MaxInt32)
	if err != nil {
		return err
	}
	for _, e := range hidden {
		if !h.handled[e.Key] && !h.handled[work.ShortKey(e.Key)] {
			continue
		}
		if err := tx.ReopenEvent(ctx, h.row.ID, e.Key, work.OutcomeHidden, now); err != nil {
			return err
		}
		done = append(done, e.ID)
	}
	return tx.FinishEvents(ctx, done, work.OutcomeAnswered, now)
}

// signFor is how old a text may be that shows another installation at work.
const signFor = 24 * time.Hour

// noteOwn records what a body of ours says: the events that it names as answered, and which installation
// wrote it, if that is another one.
func (h *reading) noteOwn(body string, at time.Time, url string) {
	h.noteHandled(body)
	marks, _ := work.ParseMarks(body)
	if !h.env.Ours.Has(marks.By) && at.After(h.sign.At) && h.now().Sub(at) < signFor {
		h.sign = work.Sign{ID: marks.By, At: at, URL: url}
	}
}

// noteHandled records the events that a body of ours names as answered.
func (h *reading) noteHandled(body string) {
	marks, _ := work.ParseMarks(body)
	for _, key := range marks.Handled {
		h.handled[key] = true
	}
}

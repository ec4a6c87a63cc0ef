package ingest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// byUs reports whether one of our accounts opened the pull request, from a branch of this
// repository. A fork may use our branch's name.
func (h *reading) byUs(p github.Pull) bool {
	return !p.CrossRepo && h.isOurs(p.Author)
}

// ownPull reports whether we opened the pull request: account, branch and mark must be ours, and the branch must not
// be in a fork. If somebody removed the mark from the description, a commit must name the turn that made it.
func (h *reading) ownPull(ctx context.Context, p github.Pull) (work.PullMark, bool, error) {
	mark, marked := work.ParsePullMark(p.Body)
	flow, issue, named := work.ParseBranch(p.Head)
	if !named || !h.byUs(p) {
		return mark, false, nil
	}
	if marked && flow == mark.Flow && issue == mark.Issue {
		return mark, true, nil
	}
	commits, err := h.repo.GitHub.PullCommits(ctx, h.row.Current, p.Number)
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

// adoptUnlisted tracks a pull request of ours that the database lacks. One that the first look did not find was
// closed then and is reopened: without its mark it is not looked into.
func (h *reading) adoptUnlisted(ctx context.Context, is github.Issue) error {
	mark, marked := work.ParsePullMark(is.Body)
	waited := h.numberOf(is.Number).waited // its description may have been rewritten
	if !waited && (!marked || is.State != "open") || !h.isOurs(is.Author) {
		return nil
	}
	if _, known := h.item(ctx, mark.Issue); known && !waited {
		return nil
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
	if _, known := h.item(ctx, mark.Issue); known {
		return nil // newer work of the issue was found
	}
	r, err := h.issueWhole(ctx, mark.Issue)
	if err != nil || r.Number == 0 {
		return err
	}
	before := issueRead{timeline: slices.DeleteFunc(slices.Clone(r.timeline), func(t github.TimelineEvent) bool { return setAfter(t, p) })}
	_, err = h.adoptEnded(ctx, r, before.labelled(h.labelOf(mark.Flow))) // as the issue's label would if the issue were open
	return err
}

// adoptPull tracks an open pull request of ours. This pass also reads its details and its whole
// conversation.
func (h *reading) adoptPull(ctx context.Context, p github.Pull, mark work.PullMark) error {
	if _, tracked := h.pull(ctx, p.Number); tracked {
		return nil
	}
	if c, some := h.numbers[p.Number]; some && c.waits {
		return errors.New(c.Why)
	}
	item, known := h.item(ctx, mark.Issue)
	switch {
	case !known && mark.Flow == work.FlowRoadmap:
		if merged, err := h.adoptMergedRoadmap(ctx, mark.Issue); merged || err != nil {
			h.again(p.Number) // it is a revision, which comes once the merged one has its rows
			return err
		}
	case known && item.ID != 0 && item.Flow == work.FlowRoadmap && item.State == work.StateMerged && mark.Flow == work.FlowRoadmap:
		item = item.Next(item.Flow, work.StateAwaitingFeedback, h.now())
	}
	if !known {
		r, err := h.issueWhole(ctx, mark.Issue)
		if err != nil {
			return err
		}
		if item, err = h.originOf(ctx, r, r.labelled(h.labelOf(mark.Flow)), p, mark.Issue); err != nil {
			return err
		}
	}
	item.Branch = p.Head
	h.adopt(item, p, time.Time{})
	h.noteOwn(p.Body, p.CreatedAt, p.URL)
	return nil
}

// adopt tracks a pull request that was found singly, and its work item. It is read next: with its details if it is
// open, otherwise only how it ended. since is when the label was set that led to one that ended.
func (h *reading) adopt(item work.Item, p github.Pull, since time.Time) {
	h.items[item.Number], h.adopted[p.Number] = item, item.Number
	news := h.newsOf(p.Number)
	news.row = work.PullRequest{
		RepoID: h.row.ID, ItemID: item.ID, Number: p.Number, NodeID: p.NodeID, URL: p.URL, Title: p.Title, State: p.State,
		Branch: p.Head, HeadOID: p.HeadOID, Base: p.Base, MergeCommit: p.MergeCommit,
		UpdatedAt: p.UpdatedAt, CreatedAt: p.CreatedAt,
	}
	h.unreadPulls = append(h.unreadPulls, pullRead{old: news.row, PullDetail: github.PullDetail{Pull: p}, over: p.State != work.PullOpen, since: since})
	h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
		m := work.Move{Item: h.itemID(item.Number), Cause: work.CauseAdopted, To: work.StateAwaitingFeedback, Labels: h.labels}
		if news.row.State == work.PullOpen {
			return h.notices.Move(ctx, tx, m, now)
		}
		m.To = h.items[item.Number].State
		return h.notices.Show(ctx, tx, m, now)
	})
}

// labelOf returns the label of a flow.
func (h *reading) labelOf(f work.Flow) config.FlowLabel {
	return config.FlowLabel{Name: h.repo.Settings.Labels.Of(f), Flow: f}
}

// originOf makes the work item of a pull request's source issue again, with what was said on the issue if the pull request
// is open. If the issue is gone, its pull request is still tracked.
func (h *reading) originOf(ctx context.Context, r issueRead, a flowAsked, p github.Pull, issue int) (item work.Item, err error) {
	gone := r.Number == 0
	r.Number = issue
	item, h.labels[issue] = h.newItem(r.Issue, a.FlowLabel), r.Labels
	if a.set.ID != 0 {
		item.LabelEvent = strconv.FormatInt(a.set.ID, 10)
	}
	switch item.Branch = p.Head; {
	case p.State == work.PullOpen:
		item.State = work.StateAwaitingFeedback
	case p.State == work.PullClosed:
		item.State = work.StateClosed
	case a.Flow.Document():
		item.State = work.StateMerged
	default:
		item.State = work.StateCompleted
	}
	if !gone && p.State == work.PullOpen {
		h.noteIssuePauses(r, a.Flow)
		talk, err := h.wholeTalk(ctx, issue)
		if err != nil {
			return item, err
		}
		h.addTalk(work.EventSource, 0, talk)
	}
	return h.updateText(ctx, item, r, a.Name)
}

// A label may name work that has ended: its pull request is not among the open ones.

// setAfter reports whether a label was set after a pull request closed. In the second of its end it
// was: a label that led to the pull request is older than the work on it.
func setAfter(labelled github.TimelineEvent, p github.Pull) bool {
	return !labelled.CreatedAt.Before(p.ClosedAt)
}

// adoptEnded reports whether an issue's label already led to a pull request, and tracks it, also if
// it is merged or closed. A label set after the pull request closed starts over.
func (h *reading) adoptEnded(ctx context.Context, r issueRead, a flowAsked) (bool, error) {
	past, known, err := h.pastPull(ctx, r, a, "")
	switch {
	case err != nil || known || past.Number == 0:
		return false, err
	case past.State == work.PullOpen:
		return true, h.adoptPull(ctx, past.Pull, past.mark)
	case setAfter(a.set, past.Pull):
		return false, nil
	}
	a.Flow = past.mark.Flow
	return true, h.adoptClosed(ctx, r, a, past.Pull)
}

// markedPull is a pull request of ours with its mark.
type markedPull struct {
	github.Pull
	mark work.PullMark
}

// pastPull finds the newest pull request that we opened for an issue's label; its number is 0 if there is none.
// It is one that the timeline names, or else one whose branch has a name that the issue's current and former
// titles give: a label set since this database began has none of those that the database lacks. only is the
// state that it must have; empty: any. known means that the database already has one.
func (h *reading) pastPull(ctx context.Context, r issueRead, a flowAsked, only work.PullState) (past markedPull, known bool, err error) {
	isPast := func(p github.Pull) (bool, error) {
		if only != "" && p.State != only {
			return false, nil
		}
		mark, ours, err := h.ownPull(ctx, p)
		past = markedPull{p, mark}
		dropped := mark.Run != 0 && p.State == work.PullClosed // a change of a roadmap that was not merged says nothing about it
		return ours && !dropped && mark.Issue == r.Number && follows(mark.Flow, a.Flow), err
	}
	titles := []string{r.Title}
	for _, t := range slices.Backward(r.timeline) {
		if t.RenamedFrom != "" && !slices.Contains(titles, t.RenamedFrom) {
			titles = append(titles, t.RenamedFrom)
		}
		if t.FromPull == 0 || !h.isOurs(t.Actor) {
			continue
		}
		if _, tracked := h.pull(ctx, t.FromPull); tracked {
			return markedPull{}, true, nil
		}
		p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, t.FromPull)
		if err == nil && ok {
			ok, err = isPast(p)
		}
		if err != nil || ok {
			return past, false, err
		}
	}
	if a.set.CreatedAt.After(h.row.IssuesSince.Add(2 * overlap)) { // no pass with a lost database acted on it
		return markedPull{}, false, nil
	}
	flows := []work.Flow{a.Flow}
	if a.Flow == work.FlowDesign {
		flows = []work.Flow{work.FlowImplementation, work.FlowDesign} // the first shows how far the work got
	}
	for _, flow := range flows {
		for _, title := range titles {
			pulls, err := h.repo.GitHub.PullsByHead(ctx, h.row.Current, work.BranchName(flow, r.Number, title, 0))
			if err != nil {
				return markedPull{}, false, err
			}
			sorted.By(pulls, func(a, b github.Pull) int { return b.Number - a.Number })
			for _, p := range pulls {
				if ok, err := isPast(p); ok || err != nil {
					return past, false, err
				}
			}
		}
	}
	return markedPull{}, false, nil
}

// follows reports whether a label leads to a pull request of the flow. A design leads to its
// implementation.
func follows(flow, label work.Flow) bool {
	return flow == label || flow == work.FlowImplementation && label == work.FlowDesign
}

// adoptClosed tracks a pull request that ended, and its work item.
func (h *reading) adoptClosed(ctx context.Context, r issueRead, a flowAsked, p github.Pull) error {
	item, err := h.originOf(ctx, r, a, p, r.Number)
	if err == nil {
		h.adopt(item, p, a.set.CreatedAt)
	}
	return err
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
	marks, _ := work.ParseMarks(body)
	for _, key := range marks.Handled {
		h.handled[key] = true
	}
	by := work.InstallationIn(h.row.Key(), marks.By)
	if !h.ours.Has(by) && at.After(h.sign.At) && h.now().Sub(at) < signFor {
		h.sign = work.Sign{ID: by, At: at, URL: url}
	}
}

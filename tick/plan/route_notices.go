package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// settled finishes comments in resolved threads.
func (r *itemPlanner) settled() {
	var resolved []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		if e.Kind == work.EventReview && slices.Contains(r.item.Resolved, e.ThreadTop) {
			resolved = append(resolved, e)
			return true
		}
		return false
	})
	r.finish(work.OutcomeResolved, resolved...)
}

// redirects plans a redirect to the pull request for each comment made on the issue after it was
// opened: one per comment, ever.
func (r *itemPlanner) redirects() {
	var answered, unanswered []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		if !r.item.OnIssueDuringPull(e) {
			return false
		}
		token := work.RedirectToken(r.v.Repo.Key(), e.Number, e.Source)
		state, planned := r.item.Notices[token]
		if !planned && r.pointedOften(e) {
			unanswered = append(unanswered, e)
			return true
		}
		r.pointed = append(r.pointed, e)
		switch {
		case planned && state.Settled():
			answered = append(answered, e)
		case !planned:
			r.notice(r.redirect(e, token),
				fmt.Sprintf("%s commented on the issue, and the work is on #%d now", e.Author.Login, r.item.Pull.Number))
		}
		return true
	})
	r.finish(work.OutcomeRedirected, answered...)
	r.finish(outcomeUnpointed, unanswered...)
}

// mostPointers is how many redirects an author gets per issue and day: a program that answers each
// one would never end.
const mostPointers = 10

// outcomeUnpointed is the outcome of a comment on the issue without a redirect.
const outcomeUnpointed = "ignored: made on the issue, and its author got 10 links to the pull request in a day"

// pointedOften reports whether the author of a comment already got mostPointers redirects in the
// day before it.
func (r *itemPlanner) pointedOften(e work.Event) bool {
	n := 0
	for _, p := range slices.Concat(r.pointed, r.item.Pointed) {
		if p.Author.ID == e.Author.ID && !p.CreatedAt.After(e.CreatedAt) && p.CreatedAt.After(e.CreatedAt.Add(-spending.Window)) {
			n++
		}
	}
	return n >= mostPointers
}

// finishRedirected finishes comments that were redirected, so that no later prompt contains them.
func (r *itemPlanner) finishRedirected() {
	var redirected []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		_, planned := r.item.Notices[work.RedirectToken(r.v.Repo.Key(), e.Number, e.Source)]
		if e.Kind == work.EventSource && planned {
			redirected = append(redirected, e)
			return true
		}
		return false
	})
	r.finish(work.OutcomeRedirected, redirected...)
}

// pointToReplan answers each person once who comments on the issue of a merged roadmap, where no turn
// reads comments.
func (r *itemPlanner) pointToReplan() {
	if c := r.commander(); !c.changesRoadmap() || r.item.IssueClosed {
		return
	}
	var told []string
	for _, e := range r.item.Events {
		token := work.NoticeToken(r.v.Repo.Key(), e.Number, "the roadmap is merged "+strconv.FormatInt(e.Author.ID, 10))
		if e.Kind != work.EventSource || slices.Contains(told, token) {
			continue
		}
		told = append(told, token)
		r.comment(r.item.Number, token, "The roadmap is merged, and no agent reads comments here. To change it, comment `/mergexo replan WHY`, with what is to change. "+
			"What concerns one of its issues belongs in a comment there.", "comment on a merged roadmap", fmt.Sprintf("%s commented on the issue of a merged roadmap", e.Author.Login))
	}
}

// acknowledge plans eyes for comments that a turn will handle, even before a slot is free or the
// quiet period is over.
func (r *itemPlanner) acknowledge() {
	seen := r.item.Seen()
	for _, e := range r.item.Events {
		if !seen[e.Key] || !e.Kind.IsComment() {
			continue
		}
		token := work.ReactionToken(r.v.Repo.Key(), e.Kind, e.Source)
		if _, planned := r.item.Notices[token]; planned {
			continue
		}
		r.notice(work.Action{
			RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionReaction, Need: work.NeedCosmetic, Token: token,
			State: work.ActionPlanned, Number: e.Number, Target: e.Source, On: e.Kind, Why: "seen",
		}, fmt.Sprintf("eyes for %s's comment", e.Author.Login))
	}
}

// comment plans a comment. said is the line of the plan.
func (r *itemPlanner) comment(number int, token, body, why, said string) {
	r.notice(work.Action{
		RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: number, Body: r.v.Policy.Mark(body, work.Marks{Token: token}), Why: why,
	}, said)
}

func (r *itemPlanner) notice(a work.Action, said string) {
	w := r.words("notice", "", said)
	w.Says.Number = a.Number
	r.p.add(change.Notice{Action: a, Words: w})
}

func (r *itemPlanner) redirect(e work.Event, token string) work.Action {
	item, pull := r.item, r.item.Pull
	body := fmt.Sprintf("The work on this issue has moved to pull request #%d (%s). Comments here are no longer acted on: please repeat yours there.",
		pull.Number, pull.URL)
	return work.Action{
		RepoID: r.v.Repo.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: item.Number, Target: e.Source, Body: r.v.Policy.Mark(body, work.Marks{Token: token}), Why: e.Author.Login + "'s comment belongs to the pull request",
	}
}

package tick

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// planRepo decides what is to be done. It is a pure function of its view.
func planRepo(v View) Plan {
	p := Plan{Repo: v.Repo}
	for _, item := range v.Items {
		r := router{v: v, p: &p, item: item}
		r.pull, r.hasPull = v.Pulls[item.ID]
		for _, e := range v.Events {
			if e.ItemID == item.ID {
				r.events = append(r.events, e)
			}
		}
		r.route()
	}
	return p
}

// router plans for one work item.
type router struct {
	v       View
	p       *Plan
	item    work.Item
	pull    work.PullRequest
	hasPull bool
	events  []work.Event
}

func (r *router) route() {
	if r.ended() {
		return
	}
	r.note(work.EventHead, work.EventReopened, work.EventClosed, work.EventMerged)
	if r.hasPull {
		r.note(work.EventLabelled)
		r.redirects()
		r.settled()
	}
	r.acknowledge()
	switch turn, busy := r.unfinished(); {
	case busy:
		r.busy(turn)
	case r.hasPull:
		r.feedback()
	default:
		r.start()
	}
}

// ended honours what became of the pull request or the issue, from any state.
func (r *router) ended() bool {
	if !r.hasPull && !r.item.State.Open() && r.labelled() {
		r.move(work.CauseLabelled, work.StatePending, "the label was set anew while an earlier start was called off")
		return false
	}
	cause, to, why := work.Cause(""), r.item.State, ""
	switch {
	case r.hasPull && r.pull.State == work.PullMerged:
		cause, to, why = work.CausePullMerged, work.StateCompleted, fmt.Sprintf("pull request #%d was merged", r.pull.Number)
		if r.item.Flow == work.FlowDesign {
			to = work.StateMerged
		}
	case r.hasPull && r.pull.State == work.PullClosed:
		cause, to, why = work.CausePullClosed, work.StateClosed, fmt.Sprintf("pull request #%d was closed", r.pull.Number)
	case r.hasPull && !r.item.State.Open():
		cause, to, why = work.CauseReopened, work.StateAwaitingFeedback, fmt.Sprintf("pull request #%d was reopened", r.pull.Number)
	case !r.hasPull && r.issueClosed():
		cause, to, why = work.CauseWithdrawn, work.StateClosed, "the issue was closed, or its label taken away"
	}
	if to != r.item.State {
		r.move(cause, to, why)
	}
	if to.Open() {
		return false
	}
	r.note(work.EventMerged, work.EventClosed, work.EventReopened, work.EventHead, work.EventLabelled)
	if why == "" {
		why = "the work item is " + string(to)
	}
	outcome := outcomeVoid + why
	r.finish(outcome, r.events...)
	return true
}

func (r *router) move(cause work.Cause, to work.State, why string) {
	r.p.Moves = append(r.p.Moves, Move{Item: r.item.ID, Cause: cause, To: to})
	r.line("move", "", why)
}

// issueClosed reports whether the newest of the issue's pending closings and
// reopenings is a closing.
func (r *router) issueClosed() bool {
	closed := false
	for _, e := range r.events {
		if e.Number != r.item.Number {
			continue
		}
		if e.Kind == work.EventClosed {
			closed = true
		}
		if e.Kind == work.EventReopened {
			closed = false
		}
	}
	return closed
}

// note finishes facts that ask for nothing.
func (r *router) note(kinds ...work.EventKind) {
	var noted []work.Event
	r.events = slices.DeleteFunc(r.events, func(e work.Event) bool {
		if slices.Contains(kinds, e.Kind) {
			noted = append(noted, e)
			return true
		}
		return false
	})
	r.finish("noted", noted...)
}

// settled finishes comments in threads that somebody resolved.
func (r *router) settled() {
	var resolved []work.Event
	r.events = slices.DeleteFunc(r.events, func(e work.Event) bool {
		if e.Kind == work.EventReview && r.v.Settled[e.ThreadTop] {
			resolved = append(resolved, e)
			return true
		}
		return false
	})
	r.finish("ignored: its thread is resolved", resolved...)
}

// redirects points comments on the source issue, made after the pull request
// was opened, to the pull request: one redirect a comment, ever.
func (r *router) redirects() {
	if !r.v.Policy.IssueComments {
		return
	}
	var answered []work.Event
	r.events = slices.DeleteFunc(r.events, func(e work.Event) bool {
		if e.Kind != work.EventSource || !e.CreatedAt.After(r.pull.CreatedAt) {
			return false
		}
		token := work.RedirectToken(r.v.Repo.Name, e.Number, e.Source)
		switch state, planned := r.v.Notices[token]; {
		case planned && state.Settled():
			answered = append(answered, e)
		case !planned:
			r.p.Notices = append(r.p.Notices, redirect(r.v.Repo, r.item, r.pull, e, token))
			r.line("notice", "", fmt.Sprintf("%s commented on the issue; the conversation is on #%d now", e.Author.Login, r.pull.Number))
		}
		return true
	})
	r.finish("redirected", answered...)
}

// acknowledge plans eyes for every comment that is going to be worked on, slot
// or no slot, quiet period or not.
func (r *router) acknowledge() {
	for _, e := range r.events {
		if e.Kind == work.EventSummary || !e.Kind.Said() || !r.wanted(e) {
			continue
		}
		token := work.ReactionToken(r.v.Repo.Name, e.Kind, e.Source)
		if _, planned := r.v.Notices[token]; planned {
			continue
		}
		r.p.Notices = append(r.p.Notices, work.Action{
			RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionReaction, Need: work.NeedCosmetic, Token: token,
			State: work.ActionPlanned, Number: e.Number, Target: e.Source, On: e.Kind, Why: "seen",
		})
		r.line("notice", "", fmt.Sprintf("eyes for %s's comment", e.Author.Login))
	}
}

// wanted reports whether an event will be part of a turn.
func (r *router) wanted(e work.Event) bool {
	return e.Kind.Said() && (!r.hasPull || r.v.Policy.FeedbackLoop)
}

// unfinished finds the turn that this item is in: in the database, or named by
// a held slot, whatever the database says.
func (r *router) unfinished() (work.Turn, bool) {
	for _, t := range r.v.Turns {
		if t.ItemID == r.item.ID {
			return t, true
		}
	}
	for _, h := range r.v.Held {
		if h.Repo == r.v.Repo.Name.String() && (h.Issue == r.item.Number || r.hasPull && h.Number == r.pull.Number) {
			return work.Turn{Key: h.Turn, Number: h.Number}, true
		}
	}
	return work.Turn{}, false
}

// busy says why nothing new is planned, and lets a person's comment resume a
// turn that waits for one.
func (r *router) busy(t work.Turn) {
	switch {
	case t.Blocked && r.answeredSince():
		r.p.Resumed = append(r.p.Resumed, t.ID)
		r.p.Moves = append(r.p.Moves, Move{Item: r.item.ID, Cause: work.CauseResumed, To: work.StateRunning})
		r.line("resume", t.Kind, "a person answered")
	case t.Blocked:
		r.line("wait", t.Kind, "blocked: "+r.item.Reason)
	case t.NotBefore.After(r.v.Now):
		r.line("wait", t.Kind, fmt.Sprintf("until %s: %s", t.NotBefore.Format(time.RFC3339), t.WaitReason))
	default:
		r.line("wait", t.Kind, "a turn is running")
	}
}

// answeredSince reports whether somebody who may command said something after
// the item came to stand still.
func (r *router) answeredSince() bool {
	return slices.ContainsFunc(r.events, func(e work.Event) bool { return e.Kind.Said() && e.SeenAt.After(r.item.Since) })
}

// labelled reports whether a labelling waits to be acted on.
func (r *router) labelled() bool {
	return slices.ContainsFunc(r.events, func(e work.Event) bool { return e.Kind == work.EventLabelled })
}

// start plans the turn that opens the pull request.
func (r *router) start() {
	answered := r.item.State == work.StateBlocked && r.answeredSince()
	switch {
	case r.labelled(), answered:
	case r.item.State == work.StateBlocked:
		r.line("wait", "", "blocked: "+r.item.Reason)
		return
	default:
		return
	}
	var events, said []work.Event
	for _, e := range r.events {
		if e.Kind == work.EventLabelled || e.Kind == work.EventSource {
			events = append(events, e)
		}
		if e.Kind == work.EventSource {
			said = append(said, e)
		}
	}
	reason := "label " + r.item.Label
	if !r.labelled() {
		reason = count(len(said), "answer") + " by " + authors(said)
		if quiet := r.quietUntil(said); quiet.After(r.v.Now) {
			r.line("wait", "", "the quiet period after the last comment ends at "+quiet.Format(time.RFC3339))
			return
		}
	}
	r.plan(PlannedTurn{
		Kind: r.item.Flow.StartKind(), Number: r.item.Number, Base: r.v.Repo.DefaultBranch, Events: events, Reason: reason,
	})
}

// feedback plans the turn that answers people on the pull request.
func (r *router) feedback() {
	var said []work.Event
	for _, e := range r.events {
		if e.Kind.Said() {
			said = append(said, e)
		}
	}
	switch {
	case r.item.State == work.StateBlocked && !r.answeredSince():
		r.line("wait", "", "blocked: "+r.item.Reason)
		return
	case len(said) == 0:
		return
	case !r.v.Policy.FeedbackLoop:
		r.line("wait", "", fmt.Sprintf("%s, and enable_feedback_loop is false", count(len(said), "comment")))
		return
	}
	if quiet := r.quietUntil(said); quiet.After(r.v.Now) {
		r.line("wait", "", "the quiet period after the last comment ends at "+quiet.Format(time.RFC3339))
		return
	}
	reason := count(len(said), "new comment") + " by " + authors(said)
	if len(said) > r.v.Policy.MaxEvents {
		said = said[:r.v.Policy.MaxEvents]
		reason += fmt.Sprintf(", the first %d now", r.v.Policy.MaxEvents)
	}
	r.plan(PlannedTurn{
		Kind: r.item.Flow.FeedbackKind(), Number: r.pull.Number, Branch: r.pull.Branch, Base: r.pull.Base, Head: r.pull.HeadOID,
		Events: said, Reason: reason,
	})
}

func (r *router) plan(t PlannedTurn) {
	t.Item = r.item
	t.Since = r.v.Now
	for _, e := range t.Events {
		if e.SeenAt.Before(t.Since) {
			t.Since = e.SeenAt
		}
	}
	r.p.Turns = append(r.p.Turns, t)
	r.p.Lines = append(r.p.Lines, Line{Number: t.Number, Kind: t.Kind, What: "turn", Reason: t.Reason})
}

// quietUntil is when the burst of comments counts as over. GitHub's clock may
// run ahead of ours; no comment is newer than our sight of it.
func (r *router) quietUntil(said []work.Event) time.Time {
	var last time.Time
	for _, e := range said {
		at := e.UpdatedAt
		if at.IsZero() || at.After(e.SeenAt) {
			at = e.SeenAt
		}
		if at.After(last) {
			last = at
		}
	}
	return last.Add(r.v.Policy.QuietPeriod)
}

func (r *router) finish(outcome string, events ...work.Event) {
	if len(events) == 0 {
		return
	}
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	r.p.Finished = append(r.p.Finished, Finish{Events: ids, Outcome: outcome})
	r.line("finish", "", fmt.Sprintf("%s: %s", count(len(events), "event"), outcome))
}

func (r *router) line(what string, kind work.Kind, reason string) {
	number := r.item.Number
	if r.hasPull {
		number = r.pull.Number
	}
	r.p.Lines = append(r.p.Lines, Line{Number: number, Kind: kind, What: what, Reason: reason})
}

func redirect(repo work.Repo, item work.Item, pull work.PullRequest, e work.Event, token string) work.Action {
	body := fmt.Sprintf("The work on this issue goes on in pull request #%d (%s). Comments on the issue are no longer acted on: please say this on the pull request.",
		pull.Number, pull.URL)
	return work.Action{
		RepoID: repo.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: item.Number, Target: e.Source, Body: work.Mark(body, work.Marks{Token: token}), Why: "redirect of comment " + e.Source,
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func authors(events []work.Event) string {
	var names []string
	for _, e := range events {
		if !slices.Contains(names, e.Author.Login) {
			names = append(names, e.Author.Login)
		}
	}
	if len(names) > 3 {
		return fmt.Sprintf("%s and %s", names[0], count(len(names)-1, "other"))
	}
	return joinNames(names)
}

func joinNames(names []string) string {
	switch len(names) {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	}
	var s strings.Builder
	s.WriteString(names[0])
	for _, n := range names[1 : len(names)-1] {
		s.WriteString(", " + n)
	}
	return s.String() + " and " + names[len(names)-1]
}

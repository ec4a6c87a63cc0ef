package turn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// planActions returns the actions of an answer in their fixed order: push, pull request, replies,
// general comment. It is pure: the same answer gives the same actions.
func planActions(l *env.Lease, a prompts.Answer) []work.Action {
	if l.Item.Flow == work.FlowReview && l.Turn.Kind != work.KindReview {
		return nil // somebody else's pull request is only reviewed
	}
	c := composer{l: l, answer: a}
	if l.Turn.Kind == work.KindReview { // a review plans nothing else
		c.review()
		return c.planned
	}
	if l.Turn.Commit != "" {
		c.push()
	}
	if l.Turn.Kind.Start() {
		c.pullRequest()
		return c.planned
	}
	c.editPull()
	c.replies()
	c.findingReplies()
	c.flaky()
	c.generalComment()
	c.markHandled()
	return c.planned
}

type composer struct {
	l       *env.Lease
	answer  prompts.Answer
	planned []work.Action
}

func (c *composer) add(a work.Action) {
	a.RepoID, a.TurnID, a.ItemID = c.l.Turn.RepoID, c.l.Turn.ID, c.l.Item.ID
	a.Position, a.State = len(c.planned), work.ActionPlanned
	c.planned = append(c.planned, a)
}

func (c *composer) push() {
	t := c.l.Turn
	expected := t.Head
	if t.Kind.Start() && !c.l.Adopted {
		expected = "" // the branch must not exist yet
	}
	c.add(work.Action{
		Kind: work.ActionPush, Need: work.NeedRequired, Token: work.PushToken(c.l.Repo.Row.Key(), t.Branch, expected, t.Key),
		Number: t.Number, Target: t.Branch, Base: expected, Head: t.Commit, Title: t.Key, Why: t.Reason,
	})
}

func (c *composer) pullRequest() {
	t, item, a := c.l.Turn, c.l.Item, c.answer
	title, summary, refers := a.PRTitle, a.PRSummary, "Fixes"
	if t.Kind == work.KindDesignStart {
		title, summary, refers = "Design: "+a.Title, a.Summary, "Refs"
	}
	if t.Kind == work.KindRoadmapStart {
		d, asked := roadmapOf(c.l, a)
		title, summary, refers = "Roadmap: "+d.Title, prompts.RoadmapSummary(d, documentPath(c.l, ""), c.l.Repo.Settings.Roadmap, asked), "Refs"
		if item.Replans() {
			title = "Change the roadmap: " + d.Title
		}
	}
	token := work.PullRequestToken(c.l.Repo.Row.Key(), t.Branch)
	design := ""
	if t.Kind == work.KindImplementationStart && item.Document != "" {
		design = fmt.Sprintf("Design: `%s` (#%d)\n\n", item.Document, item.DesignPull)
	}
	tested := ""
	if c.l.Turn.Tested != "" {
		tested = fmt.Sprintf("Ran %s on %.10s: passed.\n\n", inCode(c.l.Turn.Tested), t.Commit)
	}
	disclosure := ""
	if c.l.Disclosure != "" {
		disclosure = c.l.Disclosure + "\n\n"
	}
	mark := work.PullMark{Issue: item.Number, Flow: item.Flow, Turn: t.Key}
	if r, _, err := askedRoadmap(t); err == nil && r != nil {
		mark.Run = r.Run
	}
	proposed := c.proposed()
	if proposed != "" {
		proposed += "\n\n"
	}
	tail := fmt.Sprintf("%s%s%s%s #%d\n\n%s%s", public.NoClosing(proposed), tested, design, refers, item.Number, disclosure, work.MarkPull(mark))
	extra := ""
	if c.l.Repo.Settings.Draft == config.UntilGreen {
		extra = work.AsDraft
	}
	c.add(work.Action{
		Kind: work.ActionPullRequest, Need: work.NeedRequired, Token: token, Target: t.Branch,
		Title: public.NoClosing(public.Title(title)), Body: prompts.Bounded(public.NoClosing(public.Body(summary)), tail, work.Marks{Token: token, By: c.l.Repo.Signed(), Handled: slices.Concat(t.EventKeys, c.l.EarlierKeys), Proposals: work.MarkProposals(c.l.Proposals)}),
		Base: t.Base, Head: t.Branch, Extra: extra, Why: t.Reason,
	})
}

// replies answers review comments in their threads, in the order in which they were written.
func (c *composer) replies() {
	t := c.l.Turn
	for _, e := range c.l.Events {
		r, ok := c.replyTo(e)
		if !ok {
			continue
		}
		id, err := strconv.ParseInt(e.Source, 10, 64)
		if err != nil {
			continue
		}
		token := work.ReplyToken(c.l.Repo.Row.Key(), t.Number, id, e.Hash)
		c.add(work.Action{
			Kind: work.ActionReply, Need: work.NeedRequired, Token: token, Number: t.Number, Target: strconv.FormatInt(e.ThreadTop, 10),
			Body: c.signed(public.Body(r.Body), work.Marks{Token: token}), Why: e.Key,
		})
		if r.Resolve {
			c.add(work.Action{
				Kind: work.ActionResolve, Need: work.NeedCosmetic, Number: t.Number, Target: strconv.FormatInt(e.ThreadTop, 10),
				Token: work.ResolveToken(c.l.Repo.Row.Key(), t.Number, strconv.FormatInt(e.ThreadTop, 10), t.Key), Why: e.Key,
			})
		}
	}
}

func (c *composer) replyTo(e work.Event) (prompts.ReviewReply, bool) {
	if e.Kind != work.EventReview {
		return prompts.ReviewReply{}, false
	}
	for _, r := range c.answer.ReviewReplies {
		if strconv.FormatInt(r.ReviewCommentID, 10) == e.Source {
			return r, true
		}
	}
	return prompts.ReviewReply{}, false
}

// proposed lists the follow-ups that the answer adds, and how one is opened.
func (c *composer) proposed() string {
	if len(c.l.Proposals) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Proposed follow-ups. Nobody works on them: `/mergexo followup %d` opens the first as an issue.\n", c.l.Proposals[0].Number)
	for _, p := range c.l.Proposals {
		fmt.Fprintf(&b, "\n%d. %s", p.Number, public.InlineBody(public.OneLine(p.Title+": "+p.Why)))
	}
	return b.String()
}

// generalComment plans the turn's comment in the conversation. It is never omitted if somebody
// would get no answer otherwise.
func (c *composer) generalComment() {
	text, proposed := c.generalText(), c.proposed()
	if text = strings.TrimSpace(text + "\n\n" + proposed); text == "" {
		return
	}
	t := c.l.Turn
	token := work.CommentToken(t.Key)
	c.add(work.Action{
		Kind: work.ActionComment, Need: work.NeedRequired, Token: token, Number: t.Number,
		Body: c.signed(text, work.Marks{Token: token, Proposals: work.MarkProposals(c.l.Proposals)}), Why: t.Reason,
	})
}

func (c *composer) generalText() string {
	a := c.answer
	var parts []string
	if strings.TrimSpace(a.GeneralComment) != "" {
		parts = append(parts, public.Body(a.GeneralComment))
	}
	if a.BlockedReason != "" {
		parts = append(parts, "I cannot continue without an answer to this: "+public.InlineBody(a.BlockedReason))
	}
	if text := c.flakyText(); text != "" {
		parts = append(parts, text)
	}
	changed, claimed := c.l.Turn.Commit != "" || c.l.Committed(), a.CommitMessage != ""
	if claimed && !changed {
		parts = append(parts, "No file was changed.")
	}
	if len(parts) > 0 || c.everybodyAnswered() {
		return strings.Join(parts, "\n\n")
	}
	if changed && c.l.Turn.Kind == work.KindFix && c.l.Turn.Reviewer == "" {
		return "" // nobody asked, and the commit shows it
	}
	edit := slices.IndexFunc(c.planned, isEdit)
	switch {
	case edit >= 0: // sent only if the edit was: see overtaken
		parts = append(parts, "Changed "+editedParts(c.planned[edit])+" of the pull request.")
	case changed:
		subject, _, _ := strings.Cut(commitMessage(c.l, a), "\n")
		parts = append(parts, "Pushed a change: "+public.InlineBody(subject))
	default:
		parts = append(parts, "I have read this and changed nothing.")
	}
	if c.unanswered() { // stored before each comment needed an answer
		parts = append(parts, "The agent gave no answer to the comments before this one. Please repeat what is still open.")
	}
	return strings.Join(parts, "\n\n")
}

func isEdit(a work.Action) bool { return a.Kind == work.ActionEditPull }

// editedParts names what an edit of the pull request replaces.
func editedParts(a work.Action) string {
	switch {
	case a.Body == "":
		return "the title"
	case a.Title == "":
		return "the description"
	}
	return "title and description"
}

// overtaken reports whether people edited or closed the pull request before a fix that only edits it. Nothing
// of the turn is sent then, and its checks wait for the next turn, which sees what people wrote: a stop would
// ask them for what they have just done.
func overtaken(l *env.Lease, planned []work.Action) bool {
	return l.Turn.Kind == work.KindFix && l.Turn.Commit == "" && !l.Committed() && slices.ContainsFunc(planned, func(a work.Action) bool {
		return isEdit(a) && a.State == work.ActionVoid
	})
}

// unanswered reports whether a comment of the turn needs an answer and gets no reply.
func (c *composer) unanswered() bool {
	return slices.ContainsFunc(c.l.Events, func(e work.Event) bool {
		_, ok := c.replyTo(e)
		return !ok && asks(e)
	})
}

// everybodyAnswered reports whether each comment that needs an answer gets a reply in its thread,
// and at least one does.
func (c *composer) everybodyAnswered() bool {
	return !c.unanswered() && slices.ContainsFunc(c.planned, func(a work.Action) bool { return a.Kind == work.ActionReply })
}

// asks reports whether an event needs an answer.
func asks(e work.Event) bool {
	return prompts.NewEvent{Kind: e.Kind, State: e.State, Body: e.Body}.Asks()
}

// markHandled puts the turn's event keys into the marker of its last visible action.
func (c *composer) markHandled() {
	for i := len(c.planned) - 1; i >= 0; i-- {
		a := &c.planned[i]
		if a.Kind != work.ActionReply && a.Kind != work.ActionComment {
			continue
		}
		marks, _ := work.ParseMarks(a.Body)
		marks.Handled = c.l.Turn.EventKeys
		a.Body = c.signed(work.Unmarked(a.Body), marks)
		return
	}
}

// commitMessage returns the message of the turn's commit.
func commitMessage(l *env.Lease, a prompts.Answer) string {
	message := public.NoClosing(public.Message(a.CommitMessage))
	switch {
	case l.Turn.Kind == work.KindFix && l.Turn.Reviewer != "":
		return fixMessage(l, message)
	case message != "":
		return message
	case l.Turn.Kind == work.KindDesignStart:
		return fmt.Sprintf("Design for #%d: %s", l.Item.Number, public.NoClosing(public.Title(a.Title)))
	case l.Turn.Kind == work.KindRoadmapStart:
		d, _ := roadmapOf(l, a)
		return fmt.Sprintf("Roadmap for #%d: %s", l.Item.Number, public.NoClosing(public.Title(d.Title)))
	case a.PRTitle != "":
		return public.NoClosing(public.Title(a.PRTitle))
	}
	if l.Merge != nil {
		return fmt.Sprintf("Merge %s into %s", l.Turn.Base, l.Turn.Branch)
	}
	if l.Turn.Kind == work.KindFix {
		return fmt.Sprintf("Fix the checks of #%d", l.Turn.Number)
	}
	return fmt.Sprintf("Answer the comments on #%d", l.Turn.Number)
}

// signed returns an agent's text with its signature and the markers below it.
func (c *composer) signed(text string, m work.Marks) string {
	m.By = c.l.Repo.Signed()
	return prompts.Bounded(text, c.l.Signature, m)
}

// flaky plans an issue for a flaky test and a rerun of the failed jobs. With a commit there is no
// rerun, because the push starts new checks.
func (c *composer) flaky() {
	f, t := c.answer.FlakyTest, c.l.Turn
	if f == nil || len(c.l.Red) == 0 {
		return
	}
	name := public.Title(f.Name)
	var seen strings.Builder
	for _, check := range c.l.Red[:min(len(c.l.Red), mostDescribed)] {
		fmt.Fprintf(&seen, "- %s (%s)\n", public.InlineBody(check.Name), check.URL)
	}
	token := work.IssueToken(c.l.Repo.Row.Key(), t.Number, t.Head, f.Name)
	body := fmt.Sprintf("%s\n\nSeen in the checks of #%d at %s:\n%s", public.Body(f.Reason), t.Number, t.Head, seen.String())
	c.add(work.Action{
		Kind: work.ActionIssue, Need: work.NeedRequired, Token: token, Number: t.Number, Title: public.NoClosing(public.Title("Flaky test: " + name)),
		Body: c.signed(public.NoClosing(body), work.Marks{Token: token}), Why: t.Reason,
	})
	for _, run := range c.l.Rerunnable() {
		id := strconv.FormatInt(run.ID, 10)
		c.add(work.Action{
			Kind: work.ActionRerun, Need: work.NeedRequired, Token: work.RerunToken(c.l.Repo.Row.Key(), t.Number, t.Head, id), Number: t.Number,
			Target: id, Base: strconv.Itoa(run.Attempt), Head: t.Head, Why: t.Reason,
		})
	}
}

// flakyText returns the part of the general comment about a flaky test.
func (c *composer) flakyText() string {
	f := c.answer.FlakyTest
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("A test looks flaky: %s. %s", public.InlineBody(f.Name), public.InlineBody(f.Reason))
	switch {
	case len(c.l.Red) == 0 || c.l.Turn.Commit != "":
		return text
	case len(c.l.Rerunnable()) > 0:
		return text + "\n\nIts failed jobs run again, once."
	}
	return text + "\n\nIts checks cannot be run again from here. Please rerun them, or say in a comment what to do."
}

// mostDescribed is how many red checks are read in detail.
const mostDescribed = 20

// whyStillRed returns why a person must act after a fix turn that neither changed anything nor
// reruns the checks: they stay red.
func whyStillRed(l *env.Lease, a prompts.Answer, planned []work.Action) work.Reason {
	if l.Turn.Kind != work.KindFix || l.Turn.Reviewer != "" || l.Turn.Commit != "" || l.Committed() {
		return work.Reason{}
	}
	helps := func(a work.Action) bool {
		return a.Kind == work.ActionRerun || isEdit(a) || a.Kind == work.ActionPush
	} // a void push: somebody pushed the same change
	red := work.Findings(l.Events)
	switch {
	case slices.ContainsFunc(planned, helps):
		return work.Reason{}
	case len(red) == 0:
		return work.Reason{Kind: work.WhyNotFixed, Branch: l.Turn.Base}
	case a.FlakyTest != nil:
		return work.Reason{Kind: work.WhyFlakyTest, Name: a.FlakyTest.Name}
	}
	return work.Reason{Kind: work.WhyNotFixed, Names: red}
}

package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// briefs makes the contexts of prompts.
type briefs struct {
	*env.Env
	looks *lastLook
	may   func(context.Context, *env.Repo, work.Account) (bool, error) // may an account give commands
}

// past is what the database has of an item when a turn begins.
type past struct {
	turns    []work.Turn   // oldest first
	session  string        // in which the turn's agent answered the last of them; empty: none
	followup work.Followup // for which the item waited
	waited   bool
	queued   []work.Event // comments on the issue that no turn has

	onIssue []work.Event // all of the issue

	// Of a turn on a pull request:
	all     []work.Event // of the item
	sent    []work.Action
	pull    work.PullRequest
	threads []work.Thread
}

// Past reads what the database has of a turn's past.
func (p *briefs) Past(ctx context.Context, l *env.Lease) (b past, err error) {
	now := l.Turn
	now.Agent = p.agentOf(l).Name
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		var errs [9]error
		b.turns, errs[0] = tx.ListTurns(ctx, l.Item.ID)
		b.session, _, _, errs[1] = tx.GetSession(ctx, store.SessionOf(now))
		b.followup, b.waited, errs[2] = tx.FindFollowup(ctx, l.Item.ID)
		b.onIssue, errs[3] = tx.ListEvents(ctx, l.Item.RepoID, l.Item.Number)
		if l.Turn.Kind.Start() {
			b.queued, errs[4] = env.QueuedComments(ctx, tx, l.Item)
			return errors.Join(errs[:]...)
		}
		b.all, errs[5] = tx.ListItemEvents(ctx, l.Item.ID)
		b.sent, errs[6] = tx.ListItemActions(ctx, l.Item.ID)
		b.pull, _, errs[7] = tx.FindPullOfItem(ctx, l.Item.ID)
		b.threads, errs[8] = tx.ListThreads(ctx, b.pull.ID)
		return errors.Join(errs[:]...)
	})
	return b, err
}

// earlierComments returns the keys of issue comments made for an earlier flow whose label was
// removed. A start's prompt contains them, so the pull request marks them as handled.
func (b past) earlierComments(l *env.Lease) (keys []string) {
	for _, e := range b.onIssue {
		if l.Turn.Kind.Start() && e.Kind == work.EventSource && e.ItemID != l.Item.ID && strings.HasPrefix(e.Outcome, work.OutcomeVoid) {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// PromptContext returns the context of a turn's prompt.
func (p *briefs) PromptContext(ctx context.Context, l *env.Lease, before past) (prompts.Context, error) {
	c := prompts.Context{
		Task: prompts.Task{
			Repository: l.Repo.Name.FullName(), Issue: issueOf(l.Item), Branch: l.Turn.Branch, Base: l.Turn.Base, BaseSHA: l.Turn.Head,
			Document: l.Item.Document, TurnKey: l.Turn.Key,
		},
		DecisionSummary: l.Item.DecisionSummary,
		Refused:         refusedChanges(p.Config.Runtime, l.Repo.Settings, l.Turn.Kind),
	}
	if err := p.surround(ctx, l, &c); err != nil {
		return c, err
	}
	var err error
	if c.Task.Issue.Role, err = p.authorRole(ctx, l); err != nil {
		return c, err
	}
	onIssue, pull := before.onIssue, before.pull
	c.Previous = l.EarlierAttempts(env.Unused(ofRole(before.turns, l.Turn.Role()), l.Turn))
	if !l.Turn.Kind.Start() { // later comments on the issue belong to no turn on the pull request
		onIssue = slices.DeleteFunc(onIssue, func(e work.Event) bool { return e.CreatedAt.After(pull.CreatedAt) })
	}
	c.Task.Issue.Comments = conversation(onIssue)
	if c.Handoff, err = p.handoff(ctx, l); err != nil {
		return c, err
	}
	if c.Parent, err = p.parent(ctx, l); err != nil {
		return c, err
	}
	if c.Accepts, err = p.accepts(ctx, l); err != nil {
		return c, err
	}
	if l.Turn.Kind.Start() {
		if err := p.roadmapContext(ctx, l, &c); err != nil {
			return c, err
		}
		p.resumeContext(ctx, l, &c, before)
		return c, nil
	}
	c.Task.PullRequest = &prompts.PullRequest{Number: pull.Number, URL: pull.URL, HeadSHA: l.Turn.Head, Base: pull.Base}
	if l.Shown.Number != 0 {
		c.Task.PullRequest.Title, c.Task.PullRequest.Version = l.Shown.Title, work.IssueHash(l.Shown.Title, l.Shown.Body)
		c.Task.PullRequest.Text, _ = work.SplitPull(l.Shown.Body)
	}
	c.NewEvents, c.Conflict = newEvents(l.Events), l.Conflict()
	if c.Checks, err = p.describeRed(ctx, l); err != nil {
		return c, err
	}
	c.Unresolved = unresolved(before.all, before.threads, l.Turn.ID)
	c.Earlier = earlier(before.all, before.sent, before.turns, l.Turn)
	if err := p.fillBase(ctx, l, &c); err != nil {
		return c, err
	}
	if err := p.roadmapContext(ctx, l, &c); err != nil {
		return c, err
	}
	switch {
	case l.Turn.Kind == work.KindReview:
		return c, p.reviewContext(ctx, l, &c)
	case l.Turn.Reviewer != "":
		return c, p.fixContext(ctx, l, &c)
	}
	return c, nil
}

// fillBase adds the merge base of the branch and the files changed since.
func (p *briefs) fillBase(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	m := l.Repo.Git()
	base, ok, err := m.MergeBase(ctx, l.Turn.Base, l.Turn.Head)
	if err != nil || !ok {
		return err
	}
	c.Task.BaseSHA = base
	if c.Task.ChangedFiles, err = m.ChangedFiles(ctx, base, l.Turn.Head); err != nil {
		return fmt.Errorf("list the changed files: %w", err)
	}
	if c.Task.Document == "" && l.Item.Flow.Document() {
		at := slices.IndexFunc(c.Task.ChangedFiles, func(path string) bool { return work.IsDocument(l.Item.Flow, path, l.Item.Number) })
		if at >= 0 { // the document's name is made from an older title, which the lost database had
			c.Task.Document = c.Task.ChangedFiles[at]
		}
	}
	return nil
}

func issueOf(i work.Item) prompts.Issue {
	return prompts.Issue{Number: i.Number, Title: i.Title, Body: i.Body, Author: i.Author.Login, URL: i.URL}
}

// conversation returns the comments on the issue by people who may give commands, in order.
func conversation(all []work.Event) []prompts.Comment {
	var out []prompts.Comment
	for _, e := range all {
		if e.Kind == work.EventSource && counts(e) {
			out = append(out, commentOf(e))
		}
	}
	return out
}

// counts reports whether an agent may see an event's text: the author may give commands, and it is
// the newest version.
func counts(e work.Event) bool {
	return e.Outcome == "" || e.Outcome == work.OutcomeAnswered || strings.HasPrefix(e.Outcome, work.OutcomeVoid)
}

func commentOf(e work.Event) prompts.Comment {
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		id = 0
	}
	return prompts.Comment{ID: id, Author: e.Author.Login, Role: role(e), Body: e.Body, URL: e.URL, CreatedAt: e.CreatedAt}
}

func newEvents(events []work.Event) []prompts.NewEvent {
	var out []prompts.NewEvent
	for _, e := range events {
		if !e.Kind.IsComment() {
			continue // these are in the context with their facts
		}
		n := prompts.NewEvent{
			ID: e.Source, Kind: e.Kind, State: verdictOf(e), Author: e.Author.Login, Role: role(e), URL: e.URL, Path: e.Path, Line: e.Line,
			DiffHunk: e.DiffHunk, Body: e.Body, CreatedAt: e.CreatedAt,
		}
		if e.Kind == work.EventReview && strconv.FormatInt(e.ThreadTop, 10) != e.Source {
			n.InReplyTo = e.ThreadTop
		}
		out = append(out, n)
	}
	return out
}

// ourAgent is the author of the agent's own earlier texts in a prompt.
const ourAgent = "you, the agent"

// verdictOf returns the state of the review to which a text belongs; empty for a line comment in a
// review that only comments.
func verdictOf(e work.Event) string {
	if e.Kind == work.EventReview && e.State == "COMMENTED" {
		return ""
	}
	return e.State
}

// earlier returns what people and the agent wrote on the pull request in earlier turns, in order. A
// new session does not remember it.
func earlier(all []work.Event, sent []work.Action, turns []work.Turn, now work.Turn) []prompts.Comment {
	keys := map[int64]string{}
	for _, t := range turns {
		keys[t.ID] = t.Key
	}
	var out []prompts.Comment
	for _, e := range all {
		if e.Kind.IsComment() && e.Kind != work.EventSource && e.TurnID != now.ID && e.Outcome == work.OutcomeAnswered {
			said := commentOf(e)
			said.Turn = keys[e.TurnID]
			out = append(out, said)
		}
	}
	for _, a := range sent {
		if (a.Kind == work.ActionReply || a.Kind == work.ActionComment) && a.Number == now.Number && a.TurnID != 0 && a.TurnID != now.ID && a.State == work.ActionApplied {
			out = append(out, prompts.Comment{Author: ourAgent, Body: work.Unmarked(a.Body), URL: a.ResultURL, CreatedAt: a.SeenAt, Turn: keys[a.TurnID]})
		}
	}
	sorted.By(out, func(a, b prompts.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out
}

// unresolved returns the unresolved threads without events of this turn.
func unresolved(all []work.Event, threads []work.Thread, turnID int64) []prompts.Unresolved {
	var out []prompts.Unresolved
	for _, t := range threads {
		if t.Resolved {
			continue
		}
		u := prompts.Unresolved{Kind: "thread"}
		asked := false
		for _, e := range all {
			if e.Kind != work.EventReview || e.ThreadTop != t.Top || !counts(e) {
				continue
			}
			asked = asked || e.TurnID == turnID
			u.Path, u.Line, u.URL = e.Path, e.Line, e.URL
			u.Comments = append(u.Comments, commentOf(e))
		}
		if len(u.Comments) > 0 && !asked {
			out = append(out, u)
		}
	}
	return out
}

// upToDate reports whether a stored prompt has this unfinished work (or none) and these
// surroundings. The operator may have configured another agent, which answers in another form.
func upToDate(stored []byte, partial *prompts.Partial, now prompts.Surroundings) bool {
	var req env.Request
	if err := json.Unmarshal(stored, &req); err != nil {
		return true // the next reader reports the error
	}
	if !reflect.DeepEqual(req.Context.Surroundings, prompts.Prepare(prompts.Context{Surroundings: now}).Surroundings) {
		return false
	}
	if partial == nil || req.Context.Partial == nil {
		return partial == req.Context.Partial
	}
	return partial.Commit == req.Context.Partial.Commit
}

// resumeContext adds for a resumed start why it waited, the commit that was kept, and the comments
// since.
func (p *briefs) resumeContext(ctx context.Context, l *env.Lease, c *prompts.Context, before past) {
	if !before.waited {
		return
	}
	f := before.followup
	said := work.NewIssueComments(l.Events, f.EventCursor)
	c.NewEvents = newEvents(said)
	c.Task.Issue.Comments = slices.DeleteFunc(c.Task.Issue.Comments, func(told prompts.Comment) bool {
		return slices.ContainsFunc(said, func(e work.Event) bool { return work.CommentID(e) == told.ID })
	})
	c.Waited = explain.Reason(f.Reason, p.Here(l.Repo, l.Item, false)).Here()
	if f.Commit != "" && l.Repo.Git().Has(ctx, f.Commit) {
		c.Waited += fmt.Sprintf("\nYour work until then is kept as commit %s. `git diff %s^ %s` shows it, `git checkout %s -- PATH` takes a file over.",
			f.Commit, f.Commit, f.Commit, f.Commit)
	}
}

// newestComment returns the newest comment id on the issue; 0: none.
func newestComment(c prompts.Context) int64 {
	var newest int64
	for _, told := range c.Task.Issue.Comments {
		newest = max(newest, told.ID)
	}
	for _, e := range c.NewEvents {
		if e.Kind == work.EventSource {
			newest = max(newest, work.CommentID(work.Event{Source: e.ID}))
		}
	}
	return newest
}

// Write returns the prompts of a turn: the whole one, and the one for the session that it continues.
func (p *briefs) Write(l *env.Lease, kind work.Kind, c prompts.Context, before past) (env.Request, error) {
	req := env.Request{Context: prompts.Prepare(c), RunStartComment: newestComment(c)}
	runs := prompts.Split(c)
	for _, one := range runs {
		one = prompts.Prepare(one)
		prompt, err := p.Prompts.Render(kind, one)
		switch {
		case err != nil:
			return req, fmt.Errorf("render the prompt: %w", err)
		case len(runs) == 1:
			req.Prompt = prompt
		default:
			req.Parts = append(req.Parts, env.Part{Prompt: prompt, Context: one})
		}
	}
	if len(runs) > 1 { // each in a new session
		return req, nil
	}
	var err error
	req.Resumed, err = p.resumed(l, kind, req.Context, before)
	return req, err
}

// resumed returns the prompt for the session that the turn continues. There is one if that session
// answered the last turn that ran the same agent in the same role: then it knows what that turn's
// prompt said, and nothing newer. After a run of this turn the session may know a part of its prompt.
func (p *briefs) resumed(l *env.Lease, kind work.Kind, c prompts.Context, before past) (env.Resumed, error) {
	now, session := l.Turn, before.session
	if now.Agent = p.agentOf(l).Name; now.Runs > 0 || session == "" {
		return env.Resumed{}, nil
	}
	told, ok := toldBefore(before.turns, now, session)
	if !ok {
		return env.Resumed{}, nil
	}
	news, err := p.Prompts.Resume(kind, c, told)
	if err != nil {
		return env.Resumed{}, fmt.Errorf("render the prompt: %w", err)
	}
	return env.Resumed{Session: session, Prompt: news}, nil
}

// toldBefore returns what a session knows; false: that is not certain.
func toldBefore(turns []work.Turn, now work.Turn, session string) (told prompts.Told, ok bool) {
	for _, t := range turns {
		if t.ID == now.ID || t.Runs == 0 || t.Agent != now.Agent || t.Role() != now.Role() {
			continue
		}
		var req env.Request
		var answer prompts.Answer
		ok = t.Session == session && json.Unmarshal(t.Request, &req) == nil && json.Unmarshal(t.Answer, &answer) == nil && req.Prompt != ""
		told = prompts.Told{Prompt: req.Prompt, Context: req.Context, Turns: told.Turns, Decided: answer.DecisionSummary}
		if ok {
			told.Turns = append(told.Turns, t.Key)
		}
	}
	return told, ok
}

// beginMerge merges the base into the head in the mirror, for the agent to resolve. A clean merge
// needs neither agent nor commit; GitHub has only not noticed yet, so the turn is cancelled, unless
// it is also about checks.
func (p *briefs) beginMerge(ctx context.Context, l *env.Lease) error {
	m := l.Repo.Git()
	base, ok, err := m.Head(ctx, l.Turn.Base) // fetched right before
	if err != nil {
		return fmt.Errorf("find the head of %s: %w", l.Turn.Base, err)
	}
	if !ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBaseGone, Branch: l.Turn.Base}}
	}
	merge, err := m.Merge(ctx, l.Turn.Head, base)
	if err != nil {
		return err
	}
	if merge.Clean() {
		if l.About(work.EventCheck) {
			return nil
		}
		return &work.CancelledError{Reason: fmt.Sprintf("it merges cleanly into %s by now", l.Turn.Base)}
	}
	l.Merge = &merge
	if env.PromptBase(l.Turn.Request) != base {
		l.Turn.Request = nil // the prompt names another base commit
	}
	return nil
}

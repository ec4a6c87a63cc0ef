package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// request is what an agent is told, stored before it first runs so that a turn
// that is run again is run with the same words.
type request struct {
	Prompt  string          `json:"prompt"`
	Context prompts.Context `json:"context"`

	RunStartComment int64 `json:"run_start_comment_id"` // the newest comment on the issue that it tells of
}

// execute runs the agent and stores its checked answer and its tree. After it
// returns the agent is never run again for this turn.
func (p *Runner) execute(ctx context.Context, l *lease) error {
	ag, err := p.Agents.Agent(ctx, l.remote.repo, l.turn.Kind)
	if err != nil {
		return errors.Join(err, l.place.leave())
	}
	l.turn.Agent, l.turn.Sandbox = ag.Name, ag.Sandbox
	if ag.Warning != "" {
		p.changed(l, unprotected, ag.Warning)
	}
	if err := p.able(ctx, l, ag); err != nil {
		return errors.Join(err, l.place.leave())
	}
	if err := p.testable(ctx, l, ag); err != nil {
		return errors.Join(err, l.place.leave())
	}
	if err := p.ask(ctx, l); err != nil {
		return errors.Join(err, l.place.leave())
	}
	answer, err := p.proven(ctx, l, ag)
	if err != nil {
		if gone := p.Store.InPlace(); gone != nil { // another pass may work at the same paths by now
			return errors.Join(err, gone)
		}
		p.keepPartial(ctx, l)
		return errors.Join(err, l.place.leave())
	}
	if err := l.place.leave(); err != nil {
		return err
	}
	return p.storeAnswer(ctx, l, answer)
}

func agentBlocked(a prompts.Answer) error {
	return &work.FollowupError{
		Kind: work.FollowupAsked, Reason: "the agent asks: " + a.BlockedReason, Hint: "answer in a comment on the issue",
	}
}

// ask stores what the agent is told, once, and anew when an attempt left
// something to go on from.
func (p *Runner) ask(ctx context.Context, l *lease) error {
	if err := p.looks.lookTrusted(ctx, l); err != nil {
		return err
	}
	partial, err := p.partial(ctx, l)
	if err != nil {
		return err
	}
	if l.turn.Request != nil && told(l.turn.Request, partial, p.briefs.surroundings(l)) {
		return nil
	}
	if err := p.looks.lookConfirmed(ctx, l); err != nil {
		return err
	}
	if err := p.restorer.takeIn(ctx, l); err != nil {
		return fmt.Errorf("take in what was said: %w", err)
	}
	c, err := p.briefs.promptContext(ctx, l)
	if err != nil {
		return err
	}
	if l.approves() {
		c.AllowedActions, c.ReadOnly = approvalOnly, true
	}
	c.Partial = partial
	newest := newestComment(c)
	c = prompts.Prepare(c)
	prompt, err := p.Prompts.Render(l.turn.Kind, c)
	if err != nil {
		return fmt.Errorf("render the prompt: %w", err)
	}
	if l.turn.Request, err = json.Marshal(request{Prompt: prompt, Context: c, RunStartComment: newest}); err != nil {
		return fmt.Errorf("encode the prompt: %w", err)
	}
	return p.saveTurn(ctx, l)
}

// answer runs the agent, and once more with the violations quoted when its
// answer breaks the rules.
func (p *Runner) answer(ctx context.Context, l *lease, talk *talk) (prompts.Answer, error) {
	told, err := toldOf(l.turn)
	if err != nil {
		return prompts.Answer{}, err
	}
	asked := prompts.Asked{Replies: askedReplies(l.turn), Told: told}
	var violations []string
	for range 2 {
		res, err := talk.say(ctx, violations)
		var bad *agent.AnswerError
		switch {
		case errors.As(err, &bad):
			violations = bad.Violations
		case err != nil:
			return prompts.Answer{}, err
		default:
			var a prompts.Answer
			if a, violations = p.decode(l.turn.Kind, res.Answer, asked); len(violations) == 0 {
				l.turn.Answer, l.turn.Session = res.Answer, res.Session
				return a, nil
			}
		}
		p.changed(l, "repairing", violations[0])
	}
	return prompts.Answer{}, fmt.Errorf("the agent's answer breaks the rules, also when asked again: %s", violations[0])
}

// decode reads an answer that was not stored before: it must hold no secret.
func (p *Runner) decode(kind work.Kind, raw []byte, asked prompts.Asked) (prompts.Answer, []string) {
	a, violations := prompts.Decode(kind, raw, asked)
	if len(violations) > 0 {
		return a, violations
	}
	return a, prompts.Leaks(p.Secrets, raw)
}

// askedReplies are the review comments that the turn was made for: the agent may
// reply to them. One may have been deleted since it did.
func askedReplies(t work.Turn) []int64 {
	var ids []int64
	for _, key := range t.EventKeys {
		e, _ := work.EventOfKey(key)
		if id, err := strconv.ParseInt(e.Source, 10, 64); err == nil && e.Kind == work.EventReview {
			ids = append(ids, id)
		}
	}
	return ids
}

// toldOf are the comments that the turn's agent was told of: each wants an answer.
func toldOf(t work.Turn) ([]prompts.NewEvent, error) {
	var req request
	if err := json.Unmarshal(t.Request, &req); err != nil {
		return nil, fmt.Errorf("decode the stored prompt: %w", err)
	}
	return req.Context.NewEvents, nil
}

// commit makes the turn's commit object from what the agent left. A design is
// written by us, from the answer; its agent changes no file. What has its
// commit on the branch already gets no second one.
func (p *Runner) commit(ctx context.Context, l *lease, a prompts.Answer) error {
	if l.committed() || l.approves() {
		l.turn.Commit = ""
		return nil
	}
	m := l.remote.mirror()
	c := git.Commit{
		Dir: l.place.dir, Index: l.place.index, Parents: l.parents(), From: l.from(), Date: gitDate(l.turn),
		Turn: l.turn.Key, Handled: l.uncommitted(), Message: commitMessage(l, a), Limits: p.limits(l), Edit: markImplemented(l),
		Trailers: trailers(l),
	}
	var made git.Committed
	var err error
	if l.turn.Kind == work.KindDesignStart {
		path := work.DocumentPath(l.item.Number, l.item.Title)
		made, err = m.CommitFiles(ctx, c, map[string][]byte{path: document(l, a)})
	} else {
		made, err = m.CommitTree(ctx, c)
	}
	if refused, ok := errors.AsType[*git.RefusedError](err); ok {
		return &work.FollowupError{Kind: work.FollowupRefused, Reason: "what the agent made is refused: " + refused.Reason, Hint: aroundRefusal(refused), Err: err}
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if made.Empty && l.turn.Kind.Start() && !l.adopted {
		return &work.FollowupError{Kind: work.FollowupUnchanged, Reason: "the agent finished without changing a file"}
	}
	l.turn.Commit, l.files = "", made.Files
	if !made.Empty {
		l.turn.Commit = made.OID
	}
	return nil
}

// aroundRefusal is what a person can do about a change that is refused, where it
// is more than to say something; empty where it is not.
func aroundRefusal(refused *git.RefusedError) string {
	if !refused.Protected {
		return ""
	}
	return "make this change yourself and tell the agent in a comment to leave it out, or change `protected_paths` in the config"
}

// wayOn is what a person can do about a turn that stopped.
func wayOn(l *lease) string {
	if l.turn.Kind.Start() {
		return "say more in a comment on the issue, or take the label away and set it again to start over"
	}
	return "comment on the pull request to have it tried again"
}

// markImplemented makes the implementation's commit say in the design document
// that it is implemented. A document that people took the front matter from is
// left as it is.
func markImplemented(l *lease) *git.Edit {
	if l.turn.Kind != work.KindImplementationStart || l.item.Document == "" {
		return nil
	}
	return &git.Edit{Path: l.item.Document, Do: func(doc []byte) ([]byte, error) {
		marked, err := prompts.MarkImplemented(doc, gitDate(l.turn))
		if err != nil {
			return doc, nil //nolint:nilerr // it has no front matter to say it in
		}
		return marked, nil
	}}
}

// trailers are those that the config adds to commits.
func trailers(l *lease) []string {
	var lines []string
	for _, line := range l.remote.Settings.Voice.Trailers {
		lines = append(lines, strings.ReplaceAll(line, agentWord, l.turn.Agent))
	}
	return lines
}

func commitMessage(l *lease, a prompts.Answer) string {
	message := prompts.NoClosing(prompts.CleanMessage(a.CommitMessage))
	switch {
	case message != "":
		return message
	case l.turn.Kind == work.KindDesignStart:
		return fmt.Sprintf("Design for #%d: %s", l.item.Number, prompts.NoClosing(prompts.CleanTitle(a.Title)))
	case a.PRTitle != "":
		return prompts.NoClosing(prompts.CleanTitle(a.PRTitle))
	}
	if l.merge != nil {
		return fmt.Sprintf("Merge %s into %s", l.turn.Base, l.turn.Branch)
	}
	if l.turn.Kind == work.KindFix {
		return fmt.Sprintf("Mend the checks of #%d", l.turn.Number)
	}
	return fmt.Sprintf("Answer the comments on #%d", l.turn.Number)
}

func document(l *lease, a prompts.Answer) []byte {
	return prompts.Document(prompts.DocumentFields{
		Issue: l.item.Number, IssueURL: l.item.URL, Priority: designPriority(l.item, a), TouchPaths: a.TouchPaths, DependsOn: a.DependsOn,
		EstimatedSize: a.EstimatedSize, GeneratedAt: gitDate(l.turn), Title: a.Title, Summary: a.Summary, Body: a.DesignDoc,
	})
}

// designPriority is the agent's where the issue does not say.
func designPriority(item work.Item, a prompts.Answer) int {
	if item.Priority == defaultPriority && a.Priority != 0 {
		return a.Priority
	}
	return item.Priority
}

// storeAnswer makes the answer last: the commit under a ref, then the journal
// in the mirror, then the row with the planned actions.
func (p *Runner) storeAnswer(ctx context.Context, l *lease, a prompts.Answer) error {
	ctx = context.WithoutCancel(ctx) // an agent is paid once
	var err error
	if l.heard, err = p.heardBefore(ctx, l); err != nil {
		return fmt.Errorf("read what was said before: %w", err)
	}
	l.disclosure, l.disclosedAside = p.briefs.disclosure(l), p.briefs.disclosureAside(l)
	planned := planActions(l, a)
	m := l.remote.mirror()
	if l.turn.Commit != "" {
		if err := m.KeepTurn(ctx, l.turn.Key, l.turn.Commit); err != nil {
			return fmt.Errorf("keep the commit: %w", err)
		}
	}
	journal, err := encodeJournal(l, planned)
	if err != nil {
		return err
	}
	if err := m.PutJournal(ctx, l.turn.Key, journal); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := p.storeAnswered(ctx, l, planned); err != nil {
		return err
	}
	p.changed(l, "answered", work.Short(l.turn.Commit))
	return nil
}

// storeAnswered stores the row of a turn whose answer the journal has, with
// its planned actions.
func (p *Env) storeAnswered(ctx context.Context, l *lease, planned []work.Action) error {
	now := p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.turn); err != nil {
			return err
		}
		if err := tx.GiveBackAttempt(ctx, l.turn.ID); err != nil { // it answered
			return err
		}
		for _, a := range planned {
			a.PlannedAt = now
			if _, err := tx.AddAction(ctx, a); err != nil {
				return err
			}
		}
		return tx.AdvanceTurn(ctx, l.turn.ID, work.StepClaimed, work.StepAnswered, now)
	})
	if err != nil {
		return fmt.Errorf("store the answer: %w", err)
	}
	l.turn.Step, l.turn.Attempts, l.attempted = work.StepAnswered, max(l.turn.Attempts-1, 0), false
	return nil
}

// agentLog is where the agent's standard error goes.
func (p *Runner) agentLog(l *lease) io.Writer {
	return &lineLog{log: p.Log.With(p.turnAttrs(l)...), room: maxAgentLog}
}

// heardBefore are the keys of what was said on the issue of a start for an earlier
// flow that was withdrawn: the prompt told of it, so the pull request names it, too.
func (p *Runner) heardBefore(ctx context.Context, l *lease) (keys []string, err error) {
	if !l.turn.Kind.Start() {
		return nil, nil
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		said, err := tx.ListEvents(ctx, l.item.RepoID, l.item.Number)
		for _, e := range said {
			if e.Kind == work.EventSource && e.ItemID != l.item.ID && strings.HasPrefix(e.Outcome, work.OutcomeVoid) {
				keys = append(keys, e.Key)
			}
		}
		return err
	})
	return keys, err
}

package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// runner runs agents.
type runner struct {
	*env.Env
	restorer *restorer
	looks    *lastLook
	briefs   *briefs
	tried    tried
	setups   failedSetups
}

// Execute runs the agent and stores its checked answer and its tree. Once it succeeds, the agent is
// not run again for this turn.
func (p *runner) Execute(ctx context.Context, l *env.Lease) error {
	ag, err := p.Hire(ctx, l.Repo.Row, l.Turn.Kind, l.Turn.Reviewer)
	if err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	l.Turn.Agent, l.Turn.InsteadOf, l.Turn.Sandbox = ag.Name, ag.InsteadOf, ag.Sandbox
	if ag.InsteadOf != "" {
		p.Changed(l, "handed on", fmt.Sprintf("to %s, because the provider of %s is out", ag.Name, ag.InsteadOf))
	}
	if err := requireSandbox(l, ag); err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	if ag.Warning != "" {
		p.Changed(l, env.Unprotected, ag.Warning)
	}
	if err := p.checkAgent(ctx, l, ag); err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	if err := p.testable(ctx, l, ag); err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	if err := p.checkReviewerAccount(ctx, l); err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	if l.Setup, err = p.setUp(ctx, l, ag, checkoutOf(l)); err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	session, err := p.ask(ctx, l)
	if err != nil {
		return errors.Join(err, l.Checkout.Unmark())
	}
	answer, err := p.runUntilTestsPass(ctx, l, ag, session)
	if err != nil {
		if gone := p.Store.InPlace(); gone != nil { // another pass may use the same paths
			return errors.Join(err, gone)
		}
		p.keepPartial(ctx, l)
		return errors.Join(err, l.Checkout.Unmark())
	}
	if err := l.Checkout.Unmark(); err != nil {
		return err
	}
	return p.storeAnswer(ctx, l, answer)
}

func agentBlocked(a prompts.Answer) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyQuestion, Text: a.BlockedReason}}
}

// ask makes the prompt, once per turn, and a new one if an attempt left unfinished work or the surroundings
// changed. Its first run stores it. It returns the session that the run continues; empty: a new one.
func (p *runner) ask(ctx context.Context, l *env.Lease) (session string, err error) {
	if err := p.looks.requireTrusted(ctx, l); err != nil {
		return "", err
	}
	before, err := p.briefs.Past(ctx, l)
	if err != nil {
		return "", err
	}
	l.EarlierKeys = before.earlierComments(l)
	partial, err := partial(ctx, l, before.turns)
	if err != nil {
		return "", err
	}
	if l.Turn.Request != nil && upToDate(l.Turn.Request, partial, p.briefs.surroundings(l)) {
		p.bringAttachments(ctx, l)
		return before.session, nil
	}
	if err := p.looks.requireConfirmed(ctx, l); err != nil {
		return "", err
	}
	if len(before.queued) > 0 {
		if err := p.restorer.addNewComments(ctx, l); err != nil {
			return "", fmt.Errorf("take in what was said: %w", err)
		}
	}
	c, err := p.briefs.PromptContext(ctx, l, before)
	if err != nil {
		return "", err
	}
	if l.Approves() {
		c.ReadOnly = true
	}
	c.Partial = partial
	if c.Attachments, err = p.attachments(ctx, l, c); err != nil {
		return "", fmt.Errorf("fetch what was attached: %w", err)
	}
	if len(c.Attachments) > 0 { // that took a while
		if err := p.looks.requireConfirmed(ctx, l); err != nil {
			return "", err
		}
	}
	req, err := p.briefs.Write(l, l.Turn.Kind, c, before)
	if err != nil {
		return "", err
	}
	if l.Turn.Request, err = json.Marshal(req); err != nil {
		return "", fmt.Errorf("encode the prompt: %w", err)
	}
	return before.session, nil
}

// answer runs the agent. If the answer breaks the rules, it runs the agent once more and quotes the
// violations.
func (p *runner) answer(ctx context.Context, l *env.Lease, talk *talk) (prompts.Answer, error) {
	asked := prompts.AskedOf(l.Turn.Kind, talk.asked.Context)
	var violations []string
	for range 2 {
		res, err := talk.ask(ctx, violations)
		var bad *agent.AnswerError
		switch {
		case errors.As(err, &bad):
			violations = bad.Violations
		case err != nil:
			return prompts.Answer{}, err
		default:
			var a prompts.Answer
			if a, violations = p.decode(l.Turn.Kind, res.Answer, asked); len(violations) == 0 {
				l.Turn.Answer, l.Turn.Session = res.Answer, res.Session
				return a, nil
			}
		}
		p.Changed(l, "repairing", violations[0])
	}
	return prompts.Answer{}, fmt.Errorf("the agent's answer breaks the rules, also on the second try: %s", violations[0])
}

// decode decodes a new answer and checks that it contains no secrets. An answer that was stored
// earlier is not checked again.
func (p *runner) decode(kind work.Kind, raw []byte, asked prompts.Asked) (prompts.Answer, []string) {
	a, violations := prompts.Decode(kind, raw, asked)
	if len(violations) > 0 {
		return a, violations
	}
	return a, prompts.Leaks(p.Secrets, raw)
}

// commit makes the turn's commit object from the checkout. A design's agent changes no file: its
// file is written from the answer. There is no commit if the branch already has one for all of the
// turn, or if the turn only reads.
func (p *runner) commit(ctx context.Context, l *env.Lease, a prompts.Answer) error {
	if l.Committed() || l.OnlyReads() {
		l.Turn.Commit = ""
		return nil
	}
	if stays := roadmapStays(l, a); stays != nil {
		return stays
	}
	m := l.Repo.Git()
	c := git.Commit{
		Dir: l.Checkout.Dir, Index: l.Checkout.Index, Parents: l.Parents(), From: l.CheckoutTree(), Date: env.GitDate(l.Turn),
		Turn: l.Turn.Key, Handled: l.Uncommitted(), Message: commitMessage(l, a), Limits: p.limits(l), Edit: markImplemented(l),
		Trailers: trailers(l), Account: p.Accounts.Identity(l.Repo.Name.Host),
	}
	var made git.Committed
	var err error
	if l.Turn.Kind.Document() {
		path := documentPath(l, "")
		made, err = m.CommitFiles(ctx, c, map[string][]byte{path: documentOf(l, a)})
	} else {
		made, err = m.CommitTree(ctx, c)
	}
	if refused, ok := errors.AsType[*git.RefusedError](err); ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyChangeRefused, Text: refused.Reason, Advice: aroundRefusal(refused)}, Err: err}
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if made.Empty && l.Turn.Kind.Start() && !l.Adopted {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyNothingChanged}}
	}
	l.Turn.Commit, l.Files = "", made.Files
	if !made.Empty {
		l.Turn.Commit = made.OID
	}
	return nil
}

// aroundRefusal returns what a person can do about a refused change besides commenting; empty:
// nothing.
func aroundRefusal(refused *git.RefusedError) string {
	if !refused.Protected {
		return ""
	}
	return "make this change yourself and tell the agent in a comment to leave it out, or change `protected_paths` in the config"
}

// markImplemented returns the edit that marks the design document as implemented in the
// implementation's commit. A document whose front matter people removed is not changed.
func markImplemented(l *env.Lease) *git.Edit {
	if l.Turn.Kind != work.KindImplementationStart || l.Item.Document == "" {
		return nil
	}
	return &git.Edit{Path: l.Item.Document, Do: func(doc []byte) ([]byte, error) {
		marked, err := prompts.MarkImplemented(doc, env.GitDate(l.Turn))
		if err != nil {
			return doc, nil //nolint:nilerr // it has no front matter to say it in
		}
		return marked, nil
	}}
}

// trailers returns the commit trailers that name the agent and a review.
func trailers(l *env.Lease) []string {
	var lines []string
	if l.Repo.Settings.Voice.Disclosure != "" {
		lines = append(lines, "Assisted-by: "+l.Turn.Agent)
	}
	if line := reviewTrailer(l); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// documentOf returns the file of a turn that writes a document.
func documentOf(l *env.Lease, a prompts.Answer) []byte {
	if l.Turn.Kind == work.KindRoadmapStart {
		d, _ := roadmapOf(l, a)
		return roadmap.Render(d)
	}
	return designDocument(l, a)
}

func designDocument(l *env.Lease, a prompts.Answer) []byte {
	return prompts.RenderDocument(prompts.DocumentFields{
		Issue: l.Item.Number, IssueURL: l.Item.URL, Priority: designPriority(l.Item, a), TouchPaths: a.TouchPaths, DependsOn: a.DependsOn,
		EstimatedSize: a.EstimatedSize, GeneratedAt: env.GitDate(l.Turn), Title: a.Title, Summary: a.Summary, Body: a.DesignDoc,
	})
}

// designPriority returns the agent's priority unless the issue sets one.
func designPriority(item work.Item, a prompts.Answer) int {
	if item.Priority == work.DefaultPriority && a.Priority != 0 {
		return a.Priority
	}
	return item.Priority
}

// storeAnswer stores the answer: first the commit under a ref in the mirror, then
// the row with the planned actions.
func (p *runner) storeAnswer(ctx context.Context, l *env.Lease, a prompts.Answer) error {
	ctx = context.WithoutCancel(ctx) // an agent is paid once
	var err error
	if err := p.sign(ctx, l); err != nil {
		return fmt.Errorf("read who reviewed it before: %w", err)
	}
	if l.Turn.Kind == work.KindReview {
		if l.Lines, err = p.reviewedLines(ctx, l); err != nil {
			return err
		}
	}
	if l.Proposals, err = p.proposals(ctx, l, a); err != nil {
		return fmt.Errorf("read which follow-ups were proposed: %w", err)
	}
	planned := planActions(l, a)
	if l.Turn.Commit != "" {
		if err := l.Repo.Git().KeepTurn(ctx, l.Turn.Key, l.Turn.Commit); err != nil {
			return err
		}
	}
	if err := p.StoreAnswered(ctx, l, planned); err != nil {
		return err
	}
	p.Changed(l, "answered", work.Short(l.Turn.Commit))
	return nil
}

// proposals returns the follow-ups that an answer adds to those of the issue.
func (p *runner) proposals(ctx context.Context, l *env.Lease, a prompts.Answer) (added []work.Proposal, err error) {
	if len(a.Followups) == 0 {
		return nil, nil
	}
	found := make([]work.Proposal, len(a.Followups))
	for i, f := range a.Followups {
		found[i] = work.Proposal{Title: public.Title(f.Title), Why: f.Why}
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		known, err := tx.ListProposals(ctx, l.Item.RepoID, l.Item.Number)
		added = work.NumberProposals(known, found)
		return err
	})
	return added, err
}

// agentLog returns the writer for the agent's standard error.
func (p *runner) agentLog(l *env.Lease) io.Writer {
	return &lineLog{log: p.Log.With(p.TurnAttrs(l)...), room: maxAgentLog}
}

// active returns a function that records output of the agent or the tests as activity.
func (p *runner) active(l *env.Lease) func() {
	return func() { l.Slot.Touch(p.Local()) }
}

// askedOf returns what the answer may and must refer to, according to the stored prompt. Later
// changes do not count.
func askedOf(t work.Turn) (prompts.Asked, error) {
	var req env.Request
	if err := json.Unmarshal(t.Request, &req); err != nil {
		return prompts.Asked{}, fmt.Errorf("decode the stored prompt: %w", err)
	}
	return prompts.AskedOf(t.Kind, req.Context), nil
}

// storedAnswer decodes an answer that was accepted before, under the rules of that time.
func storedAnswer(t work.Turn) (prompts.Answer, error) {
	asked, err := askedOf(t)
	if err != nil {
		return prompts.Answer{}, err
	}
	asked.Unanswered = nil
	a, violations := prompts.Decode(t.Kind, t.Answer, asked)
	if len(violations) > 0 {
		return prompts.Answer{}, fmt.Errorf("decode the stored answer: %s", violations[0])
	}
	return a, nil
}

// reviewedLines returns the lines in the pull request's diff. GitHub accepts no comments on others.
func (p *runner) reviewedLines(ctx context.Context, l *env.Lease) (git.Lines, error) {
	m := l.Repo.Git()
	base, ok, err := m.MergeBase(ctx, l.Turn.Base, l.Turn.Head)
	if err != nil || !ok {
		return nil, err
	}
	return m.DiffLines(ctx, base, l.Turn.Head)
}

// Each run is stored before it starts. The first one in a pass is an attempt, which also counts if
// the pass dies. It is given back in two places: where the answer is stored, and in
// change.DeferTurn.

// beginRun stores that a run begins, if budgets allow it. counted is the usage counted for its
// session so far.
func (p *runner) beginRun(ctx context.Context, l *env.Lease, session string) (run work.Run, counted work.Usage, err error) {
	if _, err := p.looks.wanted(ctx, l); err != nil {
		return run, counted, err
	}
	run = work.Run{Turn: l.Turn.ID, Attempt: !l.Attempted, Agent: l.Turn.Agent, Session: session, Began: p.Now()}
	var id int64
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		return tx.Ahead(ctx, func(tx *store.Tx) (err error) {
			if counted, err = tx.GetSessionUsage(ctx, l.Item.ID, l.Turn.Agent, session); err != nil {
				return err
			}
			if l.Told, err = tx.ListUsageKnown(ctx, l.Turn.Agent, run.Began.Add(-costLookback)); err != nil {
				return err
			}
			if err := p.looks.affords(ctx, tx, l); err != nil {
				return err
			}
			if err := tx.SaveTurn(ctx, l.Turn); err != nil {
				return err
			}
			id, err = tx.BeginRun(ctx, run)
			return err
		})
	})
	if err != nil {
		return run, counted, err
	}
	run.ID = id
	l.Turn.Runs++
	l.BegunRuns = append(l.BegunRuns, id)
	if run.Attempt {
		l.Turn.Attempts++
		l.Attempted = true
	}
	return run, counted, nil
}

// endRun stores in one transaction what a run used and what its session has counted, so that usage
// is counted exactly once. believed is false if the reported usage is impossible: its session is
// not used again.
func (p *runner) endRun(ctx context.Context, l *env.Lease, run work.Run, res agent.Result, ended error) (believed bool, err error) {
	ctx = context.WithoutCancel(ctx)
	run.Ended = p.Now()
	run.Usage, believed = p.plausible(ctx, p.TurnAttrs(l), run, res.Usage)
	run.Known = res.Known
	if run.Usage == (work.Usage{}) && unpaid(ended) {
		run.Known = work.Known{Tokens: true, Cost: true}
	}
	if res.Session != "" {
		run.Session = res.Session
	}
	l.Turn.Used = l.Turn.Used.Add(run.Usage, run.Known)
	l.Used = l.Used || run.Usage != work.Usage{} || run.Known != work.Known{Tokens: true, Cost: true}
	unlimited := false
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		told, untold := func(k work.Known) bool { return k.Cost }, func(k work.Known) bool { return !k.Cost }
		// A run that met a limit may have been about to tell: it speaks for its agent unless another one told.
		run.Tells = answered(ended) || metLimit(ended) && (run.Known.Cost || !slices.ContainsFunc(l.Told, told))
		unlimited = run.Tells && !run.Known.Cost && !slices.ContainsFunc(l.Told, untold) && p.Config.Runtime.Budgets.LimitCost() // else an earlier run said so
		if err := tx.EndRun(ctx, run); err != nil {
			return err
		}
		if err := noteOutage(ctx, tx, run, ended); err != nil {
			return err
		}
		return p.countSession(ctx, tx, l.Turn, run, res.Counted, believed)
	})
	if unlimited && err == nil {
		l.Warning = fmt.Sprintf("agent %q: %s; %s", run.Agent, spending.CostWarning, spending.CostRemedy(run.Known.Tokens))
		p.Log.WarnContext(ctx, "a budget limits an unknown cost", p.TurnAttrs(l, "agent", run.Agent, "detail", l.Warning)...)
	}
	return believed, err
}

// noteOutage stores whether the provider of a run's agent is out: the run waits for it. Once it
// answers, be it with a refusal, the outage is over; every other end says nothing about the provider.
func noteOutage(ctx context.Context, tx *store.Tx, run work.Run, ended error) error {
	if wait, ok := errors.AsType[*work.WaitError](ended); ok && wait.Reason.Kind == work.WhyProvider {
		return tx.NoteOutage(ctx, run.Agent, wait.Until, run.Ended)
	}
	spoke := answered(ended)
	if blocked, ok := errors.AsType[*work.BlockedError](ended); ok {
		spoke = slices.Contains(providerRefusals, blocked.Reason.Kind)
	}
	if !spoke {
		return nil
	}
	if blocked, ok := errors.AsType[*work.BlockedError](ended); ok && blocked.Reason.Kind.OfAgent() {
		return tx.EndOutage(ctx, run.Agent)
	}
	return errors.Join(tx.EndOutage(ctx, run.Agent), tx.EndAgentStop(ctx, run.Agent))
}

// providerRefusals are the reasons with which a provider answers that it will not work.
var providerRefusals = []work.ReasonKind{
	work.WhyAgentRejected, work.WhyAgentDeclined, work.WhyAgentNoModel, work.WhyAgentNoCredit, work.WhyAgentLoggedOut,
}

// countSession stores the usage counted for a run's session. A total that is not believed is not
// stored, because later runs would then count as zero. Its session is dropped, because each later
// run would count that total again.
func (p *runner) countSession(ctx context.Context, tx *store.Tx, u work.Turn, run work.Run, counted work.Usage, believed bool) error {
	switch {
	case run.Session == "" || counted == (work.Usage{}):
		return nil
	case !believed:
		return tx.DropSession(ctx, store.SessionKey{ItemID: u.ItemID, Agent: run.Agent, Role: u.Role()})
	}
	return tx.PutSessionUsage(ctx, run.ID, counted)
}

// costLookback is how far back a run may have begun that tells whether its agent's cost is known.
const costLookback = 7 * 24 * time.Hour

// answered reports whether a run ended with an answer, be it a wrong one. Any other run may have been cut
// short, as by Ctrl-C: that it told no cost says nothing about its agent.
func answered(ended error) bool {
	_, wrong := errors.AsType[*agent.AnswerError](ended)
	return ended == nil || wrong
}

// metLimit reports whether a run was ended because it took too long or wrote too much.
func metLimit(ended error) bool {
	_, late := errors.AsType[*agent.TimeoutError](ended)
	_, large := errors.AsType[*agent.LimitError](ended)
	return late || large
}

// unpaid reports whether a run ended because its provider refused it, or because its program did not
// start: if it counted nothing, it used nothing. Of every other run, what was not counted is unknown.
func unpaid(ended error) bool {
	if blocked, ok := errors.AsType[*work.BlockedError](ended); ok {
		return blocked.Reason.Kind != work.WhyAgentDeclined && blocked.Reason.Kind != work.WhyAgentLimit
	}
	var session *agent.SessionError
	var wait *work.WaitError
	return errors.As(ended, &session) || errors.As(ended, &wait)
}

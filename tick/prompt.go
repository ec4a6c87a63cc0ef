package tick

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/turn"
)

// PromptQuery asks for the prompt of a work item.
type PromptQuery struct {
	Repo   work.RepoName
	Number int    // of the issue or its pull request
	Name   string // a kind of turn, or a part of the prompt pack
	Agent  string // a name in the config; empty: the turn's
	// Reviewer selects a review or fix; empty: anybody's.
	Reviewer string
	// Mirror returns a temporary mirror, so that nothing permanent is written. Required.
	Mirror func(env.Remote, work.Repo) env.Mirror
}

// Prompt is the prompt of an agent.
type Prompt struct {
	Text   string
	Stored bool // of a turn in progress: the exact text that was or will be sent
	Early  bool // nothing asks for such a turn now
}

// ShowPrompt reads GitHub and the database as a dry run does. It renders the prompt of the next
// turn, or of a turn of the asked kind if something new started one.
func (p *Pass) ShowPrompt(ctx context.Context, q PromptQuery) (shown Prompt, err error) {
	defer func() {
		if over, is := errors.AsType[*work.SupersededError](err); is { // such a turn would end before its agent is asked
			err = fmt.Errorf("%s; the last prompt that was sent: gh mergexo show %s --prompt", over.Reason, work.Ref(q.Repo, q.Number))
		}
	}()
	preview, err := p.DryRun(ctx)
	if err != nil {
		return Prompt{}, err
	}
	unread := ""
	for _, r := range preview.Repos {
		if !r.Failed {
			unread = cmp.Or(unread, notAsked(r))
			continue
		}
		if why := p.Accounts.SkippedHosts(func(string) bool { return true }); why != nil {
			return Prompt{}, &saidError{fmt.Sprintf("%s: %s", r.Repo, r.Note), why}
		}
		return Prompt{}, fmt.Errorf("%s: %s", r.Repo, r.Note)
	}
	l, due, err := q.leaseOf(ctx, p, preview)
	if errors.Is(err, errNoItem) && unread != "" {
		return Prompt{}, fmt.Errorf("there is no data about %s: its repository could not be read: %s", work.Ref(q.Repo, q.Number), unread)
	}
	if err != nil {
		return Prompt{}, err
	}
	kind := work.Kind(q.Name)
	if l.Turn.Request != nil && prompts.Known(kind) && q.Agent == "" {
		var stored env.Request
		if err := json.Unmarshal(l.Turn.Request, &stored); err != nil {
			return Prompt{}, fmt.Errorf("decode the stored prompt: %w", err)
		}
		return Prompt{Text: stored.Sent(), Stored: true}, nil
	}
	l.Turn.Agent = q.Agent
	if err := q.chooseCommit(ctx, p, l); err != nil {
		return Prompt{}, err
	}
	before, err := p.turns.Briefs.Past(ctx, l)
	if err != nil {
		return Prompt{}, err
	}
	c, err := p.turns.Briefs.PromptContext(ctx, l, before)
	if err != nil {
		return Prompt{}, err
	}
	c.Attachments = turn.PreviewAttachments(l, c)
	if !prompts.Known(kind) {
		text, err := p.Prompts.Part(q.Name, l.Turn.Kind, c)
		return Prompt{Text: text}, err
	}
	req, err := p.turns.Briefs.Write(l, kind, c, before)
	return Prompt{Text: req.Sent(), Early: !due}, err
}

// saidError is an error in words for people. Its code is that of the error.
type saidError struct {
	says string
	err  error
}

func (e *saidError) Error() string { return e.says }
func (e *saidError) Unwrap() error { return e.err }

// errNoItem means that the number has no item.
var errNoItem = errors.New("is no work item")

// notAsked returns why GitHub was not asked about a repository; empty: it was.
func notAsked(r env.RepoReport) string {
	if r.Ingested {
		return ""
	}
	return r.Note
}

// leaseOf returns the turn for the query: the one in progress, the planned one, or one that nothing
// asks for yet; due reports whether something does.
func (q PromptQuery) leaseOf(ctx context.Context, p *Pass, preview *Preview) (_ *env.Lease, due bool, _ error) {
	var item work.Item
	var pull work.PullRequest
	var reviews store.Reviews
	var turns []work.Turn
	var found, opened bool
	r := p.remoteNamed(q.Repo)
	if r == nil {
		return nil, false, fmt.Errorf("repository %s is not in the config", q.Repo)
	}
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		items, err := tx.ListItems(ctx, r.Row.ID)
		for _, i := range items { // oldest first: the last match is the newest item
			candidate, ok, pullErr := tx.FindPullOfItem(ctx, i.ID)
			if pullErr != nil {
				return pullErr
			}
			if i.Number == q.Number || ok && candidate.Number == q.Number {
				item, pull, opened, found = i, candidate, ok, true
			}
		}
		if err == nil {
			turns, err = tx.ListUnfinishedTurns(ctx)
		}
		if err == nil && opened {
			reviews, err = tx.GetReviews(ctx, pull.ID)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if !found {
		return nil, false, fmt.Errorf("%s %w: it has no label yet", work.Ref(q.Repo, q.Number), errNoItem)
	}
	kind := work.Kind(q.Name)
	fits := func(k work.Kind, reviewer string) bool {
		return (k == kind || !prompts.Known(kind)) && (q.Reviewer == "" || q.Reviewer == reviewer)
	}
	for _, t := range turns {
		if t.ItemID == item.ID && fits(t.Kind, t.Reviewer) {
			l := &env.Lease{Turn: t, Item: item, Repo: r}
			l.Events, err = store.Read(ctx, p.Store, func(tx *store.Tx) ([]work.Event, error) { return env.TurnEvents(ctx, tx, t) })
			return l, true, err
		}
	}
	for _, plan := range preview.Plans {
		for _, t := range plan.Turns() {
			if t.Item.ID == item.ID && fits(t.Kind, t.Reviewer) {
				l := &env.Lease{Turn: p.newTurn(t, 0), Item: item, Repo: r}
				l.Events, err = store.Read(ctx, p.Store, func(tx *store.Tx) ([]work.Event, error) { return tx.LoadTexts(ctx, t.Events) })
				if t.Trigger.Key != "" { // stored with the turn
					l.Events = append(l.Events, t.Trigger)
				}
				return l, true, err
			}
		}
	}
	ref := work.Ref(q.Repo, item.Number)
	if item.Flow == work.FlowReview && kind != work.KindReview {
		return nil, false, fmt.Errorf("%s is somebody else's pull request, which is only reviewed; see gh mergexo prompts show review %s", ref, ref)
	}
	idle := plan.Turn{Item: item, Kind: kind, Number: item.Number, Base: r.Row.DefaultBranch}
	if !prompts.Known(kind) {
		idle.Kind = item.Flow.StartKind()
		if opened {
			idle.Kind = item.Flow.FeedbackKind()
		}
	}
	if !idle.Kind.Start() {
		if !opened {
			return nil, false, fmt.Errorf("%s has no pull request yet: %s is for later", ref, q.Name)
		}
		idle.Number, idle.Branch, idle.Base, idle.Head = pull.Number, pull.Branch, pull.Base, pull.HeadOID
	}
	l := &env.Lease{Item: item, Repo: r}
	if kind == work.KindReview {
		idle.Reviewer = cmp.Or(q.Reviewer, nextReviewer(l.ReviewPolicy(), reviews))
		if idle.Reviewer == "" {
			return nil, false, fmt.Errorf("no agent reviews %s; --reviewer names one", ref)
		}
		next, _ := work.EventOfKey(review.DueKey(pull.Number, review.Due{Reviewer: idle.Reviewer, Epoch: reviews.Record.Epoch, Cycle: reviews.Record.Cycle, Head: pull.HeadOID}))
		l.Events = []work.Event{next}
	}
	l.Turn = p.newTurn(idle, 0)
	return l, false, nil
}

// nextReviewer returns the agent whose review comes next, or else the first one in line; empty: no agent reviews.
func nextReviewer(policy review.Policy, stored store.Reviews) string {
	name := ""
	for _, one := range review.Line(policy, stored.Inserted) {
		if !one.Human && (name == "" || one.Name == stored.Record.Reviewer) {
			name = one.Name
		}
	}
	return name
}

// chooseCommit chooses the turn's base or head in a temporary mirror.
func (q PromptQuery) chooseCommit(ctx context.Context, p *Pass, l *env.Lease) error {
	if err := p.Preflight(ctx); err != nil {
		return err
	}
	l.Repo.Git() // opens the one that planning used
	l.Repo.Opened = q.Mirror(l.Repo.Remote, l.Repo.Row)
	if err := l.Repo.Git().Ensure(ctx); err != nil {
		return fmt.Errorf("prepare a mirror: %w", err)
	}
	if err := p.turns.Restorer.FetchAndFind(ctx, l); err != nil {
		return err
	}
	if l.Turn.Kind.Start() {
		return nil
	}
	if err := p.turns.Restorer.Guard(ctx, l); err != nil {
		return err
	}
	return p.turns.Briefs.PrepareFix(ctx, l)
}

func (p *Pass) remoteNamed(name work.RepoName) *env.Repo {
	for _, r := range p.All {
		if r.Name.Equal(name) {
			return r
		}
	}
	return nil
}

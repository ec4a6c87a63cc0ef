package tick

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// PromptQuery asks what an agent would be told about a work item.
type PromptQuery struct {
	Repo   work.RepoName
	Number int    // of the issue or its pull request
	Name   string // a kind of turn, or a part of the pack
	Agent  string // in the config; empty: the one that the config names for the turn
	// Mirror gives a mirror that is thrown away afterwards: nothing that is kept
	// is written. Required.
	Mirror func(Remote, work.Repo) Mirror
}

// Prompt is what an agent is told.
type Prompt struct {
	Text   string
	Stored bool // of a turn that is under way: word for word what was sent, or will be
}

// ShowPrompt reads GitHub and the database as a dry run does, and renders the
// prompt of the turn that would be next, or would be if something new asked for
// one of that kind.
func (p *Pass) ShowPrompt(ctx context.Context, q PromptQuery) (Prompt, error) {
	preview, err := p.DryRun(ctx)
	if err != nil {
		return Prompt{}, err
	}
	for _, r := range preview.Repos {
		if r.Failed {
			return Prompt{}, fmt.Errorf("%s: %s", r.Repo, r.Note)
		}
	}
	l, err := p.leaseOf(ctx, q, preview)
	if err != nil {
		return Prompt{}, err
	}
	kind := work.Kind(q.Name)
	if l.turn.Request != nil && prompts.Known(kind) && q.Agent == "" {
		var stored request
		if err := json.Unmarshal(l.turn.Request, &stored); err != nil {
			return Prompt{}, fmt.Errorf("decode the stored prompt: %w", err)
		}
		return Prompt{Text: stored.Prompt, Stored: true}, nil
	}
	l.turn.Agent = q.Agent
	if err := p.stand(ctx, l, q); err != nil {
		return Prompt{}, err
	}
	c, err := p.turns.briefs.promptContext(ctx, l)
	if err != nil {
		return Prompt{}, err
	}
	var text string
	if prompts.Known(kind) {
		text, err = p.Prompts.Render(kind, c)
	} else {
		text, err = p.Prompts.Part(q.Name, l.turn.Kind, c)
	}
	return Prompt{Text: text}, err
}

// leaseOf finds the turn that is asked about: the one under way, the one that
// is planned, or one that nothing asks for yet.
func (p *Pass) leaseOf(ctx context.Context, q PromptQuery, preview *Preview) (*lease, error) {
	var item work.Item
	var pull work.PullRequest
	var turns []work.Turn
	var found, opened bool
	r := p.remoteNamed(q.Repo)
	if r == nil {
		return nil, fmt.Errorf("repository %s is not configured", q.Repo)
	}
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		items, err := tx.ListItems(ctx, r.repo.ID)
		for _, i := range items { // the newest of an issue's items is the last
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
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("%s is no work item: it has no label yet", work.Ref(q.Repo, q.Number))
	}
	kind := work.Kind(q.Name)
	fits := func(k work.Kind) bool { return k == kind || !prompts.Known(kind) }
	for _, t := range turns {
		if t.ItemID == item.ID && fits(t.Kind) {
			l := &lease{turn: t, item: item, remote: r}
			return l, p.loadEvents(ctx, l)
		}
	}
	for _, plan := range preview.Plans {
		for _, t := range plan.Turns {
			if t.Item.ID == item.ID && fits(t.Kind) {
				return &lease{turn: p.newTurn(t, 0), item: item, remote: r, events: t.Events}, nil
			}
		}
	}
	idle := plan.PlannedTurn{Item: item, Kind: kind, Number: item.Number, Base: r.repo.DefaultBranch}
	if !prompts.Known(kind) {
		idle.Kind = item.Flow.StartKind()
		if opened {
			idle.Kind = item.Flow.FeedbackKind()
		}
	}
	if !idle.Kind.Start() {
		if !opened {
			return nil, fmt.Errorf("%s has no pull request yet: %s is for later", work.Ref(q.Repo, item.Number), q.Name)
		}
		idle.Number, idle.Branch, idle.Base, idle.Head = pull.Number, pull.Branch, pull.Base, pull.HeadOID
	}
	return &lease{turn: p.newTurn(idle, 0), item: item, remote: r}, nil
}

func (p *Pass) loadEvents(ctx context.Context, l *lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) (err error) {
		l.events, err = turnEvents(ctx, tx, l.turn)
		return err
	})
}

// stand finds where the turn would begin, with a mirror that is thrown away.
func (p *Pass) stand(ctx context.Context, l *lease, q PromptQuery) error {
	if err := p.Preflight(ctx); err != nil {
		return err
	}
	l.remote.mirror() // what planning used
	l.remote.opened = q.Mirror(l.remote.Remote, l.remote.repo)
	if err := l.remote.mirror().Ensure(ctx); err != nil {
		return fmt.Errorf("prepare a mirror: %w", err)
	}
	find := p.turns.restorer.findHead
	if l.turn.Kind.Start() {
		find = p.turns.restorer.findBase
	}
	if err := find(ctx, l); err != nil {
		return err
	}
	if err := l.remote.mirror().Fetch(ctx, l.turn.Head); err != nil {
		return fmt.Errorf("fetch %s: %w", l.turn.Head, err)
	}
	if l.turn.Kind.Start() {
		return nil
	}
	return p.turns.briefs.prepareFix(ctx, l)
}

func (p *Pass) remoteNamed(name work.RepoName) *remote {
	for _, r := range p.all {
		if r.Name.Equal(name) {
			return r
		}
	}
	return nil
}

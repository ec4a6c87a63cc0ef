package tick

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// PromptQuery asks what an agent would be told about a work item.
type PromptQuery struct {
	Repo   work.RepoName
	Number int    // of the issue or its pull request
	Name   string // a kind of turn, or a part of the pack
	Agent  string // in the config; empty: the one that the config names for the turn
	// Reviewer is whose review or fix is asked about; empty: anybody's.
	Reviewer string
	// Mirror gives a mirror that is thrown away afterwards: nothing that is kept
	// is written. Required.
	Mirror func(env.Remote, work.Repo) env.Mirror
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
	unread := ""
	for _, r := range preview.Repos {
		if !r.Failed {
			unread = cmp.Or(unread, notAsked(r))
			continue
		}
		if why := p.Accounts.ShutHosts(func(string) bool { return true }); why != nil {
			return Prompt{}, fmt.Errorf("%s: %w", r.Repo, why)
		}
		return Prompt{}, fmt.Errorf("%s: %s", r.Repo, r.Note)
	}
	l, err := q.leaseOf(ctx, p, preview)
	if errors.Is(err, errNoItem) && unread != "" {
		return Prompt{}, fmt.Errorf("nothing is known of %s: its repository could not be read: %s", work.Ref(q.Repo, q.Number), unread)
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
		return Prompt{Text: stored.Prompt, Stored: true}, nil
	}
	l.Turn.Agent = q.Agent
	if err := q.stand(ctx, p, l); err != nil {
		return Prompt{}, err
	}
	c, err := p.turns.Briefs.PromptContext(ctx, l)
	if err != nil {
		return Prompt{}, err
	}
	var text string
	if prompts.Known(kind) {
		text, err = p.Prompts.Render(kind, c)
	} else {
		text, err = p.Prompts.Part(q.Name, l.Turn.Kind, c)
	}
	return Prompt{Text: text}, err
}

// errNoItem is that nothing is known of an item.
var errNoItem = errors.New("is no work item")

// notAsked is why GitHub was not asked about a repository; empty: it was.
func notAsked(r env.RepoReport) string {
	if r.Ingested {
		return ""
	}
	return r.Note
}

// leaseOf finds the turn that is asked about: the one under way, the one that
// is planned, or one that nothing asks for yet.
func (q PromptQuery) leaseOf(ctx context.Context, p *Pass, preview *Preview) (*env.Lease, error) {
	var item work.Item
	var pull work.PullRequest
	var turns []work.Turn
	var found, opened bool
	r := p.remoteNamed(q.Repo)
	if r == nil {
		return nil, fmt.Errorf("repository %s is not in the config", q.Repo)
	}
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		items, err := tx.ListItems(ctx, r.Row.ID)
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
		return nil, fmt.Errorf("%s %w: it has no label yet", work.Ref(q.Repo, q.Number), errNoItem)
	}
	kind := work.Kind(q.Name)
	fits := func(k work.Kind, reviewer string) bool {
		return (k == kind || !prompts.Known(kind)) && (q.Reviewer == "" || q.Reviewer == reviewer)
	}
	for _, t := range turns {
		if t.ItemID == item.ID && fits(t.Kind, t.Reviewer) {
			l := &env.Lease{Turn: t, Item: item, Repo: r}
			return l, q.loadEvents(ctx, p, l)
		}
	}
	for _, plan := range preview.Plans {
		for _, t := range plan.Turns() {
			if t.Item.ID == item.ID && fits(t.Kind, t.Reviewer) {
				l := &env.Lease{Turn: p.newTurn(t, 0), Item: item, Repo: r}
				return l, p.Store.View(ctx, func(tx *store.Tx) (err error) {
					l.Events, err = tx.WithTexts(ctx, t.Events)
					return err
				})
			}
		}
	}
	if item.Flow == work.FlowReview {
		return nil, fmt.Errorf("%s is somebody else's pull request, which is only reviewed, and no review of it is due", work.Ref(q.Repo, item.Number))
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
			return nil, fmt.Errorf("%s has no pull request yet: %s is for later", work.Ref(q.Repo, item.Number), q.Name)
		}
		idle.Number, idle.Branch, idle.Base, idle.Head = pull.Number, pull.Branch, pull.Base, pull.HeadOID
	}
	return &env.Lease{Turn: p.newTurn(idle, 0), Item: item, Repo: r}, nil
}

func (q PromptQuery) loadEvents(ctx context.Context, p *Pass, l *env.Lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) (err error) {
		l.Events, err = env.TurnEvents(ctx, tx, l.Turn)
		return err
	})
}

// stand finds where the turn would begin, with a mirror that is thrown away.
func (q PromptQuery) stand(ctx context.Context, p *Pass, l *env.Lease) error {
	if err := p.Preflight(ctx); err != nil {
		return err
	}
	l.Repo.Git() // what planning used
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

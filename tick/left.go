package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A repository that was taken out of the config is not touched any more, but for what
// would be untrue: a label that says that we work on it. Its turns end before their
// first effect, and what asked for them waits until the config names it again.

// leftOut is why such a turn ends.
const leftOut = "its repository was taken out of the config"

// openLeft finds the repositories that this config named before and names no more,
// as far as there is something to do: an unfinished turn, or a label to take away.
func (p *Env) openLeft(ctx context.Context, tx *store.Tx) error {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return err
	}
	for _, row := range known {
		if row.NodeID == "" || row.NamedBy != p.Config.Path || slices.ContainsFunc(p.all, func(r *remote) bool { return r.repo.ID == row.ID || r.Name.Equal(row.Name) }) {
			continue
		}
		if row.LeftAt.IsZero() {
			if err := tx.LeaveRepo(ctx, row.ID); err != nil {
				return err
			}
			p.Log.InfoContext(ctx, "a repository is not in the config any more", "repo_full_name", row.Name.FullName())
		}
		hub := p.gitHubOf(row.Name.Host)
		if hub == nil {
			continue
		}
		p.left = append(p.left, &remote{Remote: Remote{Name: row.Name, GitHub: hub}, repo: row, left: true, ready: true})
	}
	return nil
}

// gitHubOf is the GitHub of a host that gh is logged in to; nil: there is none.
func (p *Env) gitHubOf(host string) GitHub {
	for _, r := range p.all {
		if r.Name.Host == host {
			return r.GitHub
		}
	}
	if p.Host == nil {
		return nil
	}
	return p.Host(host)
}

// letGo ends the turns of repositories that were left, unless a pass works on them:
// that one sees it before it pushes.
func (p *Pass) letGo(ctx context.Context) error {
	var unfinished []work.Turn
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		unfinished, err = tx.ListUnfinishedTurns(ctx)
		return err
	})
	if err != nil || len(p.left) == 0 {
		return err
	}
	for _, t := range unfinished {
		at := slices.IndexFunc(p.left, func(r *remote) bool { return r.repo.ID == t.RepoID })
		if at < 0 || p.inFlight(t.Key) {
			continue
		}
		if err := p.letTurnGo(ctx, p.left[at], t); err != nil {
			return fmt.Errorf("end turn %s: %w", t.Key, err)
		}
	}
	return nil
}

func (p *Pass) letTurnGo(ctx context.Context, r *remote, t work.Turn) error {
	l := &lease{turn: t, remote: r}
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		if l.item, err = tx.GetItem(ctx, t.ItemID); err != nil {
			return err
		}
		r.Settings.Labels, err = labelsShown(ctx, tx, r.repo, l.item)
		return err
	})
	if err != nil {
		return err
	}
	if t.Step == work.StepClaimed && t.Runs > 0 { // its pass may have died with an agent running
		if _, err := p.Orphans.EndMarked(ctx, p.mark(t)); err != nil {
			p.Log.WarnContext(ctx, "could not look for what a dead pass left running", p.turnAttrs(l, "error", err)...)
		}
	}
	begun, err := p.firstEffect(ctx, l)
	if err != nil {
		return err
	}
	if begun { // the rest of its effects waits with the repository
		return p.Store.Update(ctx, func(tx *store.Tx) error {
			return p.notices.show(ctx, tx, work.Move{Item: l.item.ID, Cause: work.CausePutBack, To: work.StateAwaitingFeedback}, p.Now())
		})
	}
	p.changed(l, string(verdictSuperseded), leftOut)
	return p.turns.supersede(ctx, l, verdict{kind: verdictSuperseded, reason: leftOut})
}

// labelsShown are the names of the labels that show where a running item stands, as
// its own row has them: the config does not say them any more.
func labelsShown(ctx context.Context, tx *store.Tx, repo work.Repo, item work.Item) (work.Labels, error) {
	a, known, err := tx.GetAction(ctx, work.LabelsToken(repo.Key(), item.Number, purposeStatus))
	shown := work.LabellingOf(a)
	if err != nil || !known || len(shown.With) != 1 || len(shown.Without) != 2 {
		return work.Labels{Working: "agent:working", Blocked: "agent:blocked", Done: "agent:done"}, err
	}
	return work.Labels{Working: shown.With[0].Name, Blocked: shown.Without[0], Done: shown.Without[1]}, nil
}

// sendsLeft reports whether a notice of a repository that was left is sent.
func sendsLeft(a work.Action) bool { return a.Kind == work.ActionLabels }

// notLeft ends a turn before it pushes when its repository was taken out of the config
// meanwhile.
func (p *Looks) notLeft(ctx context.Context, l *lease) error {
	var row work.Repo
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.GetRepo(ctx, l.remote.repo.ID)
		return err
	})
	if err == nil && !row.LeftAt.IsZero() {
		err = &work.SupersededError{Reason: leftOut}
	}
	return err
}

// shownAt is the repository where GitHub shows an item, also one that was left.
func (p *Env) shownAt(repoID int64) *remote {
	if r := p.remoteByID(repoID); r != nil {
		return r
	}
	if at := slices.IndexFunc(p.left, func(r *remote) bool { return r.repo.ID == repoID }); at >= 0 && p.left[at].Settings.Labels.Working != "" {
		return p.left[at]
	}
	return nil
}

package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Preview is what a pass would do.
type Preview struct {
	Halt      *folder.Halt // everything is paused, and a pass would do nothing; nil: it is not
	Repos     []env.RepoReport
	Recovered []Recovered // turns that would be resumed
	Plans     []plan.Plan
}

// Recovered is an unfinished turn that a pass would resume.
type Recovered struct {
	Repo string
	change.Line
}

// DryRun plans as a pass would, in a temporary store. It takes no lock, and its clients of GitHub
// must be read-only.
func (p *Pass) DryRun(ctx context.Context) (*Preview, error) {
	p.Local = p.Now
	fleet, err := p.begin(ctx, p.Machine)
	if err != nil {
		return nil, err
	}
	if h := p.HaltShown(fleet); h != nil {
		return &Preview{Halt: h}, nil
	}
	if err := p.ReadHeld(ctx); err != nil {
		return nil, err
	}
	left, err := p.PreviewPreferred(ctx)
	if err != nil {
		return nil, err
	}
	preview := &Preview{}
	resumed, err := p.previewRecovery(ctx, preview)
	if err != nil {
		return nil, err
	}
	rep := env.NewReport(p.Now())
	ready := p.ingest.ReadAll(ctx, rep)
	p.WarnOfClocks(ctx)
	if _, err := p.findBusy(ctx); err != nil {
		return nil, err
	}
	if preview.Plans, err = p.route(ctx, ready, rep); err != nil {
		return nil, err
	}
	p.holdWithoutSlot(ctx, preview.Plans, resumed)
	preview.Repos = rep.Repos()
	for i := range preview.Plans {
		if err := p.previewNotices(ctx, &preview.Plans[i]); err != nil {
			return nil, err
		}
		p.previewRoadmaps(&preview.Plans[i])
	}
	now := p.Now()
	idle, err := store.Read(ctx, p.Store, func(tx *store.Tx) (map[int64][]store.NearLabel, error) { return tx.ListNearLabels(ctx, now) })
	if err != nil {
		return nil, err
	}
	for _, r := range p.All {
		for _, l := range idle[r.Row.ID] {
			says := fmt.Sprintf("the issue is closed, so its label %s starts nothing", l.Set)
			if l.Ignored {
				says = fmt.Sprintf("the issue is ignored, so its label %s starts nothing: remove the label %s", l.Set, l.Meant)
			}
			if l.Meant == "" || l.Ignored {
				line := waitFor(says)
				line.Says.Number = l.Number
				preview.Plans = append(preview.Plans, plan.Plan{Repo: r.Row, Decisions: []plan.Decision{line}})
			}
		}
		if until, is := left[r]; is {
			says := fmt.Sprintf("left to machine %s, which began a turn there and has a free slot, until %s", r.Row.Machine, work.Stamp(until))
			preview.Plans = append(preview.Plans, plan.Plan{Repo: r.Row, Decisions: []plan.Decision{waitFor(says)}})
		}
	}
	return preview, ctx.Err()
}

// waitFor is a line of a dry run about a repository.
func waitFor(why string) plan.Wait {
	return plan.Wait{Words: change.Words{Says: change.Line{What: "wait", Reason: why}}}
}

// holdWithoutSlot makes the planned turns wait that a pass would not begin: those for which it has no slot after
// the turns that it resumes, and those that are more than it may run. It begins them in the order of claim.
func (p *Pass) holdWithoutSlot(ctx context.Context, plans []plan.Plan, resumed int) {
	free, most, begun := p.Config.Runtime.Workers-len(p.Held), min(p.maxTurns()-resumed, p.Day.Left), 0
	late := map[int64]work.Reason{}
	for _, t := range order(plans) {
		switch {
		case begun >= free:
			late[t.Item.ID] = work.Reason{Kind: work.WhyNoSlot}
		case begun >= most:
			late[t.Item.ID] = work.Reason{Kind: work.WhyLaterPass, Name: string(t.Kind), Count: max(0, most)}
		case p.Startable(ctx, t.Item.RepoID, t.Kind, t.Reviewer):
			begun++
		}
	}
	for i := range plans {
		plans[i].Hold(func(t plan.Turn) work.Reason { return late[t.Item.ID] })
	}
}

// previewRecovery tells which unfinished turns a pass would resume, and returns how many. Each takes a slot, as
// far as there are some.
func (p *Pass) previewRecovery(ctx context.Context, preview *Preview) (taken int, err error) {
	unfinished, err := store.Read(ctx, p.Store, func(tx *store.Tx) ([]work.Turn, error) { return tx.ListUnfinishedTurns(ctx) })
	if err != nil {
		return 0, err
	}
	unfinished = slices.DeleteFunc(unfinished, func(t work.Turn) bool { return !p.resumable(ctx, t) }) // it reads the database, which may have one connection
	var resumed []*env.Lease
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		resumed = nil
		for _, t := range unfinished {
			item, err := tx.GetItem(ctx, t.ItemID)
			if err != nil {
				return err
			}
			resumed = append(resumed, &env.Lease{Turn: t, Item: item, Repo: p.RemoteByID(t.RepoID)})
		}
		return nil
	})
	for _, l := range resumed {
		line := change.Line{Number: l.Turn.Number, Kind: l.Turn.Kind, What: "resume", Reason: "left at step " + string(l.Turn.Step)}
		if p.holdSlot(l) {
			taken++
			line, err = p.previewResumed(ctx, l, line)
		} else {
			line = held(line, "wait", work.Reason{Kind: work.WhyNoSlot})
		}
		if err != nil {
			return taken, err
		}
		preview.Recovered = append(preview.Recovered, Recovered{p.Config.Called(l.Repo.Name), line})
	}
	return taken, err
}

// holdSlot takes a free slot for an unfinished turn, in memory alone; false: none is free.
func (p *Pass) holdSlot(l *env.Lease) bool {
	for k := range p.Config.Runtime.Workers {
		if _, busy := p.Held[k]; !busy {
			p.Held[k] = p.holderOf(l)
			return true
		}
	}
	return false
}

// previewResumed returns the line of a turn that has a slot: what ends it, or prevents its agent from running, if
// anything.
func (p *Pass) previewResumed(ctx context.Context, l *env.Lease, line change.Line) (change.Line, error) {
	paused := p.turns.LastLook.RequireNotPaused(ctx, l)
	if off, ok := errors.AsType[*work.SupersededError](paused); ok {
		line.What, line.Reason = "cancel", off.Reason
		return line, nil
	}
	if paused != nil || l.Turn.Step != work.StepClaimed {
		return line, paused
	}
	err := p.turns.LastLook.MayRun(ctx, l)
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		return held(line, "wait", wait.Reason), nil
	}
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		return held(line, "block", blocked.Reason), nil
	}
	return line, err
}

// held returns the line of a turn that a reason keeps from running.
func held(line change.Line, what string, why work.Reason) change.Line {
	said := explain.Reason(why, explain.Place{Pull: !line.Kind.Start(), Spending: true}).Here()
	line.What, line.Reason, line.Code, line.Why = what, said, why.Kind, []work.Reason{why}
	return line
}

// previewRoadmaps replaces a plan's actions for roadmaps by everything that this and later passes would do for
// them: a pass plans only what the actions before have made possible.
func (p *Pass) previewRoadmaps(made *plan.Plan) {
	label := p.RemoteByID(made.Repo.ID).Settings.Labels.Of
	for _, f := range made.Unfold {
		moves := slices.ContainsFunc(plan.Of[change.Roadmap](*made), func(c change.Roadmap) bool { return c.Before.ItemID == f.Record.ItemID })
		if why := f.Record.Why; f.Record.State == roadmap.Stopped && !moves {
			line := change.Line{Number: f.Record.Number, What: "wait", Code: why.Kind, Why: []work.Reason{why}}
			line.Reason = "stopped: " + explain.Reason(why, explain.Place{Spending: true}).Here()
			made.Decisions = append(made.Decisions, plan.Wait{Words: change.Words{Says: line}})
		}
		coming := roadmap.Ahead(f)
		made.Decisions = slices.DeleteFunc(made.Decisions, func(d plan.Decision) bool {
			n, is := d.(change.Notice)
			return is && slices.ContainsFunc(coming, func(c roadmap.Deed) bool { return c.Token == n.Token })
		})
		for _, said := range roadmap.Lines(coming, label) {
			made.Decisions = append(made.Decisions, plan.Wait{Words: change.Words{Says: change.Line{Number: f.Record.Number, What: "roadmap", Reason: "to do: " + said}}})
		}
	}
}

// This file shows work items to people and programs: the board of status, the story of show,
// and both as JSON. It reads only the database.

package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// Board is what the database holds about the configured repositories. It is the output of status.
type Board struct {
	Items   []Item         `json:"items"`        // the open ones, and with --all the others
	Repos   []Repo         `json:"repositories"` // those of the config, and those that left it
	Passes  cli.PassesView `json:"passes"`       // asking for it asks the schedulers
	Day     Day            `json:"day"`          // the last 24 hours
	Paused  *cli.HaltView  `json:"paused"`       // null: not everything is
	Outages []Outage       `json:"outages"`      // agents of the config that cannot work

	facts       []ItemFacts
	finished    []Item             // issues that were merged or closed in the last 24 hours, each once, the newest first
	all         bool               // Items includes finished ones
	strangers   []store.Stranger   // sessions of the database server that are of no machine, and hold locks
	undelivered []news.Undelivered // notification targets that did not accept messages

	now    time.Time                // by GitHub's clock, like stored times
	clocks map[string]time.Duration // how far this machine's clock is ahead, by host

	halt     *folder.Halt // `pause --all` is in force, here or on all machines; nil: it is not
	machines cli.Machines
	busy     map[string]int // how many turns each machine has begun, if there are several
	here     string         // name of this machine
}

// Day is the usage of the last 24 hours, over all repositories.
type Day struct {
	Turns    int `json:"turns"`
	MaxTurns int `json:"maxTurns"`
	Cost
	MaxCostInUSD float64         `json:"maxCostUSD"`
	HeldUntil    terminal.Time   `json:"heldUntil"`  // when turns may start again; null: now
	Code         work.ReasonKind `json:"reasonCode"` // why none may start

	why, says string
}

// Query selects the content of a board.
type Query struct {
	Config  *config.Config  // required
	Repos   []work.RepoName // of the config
	All     bool            // include merged, completed and closed items
	Now     time.Time       // by this machine's clock
	Halt    *folder.Halt    // `pause --all` is in force; nil: it is not
	Machine string          // name of this machine
}

// empty is the board before any pass.
func empty(q Query) Board {
	return Board{Items: []Item{}, Outages: []Outage{}, Day: dayOf(spending.Day{}, q.Config.Runtime.Budgets), Paused: cli.ViewHalt(q.Halt), Repos: terminal.Each(q.Repos, func(name work.RepoName) Repo {
		return repoOf(work.Repo{Name: name}, q.Config.Called(name), store.Counts{})
	})}
}

// Load reads the board, without the agents.
func Load(ctx context.Context, tx *store.Tx, q Query) (Board, error) {
	b, err := load(ctx, tx, q)
	b.Items = terminal.Each(b.facts, ItemFacts.shown)
	return b, err
}

// load reads the board, with facts instead of Items.
func load(ctx context.Context, tx *store.Tx, q Query) (b Board, err error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return b, err
	}
	clocks, err := tx.ListClocks(ctx, q.Machine)
	if err != nil {
		return b, err
	}
	all, err := tx.ListMachines(ctx)
	if err != nil {
		return b, err
	}
	fleet, err := tx.GetFleet(ctx)
	if err != nil {
		return b, err
	}
	at, err := loadLiveTurns(ctx, tx, q.Config.Runtime.StateDir, q.Machine, q.Now)
	if err != nil {
		return b, err
	}
	if len(q.Repos) > 0 {
		q.Now = q.Now.Add(-clocks[q.Repos[0].Host])
	}
	q.Halt = env.HaltNow(q.Halt, fleet)
	machines := cli.MachinesOf(all)
	at.machines, at.ahead = machines, at.Now.Sub(q.Now)
	day, err := snapshot.Day(ctx, tx, q.Config.Runtime.Budgets, q.Now)
	if err != nil {
		return b, err
	}
	b = Board{now: q.Now, clocks: clocks, all: q.All, Repos: []Repo{}, Day: dayOf(day, q.Config.Runtime.Budgets), Paused: cli.ViewHalt(q.Halt), halt: q.Halt, machines: machines, here: q.Machine}
	if machines != nil {
		if b.busy, err = tx.CountUnfinished(ctx); err != nil {
			return b, err
		}
	}
	if b.strangers, err = tx.ListStrangers(ctx, q.Now); err != nil {
		return b, err
	}
	if b.undelivered, err = tx.ListUndelivered(ctx, q.Now.Add(-news.MostAge)); err != nil {
		return b, err
	}
	if b.Outages, err = loadOutages(ctx, tx, q.Config, q.Now); err != nil {
		return b, err
	}
	near, err := tx.ListNearLabels(ctx, q.Now)
	if err != nil {
		return b, err
	}
	unread, err := tx.ListUnreadNumbers(ctx)
	if err != nil {
		return b, err
	}
	for _, name := range q.Repos {
		row := cli.FindRepo(known, name)
		var r Repo
		items := len(b.facts)
		err := work.Contain("show "+q.Config.Called(name), func() (err error) {
			r, err = b.loadRepo(ctx, tx, q, row, day, at)
			return err
		})
		if broken, ok := errors.AsType[*work.PanicError](err); ok { // the other repositories are shown
			b.facts, r, err = b.facts[:items], repoOf(row, q.Config.Called(name), store.Counts{}), nil
			r.Error, r.NotBefore = explain.What(broken.Reason(), explain.Place{}), terminal.Time{}
		}
		if err != nil {
			return b, err
		}
		if u, some := unread[row.ID]; some && row.NodeID != "" {
			r.notes = append([]string{r.Name + ": " + unreadNumbers(u)}, r.notes...)
		}
		if until, left := env.LeftTo(row, q.Machine, q.Config.Runtime.Workers, b.busy, b.now); left && b.machines != nil {
			r.LeftTo = b.machines.Called(row.Machine)
			r.shared = append(r.shared, fmt.Sprintf("left to machine %s, which began a turn there and has a free slot, until %s", r.LeftTo, work.Stamp(until)))
		}
		for _, l := range near[row.ID] {
			r.Near = append(r.Near, NearLabel{l.Number, l.Set, l.Meant, l.Ignored})
		}
		r.notes = append(r.notes, r.near()...)
		b.Repos = append(b.Repos, r)
	}
	sorted.By(b.finished, func(x, y Item) int { return y.Since.Compare(x.Since.Time) })
	if len(q.Repos) < len(q.Config.Repos) {
		return b, nil
	}
	left, err := loadLeft(ctx, tx, q.Config, known, q.Now)
	b.Repos = append(b.Repos, left...)
	return b, err
}

// loadRepo reads a configured repository and its work items.
func (b *Board) loadRepo(ctx context.Context, tx *store.Tx, q Query, row work.Repo, day spending.Day, at LiveTurns) (Repo, error) {
	ignored, called := env.IgnoredStamps(&row, q.Now), q.Config.Called(row.Name)
	if row.ID == 0 {
		r := repoOf(row, called, store.Counts{})
		r.shared = ignored
		return r, nil
	}
	if err := b.loadItems(ctx, tx, q, row, day, at); err != nil {
		return Repo{}, err
	}
	over, err := loadEnded(ctx, tx, q, row)
	if err != nil {
		return Repo{}, err
	}
	b.finished = append(b.finished, over...)
	counts, err := tx.Counts(ctx, row.ID)
	if err != nil {
		return Repo{}, err
	}
	r := repoOf(row, called, counts)
	failed, err := tx.ChooseNotices(ctx, row.ID, func(a work.Action) bool { return a.LastError != "" })
	if err != nil {
		return Repo{}, err
	}
	r.shared = append(ignored, unsent(failed)...)
	halt, stopped, err := tx.MergingStopped(ctx, row.ID)
	if stopped {
		r.Stopped = cli.ViewStopped(halt, called)
	}
	return r, err
}

// loadItems reads a repository's work items and asks the plan, made from the same items, what holds
// them back.
func (b *Board) loadItems(ctx context.Context, tx *store.Tx, q Query, r work.Repo, day spending.Day, at LiveTurns) error {
	v, err := snapshot.Board(ctx, tx, q.Config, r, day, q.Now, q.All)
	if err != nil {
		return err
	}
	outlook := plan.For(v).Outlooks(v)
	for _, i := range v.Items {
		if !q.All && !i.State.Open() && i.Lead == nil || slices.ContainsFunc(v.Items, func(o known.Item) bool { return hides(o.Item, i.Item) }) {
			continue
		}
		if settings, _ := q.Config.Repo(r.Name); len(settings.Setup) == 0 { // taken out of the config since
			i.Setup = work.SetupFailure{}
		}
		f := ItemFacts{
			Item: i, Repo: r, Called: q.Config.Called(r.Name), Halt: q.Halt,
			Place: v.Here(i), Budgets: q.Config.Runtime.Budgets, Now: q.Now, Local: at.Now,
			Full: v.Free == 0 && b.machines == nil, // else another machine may have a slot
		}
		f.Place.Repo = f.Called
		f.Worked = at.of(i.Turn, f.Place)
		f.Live = f.Worked != nil
		if i.Turn != nil {
			f.Machine = b.machines.Called(i.Turn.Machine)
		}
		f.broken = work.Contain("show "+f.ref(), func() error { f.Outlook = outlook(i); return nil })
		kind, reviewer := i.Flow.StartKind(), ""
		if t := f.Begins; t != nil {
			kind, reviewer = t.Kind, t.Reviewer
		}
		f.Agent, _ = q.Config.AgentFor(r.Name, kind, reviewer)
		if f.Told() {
			if f.Said, _, err = tx.GetAction(ctx, f.Stop.Token); err != nil {
				return err
			}
		}
		b.facts = append(b.facts, f)
	}
	return nil
}

// hides reports whether a roadmap's line is that of item and not that of other: a change of the roadmap
// stands for it while it is in progress, and the roadmap's first item before and afterwards.
func hides(item, other work.Item) bool {
	return item.Replans() && item.State.Open() && item.Parent == other.ID || other.Replans() && !other.State.Open() && other.Parent == item.ID
}

func dayOf(d spending.Day, b work.Budgets) Day {
	why := explain.What(d.Why, explain.Place{Spending: true})
	return Day{d.Turns, b.TurnsPerDay, CostOf(d.CostUSD, d.UnknownCost), b.CostPerDay, terminal.Stamp(d.Until), d.Why.Kind, why, d.Describe(b)}
}

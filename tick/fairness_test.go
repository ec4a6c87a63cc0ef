package tick

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// The promise of fairness, counted in turn starts. A waiting turn is in one of two lines of its
// repository: feedback or new work. A turn x in its line is overtaken
//
//   - in its own line only by turns that were in it, or waited to enter it, when x came (behind a
//     turn of their own item, for example), and by turns with a priority p steps higher that came
//     less than p hours after x: later ones do not overtake it. So the number of starts in its
//     own line before x is fixed a few hours after it came, whatever arrives;
//   - from the repository's other line by one start for each start in its own line, plus one;
//   - from each other repository by one start for each start in its own, plus one: a busy
//     repository delays no other one.
//
// An implementation comes to its line when its score allows it. It is overtaken by turns that were
// in the line, and by those that came until no difference in priority or risk outweighs its longer
// wait (work.LongestPassed). Both, together with the last part (no slot is free while a
// turn is in line), mean that every turn starts in the end.

// dice decides all random events.
type dice func(what string, least, most int) int

// waits is one turn in line.
type waits struct {
	repo, item int
	kind       work.Kind
	priority   int
	since      time.Time
	came       int // the pass in which it came to its line
	own        int // starts in its own line since then
	beside     int // starts in the repository's other line
	elsewhere  map[int]int
}

func (w *waits) implements() bool { return w.kind == work.KindImplementationStart }

// play simulates passes over several repositories with random arrivals, in the order under test,
// and reports a broken promise.
type play struct {
	roll  dice
	order func([]plan.Plan) []plan.Turn
	now   time.Time
	pass  int
	slots int

	views   []known.Snapshot // of each repository, without running turns
	line    []*waits
	running []running
	last    int64 // id of a turn, an item or an event
}

type running struct {
	repo, item int
	turn       work.Turn
	passes     int // until it ends
}

const repositories = 3

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	app  = work.Repo{ID: 1, Name: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}, DefaultBranch: "main"}
	ann  = work.Account{ID: 7, Login: "ann"}
)

func newPlay(roll dice, order func([]plan.Plan) []plan.Turn) *play {
	p := &play{roll: roll, order: order, now: noon, slots: roll("slots", 1, 3)}
	for n := range repositories {
		repo := app
		repo.ID, repo.Name.Name = int64(n+1), fmt.Sprint("app", n)
		p.views = append(p.views, known.Snapshot{
			Repo: repo, Policy: known.Policy{MaxEvents: 50, Match: func(glob, path string) bool { return glob == path }},
		})
	}
	return p
}

func (p *play) id() int64 {
	p.last++
	return p.last
}

// run simulates some passes with arrivals, and then as many as it takes to start all.
func (p *play) run() error {
	busy := p.roll("passes with arrivals", 1, 40)
	flood := p.roll("flooded repository", -1, repositories-1)
	for p.pass = 0; p.pass < busy+400; p.pass++ {
		steps := []time.Duration{time.Minute, 20 * time.Minute, time.Hour, 30 * time.Hour}
		p.now = p.now.Add(steps[p.roll("step", 0, len(steps)-1)])
		p.end()
		if p.pass < busy {
			for range p.roll("arrivals", 0, 2) {
				p.arrive(p.roll("repository", 0, repositories-1), p.roll("priority", work.MinPriority, work.MaxPriority))
			}
			if flood >= 0 {
				p.arrive(flood, work.MaxPriority)
			}
		} else {
			p.now = p.now.Add(12 * time.Hour)
		}
		if err := p.begin(); err != nil {
			return fmt.Errorf("pass %d: %w", p.pass, err)
		}
		if p.pass >= busy && len(p.line) == 0 && len(p.running) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d things were never started, such as %+v", len(p.line), *p.line[0])
}

// arrive adds an event to a repository.
func (p *play) arrive(repo, priority int) {
	v := &p.views[repo]
	item := known.Item{Item: work.Item{ID: p.id(), RepoID: v.Repo.ID, Number: len(v.Items) + 1, Priority: priority, Since: p.now}}
	open := slices.DeleteFunc(slices.Clone(v.Items), func(i known.Item) bool { return !i.HasPull() })
	e := work.Event{ID: p.id(), ItemID: item.ID, Number: item.Number, SeenAt: p.now, CreatedAt: p.now, UpdatedAt: p.now}
	switch kind := p.roll("what", 0, 3); {
	case kind == 0:
		item.Flow, item.State = work.FlowBugfix, work.StatePending
		e.Kind = work.EventLabelled
	case kind == 1:
		item.Flow, item.State = work.FlowImplementation, work.StateReady
		item.TouchPaths = []string{fmt.Sprintf("src/%d.go", p.roll("file", 0, 2))}
		e.Kind = work.EventMerged
	case len(open) == 0:
		return
	default:
		on := &v.Items[open[p.roll("on", 0, len(open)-1)].Number-1]
		e.Kind, e.ItemID, e.Number, e.Author = work.EventIssue, on.ID, on.Pull.Number, ann
		on.Events = append(on.Events, e)
		return
	}
	item.Events = []work.Event{e}
	v.Items = append(v.Items, item)
}

// end ends the turns whose time has come. A start opens a pull request.
func (p *play) end() {
	p.running = slices.DeleteFunc(p.running, func(r running) bool {
		r.passes--
		if p.pass < r.passes {
			return false
		}
		v := &p.views[r.repo]
		item := &v.Items[r.item]
		item.State = work.StateAwaitingFeedback
		if r.turn.Kind.Start() {
			item.Pull = work.PullRequest{ItemID: item.ID, Number: 1000 + item.Number, State: work.PullOpen, CreatedAt: p.now, Files: item.TouchPaths}
		}
		item.Turn = nil
		return true
	})
}

// begin simulates one pass.
func (p *play) begin() error {
	var plans []plan.Plan
	free := p.slots - len(p.running)
	for n := range p.views {
		v := p.views[n]
		v.Now, v.Free = p.now, free
		made := plan.For(v)
		plans = append(plans, made)
		for _, t := range plan.Of[plan.Turn](made) {
			p.lineUp(n, t)
		}
	}
	line := p.order(plans)
	for i, t := range line {
		if i == free {
			break
		}
		if err := p.start(t); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) lineUp(repo int, t plan.Turn) {
	if p.find(t) == nil {
		p.line = append(p.line, &waits{repo: repo, item: t.Item.Number - 1, kind: t.Kind, priority: t.Item.Priority, since: t.Since, came: p.pass, elsewhere: map[int]int{}})
	}
}

func (p *play) find(t plan.Turn) *waits {
	for _, w := range p.line {
		if int64(w.repo+1) == t.Item.RepoID && w.item == t.Item.Number-1 {
			return w
		}
	}
	return nil
}

// start starts a turn and counts it for all waiting ones.
func (p *play) start(t plan.Turn) error {
	y := p.find(t)
	if y == nil {
		return fmt.Errorf("#%d is begun twice", t.Number)
	}
	p.line = slices.DeleteFunc(p.line, func(w *waits) bool { return w == y })
	v := &p.views[y.repo]
	turn := work.Turn{ID: p.id(), RepoID: v.Repo.ID, ItemID: t.Item.ID, Kind: t.Kind, Step: work.StepClaimed}
	item := &v.Items[y.item]
	item.Turn, item.State = &turn, work.StateRunning
	item.Events = slices.DeleteFunc(item.Events, func(e work.Event) bool {
		return slices.ContainsFunc(t.Events, func(o work.Event) bool { return o.ID == e.ID })
	})
	if t.Kind.Start() {
		v.Served.Fresh = turn.ID
	} else {
		v.Served.Feedback = turn.ID
	}
	p.running = append(p.running, running{repo: y.repo, item: y.item, turn: turn, passes: p.pass + p.roll("runs for", 1, 3)})
	for _, x := range p.line {
		if err := p.passed(x, y); err != nil {
			return err
		}
	}
	return nil
}

// passed counts that y started while x waits, and returns an error if that breaks the promise.
func (p *play) passed(x, y *waits) error {
	switch {
	case x.repo != y.repo:
		x.elsewhere[y.repo]++
		if !x.implements() && x.elsewhere[y.repo] > x.own+x.beside+1 {
			return fmt.Errorf("repository %d was served %d times while one that waits was served %d times: %+v", y.repo, x.elsewhere[y.repo], x.own+x.beside, *x)
		}
	case x.kind.Start() != y.kind.Start():
		x.beside++
		if !x.implements() && x.beside > x.own+1 {
			return fmt.Errorf("the other line was served %d times while the own was served %d times: %+v", x.beside, x.own, *x)
		}
	default:
		x.own++
		later, ahead := y.since.Sub(x.since), time.Duration(y.priority-x.priority)*time.Hour
		if x.implements() {
			ahead = work.LongestPassed + (work.MaxPriority-work.MinPriority)*time.Hour
		}
		if y.came > x.came && later > 0 && later >= ahead {
			return fmt.Errorf("%+v came later and passed %+v", *y, *x)
		}
	}
	return nil
}

// No turn starves or waits for more starts than promised.
func TestFairness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roll := func(what string, least, most int) int { return rapid.IntRange(least, most).Draw(t, what) }
		if err := newPlay(roll, order).run(); err != nil {
			t.Fatal(err)
		}
	})
}

// The test detects unfair orders.
func TestTheFairnessTestTellsUnfairOrders(t *testing.T) {
	sorted := func(plans []plan.Plan, by func(a, b plan.Turn) int) []plan.Turn {
		var all []plan.Turn
		for _, p := range plans {
			all = append(all, p.Turns()...)
		}
		slices.SortStableFunc(all, by)
		return all
	}
	for name, unfair := range map[string]func([]plan.Plan) []plan.Turn{
		"the newest first": func(plans []plan.Plan) []plan.Turn {
			return sorted(plans, func(a, b plan.Turn) int { return b.Since.Compare(a.Since) })
		},
		"the oldest first, whatever its repository": func(plans []plan.Plan) []plan.Turn {
			return sorted(plans, func(a, b plan.Turn) int { return a.Since.Compare(b.Since) })
		},
		"one repository first": func(plans []plan.Plan) []plan.Turn {
			return sorted(plans, func(a, b plan.Turn) int { return int(a.Item.RepoID - b.Item.RepoID) })
		},
		"a round robin that forgets": func(plans []plan.Plan) []plan.Turn {
			for i := range plans {
				plans[i].Served = known.RoundRobin{}
			}
			return order(plans)
		},
		"feedback first": func(plans []plan.Plan) []plan.Turn {
			for i := range plans {
				plans[i].Served = known.RoundRobin{Fresh: max(plans[i].Served.Fresh, plans[i].Served.Feedback)}
			}
			return order(plans)
		},
		"priority that waiting does not overtake": func(plans []plan.Plan) []plan.Turn {
			for i := range plans {
				for j, d := range plans[i].Decisions {
					if t, ok := d.(plan.Turn); ok {
						t.Item.Priority *= 1000
						plans[i].Decisions[j] = t
					}
				}
			}
			return order(plans)
		},
		"a slot stays free": func(plans []plan.Plan) []plan.Turn {
			all := order(plans)
			return all[:max(0, len(all)-1)]
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(500) {
				dice := rand.New(rand.NewPCG(seed, 26)) //nolint:gosec // a play
				roll := func(_ string, least, most int) int { return least + dice.IntN(most-least+1) }
				if err := newPlay(roll, unfair).run(); err != nil {
					return
				}
			}
			t.Error("it passes for fair")
		})
	}
}

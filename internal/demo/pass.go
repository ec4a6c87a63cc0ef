package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

const (
	patience = 2 * time.Minute // with one pass, on a machine that is busy
	grace    = 2 * time.Second // after an interrupt
)

// passRequests is one pass and the requests that it made.
type passRequests struct {
	What      string
	Reads     int // REST, answered with something new
	Unchanged int // REST, answered 304: they cost nothing
	GraphQL   int // queries
	Writes    int // REST and GraphQL
}

// idle reports whether a pass read only the light query, and that nothing has changed.
func (p passRequests) idle() bool { return p.Reads == 0 && p.GraphQL <= 1 && p.Writes == 0 }

func (p passRequests) total() int { return p.Reads + p.Unchanged + p.GraphQL + p.Writes }

// ask runs this program and decodes the JSON that it prints.
func (d *demo) ask(ctx context.Context, into any, args ...string) error {
	res, err := d.run(ctx, d.self, args...)
	if err != nil {
		return err
	}
	if res.Code != 0 {
		return fmt.Errorf("gh mergexo %s: exit code %d: %s", strings.Join(args, " "), res.Code, lastLine(res.Stderr))
	}
	if err := json.Unmarshal(res.Stdout, into); err != nil {
		return fmt.Errorf("gh mergexo %s: decode its output: %w", args[0], err)
	}
	return nil
}

// preview shows what the next pass is going to do, and why.
func (d witness) preview(ctx context.Context) ([]planLine, error) {
	var rep report
	if err := d.ask(ctx, &rep, "tick", "--dry-run", "--json", "plan"); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rep.Plan, func(a, b planLine) int { return a.Number - b.Number })
	d.ran("tick --dry-run")
	rows := terminal.Each(rep.Plan, func(l planLine) []string {
		return []string{l.What, fmt.Sprintf("#%d", l.Number), string(l.Kind), l.Reason}
	})
	if len(rows) == 0 {
		rows = [][]string{{"nothing to do"}}
	}
	d.columns(rows)
	return rep.Plan, nil
}

// pass makes one pass and shows what it did.
func (d *demo) pass(ctx context.Context, what string) (report, error) {
	var rep report
	d.hub.ResetLog()
	err := d.ask(ctx, &rep, "tick", "--json", "turns,repositories")
	d.count(what)
	if err != nil {
		return rep, err
	}
	slices.SortStableFunc(rep.Turns, func(a, b turn) int { return a.Number - b.Number })
	d.ran("tick")
	rows := terminal.Each(rep.Turns, func(t turn) []string {
		return []string{t.Outcome, fmt.Sprintf("#%d", t.Number), string(t.Kind), d.sees().whatTurnDid(t)}
	})
	for _, r := range rep.Repositories {
		if r.Failed || !r.Ingested {
			return rep, fmt.Errorf("%s was not read: %s", r.Repo, r.Note)
		}
	}
	for _, t := range rep.Turns {
		if t.Outcome != "done" {
			return rep, fmt.Errorf("the turn %s on #%d is %s: %s", t.Kind, t.Number, t.Outcome, t.Reason)
		}
	}
	if len(rows) == 0 {
		rows = [][]string{{"no agent had to work"}}
	}
	d.columns(rows)
	return rep, nil
}

func (d witness) whatTurnDid(t turn) string {
	switch {
	case t.Kind == work.KindReview:
		return d.verdict(t.Number)
	case t.Resumed:
		return "carried on from where the dead pass left it"
	case t.Kind.Start():
		return "opened #" + t.URL[strings.LastIndexByte(t.URL, '/')+1:]
	}
	return "pushed a commit and answered"
}

// count takes the requests of a pass off the GitHub's log.
func (d *demo) count(what string) {
	p := passRequests{What: what}
	for _, r := range d.hub.Requests() {
		switch {
		case r.Write:
			p.Writes++
		case r.Path == "/graphql":
			p.GraphQL++
		case r.NotModified:
			p.Unchanged++
		default:
			p.Reads++
		}
	}
	d.passes = append(d.passes, p)
}

// killedPass begins a pass and kills it, as kill -9 does, at the moment when a
// request has taken effect and before the pass knows of it.
func (d *demo) killedPass(ctx context.Context, what string, when func(githubsim.Request) bool) error {
	running, kill := context.WithCancel(ctx)
	defer kill()
	dead := make(chan struct{})
	var struck atomic.Bool
	d.hub.ResetLog()
	d.hub.OnRequest(func(r githubsim.Request) {
		if r.Done && r.Applied && when(r) && struck.CompareAndSwap(false, true) {
			kill()
			<-dead // the answer must not reach it
		}
	})
	defer d.hub.OnRequest(nil)
	c := d.command(d.self, "tick", "--json", "turns")
	c.EndSignal = os.Kill
	d.ran("tick")
	res, err := proc.Run(running, c)
	close(dead)
	d.count(what)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !struck.Load():
		return errors.Join(err, fmt.Errorf("the pass ended with %d before it was killed: %s", res.Code, lastLine(res.Stderr)))
	case !errors.Is(err, context.Canceled):
		return fmt.Errorf("the pass ended by itself, code %d: %w", res.Code, err)
	}
	d.columns([][]string{{"killed", "with SIGKILL, after GitHub took a reply and before the pass heard of it"}})
	return nil
}

// agentRuns counts the agent's runs, by turn.
func (d witness) agentRuns() (map[string]int, error) {
	b, err := os.ReadFile(d.path("agent.log"))
	if err != nil {
		return nil, fmt.Errorf("read the agent's log: %w", err)
	}
	runs := map[string]int{}
	for line := range strings.Lines(string(b)) {
		runs[strings.TrimSpace(line)]++
	}
	return runs, nil
}

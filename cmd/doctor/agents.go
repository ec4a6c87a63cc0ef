package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

func agentChecks() []check {
	return []check{
		{"agent", "whether its program is installed, new enough and tested, logged in (without a request), may write the folders with its login, and reports its cost if a budget limits that", agents(about(program), about(version), login, keeps, cost)},
	}
}

func sandboxChecks() []check {
	return []check{
		{"sandbox", "the sandbox of an agent, and what the agent can reach in it", agents(box)},
		{"agent_start", "whether its program starts and can work in its sandbox, without a request to its provider", start},
	}
}

// about makes a question of what an agent alone tells.
func about(tells func(machine.Agent) []Result) question[machine.Agent] {
	return func(_ context.Context, _ *exam, g machine.Agent) []Result { return tells(g) }
}

func program(g machine.Agent) []Result {
	switch {
	case g.Missing != nil:
		return fail(strings.TrimPrefix(g.Missing.Says, fmt.Sprintf("agent %q: ", g.Name)), g.Missing.Do)
	case g.Tells != "":
		return ok(fmt.Sprintf("%s; usage that it reports: %s", g.Path, g.Tells))
	}
	return ok(g.Path)
}

func version(g machine.Agent) []Result {
	switch {
	case g.Broken != nil:
		return failure(g.Broken)
	case g.TooOld:
		return fail(g.Drift, "install a newer version of its program")
	case g.Drift != "":
		return warn(g.Drift, "if its turns fail, install one of those")
	case g.Version != "":
		return ok(g.Version + " is in the range of the tested ones")
	}
	return nil
}

func login(_ context.Context, _ *exam, g machine.Agent) []Result {
	switch l := g.Login; {
	case g.Missing != nil || !l.Known && l.Says == "":
		return nil
	case l.Known && !l.In:
		return fail(l.Says, cmp.Or(l.Do, "log in with its own program"))
	default:
		return ok(l.Says)
	}
}

// keeps is silent where all is well: most agents need no more than their login.
func keeps(_ context.Context, e *exam, g machine.Agent) []Result {
	if g.Missing != nil {
		return nil
	}
	return failure(e.machine.Keeps(g.Name))
}

// cost is about agents only where a budget limits the cost.
func cost(_ context.Context, e *exam, g machine.Agent) []Result {
	u := e.stored.usage[g.Name]
	priced := u.known.Tokens && e.cfg.Agents[g.Name].Prices != nil // perhaps since the last run
	unknown := g.NoCost || u.ran && !u.known.Cost && !priced
	if !unknown || e.invalid != nil || !e.cfg.Runtime.Budgets.LimitCost() {
		return nil
	}
	return warn(spending.CostWarning, spending.CostRemedy(!u.ran || u.known.Tokens))
}

func box(ctx context.Context, e *exam, g machine.Agent) []Result {
	switch {
	case g.Blocked:
		return fail(g.Says, g.Remedy)
	case !g.Hides:
		return warn(g.Says, g.Remedy)
	}
	writes := ""
	if all := e.machine.Writes(ctx, g.Name); len(all) > 0 {
		writes = "; beside its checkout it may write " + strings.Join(all, ", ")
	}
	return ok(fmt.Sprintf("%s%s; to list what it sees: gh mergexo doctor --sandbox %s", g.Says, writes, g.Name))
}

// start starts the agents among the checkouts, as a turn does.
func start(ctx context.Context, e *exam) []Result {
	place, remove := e.machine.PlaceToStart()
	defer remove()
	return agents(func(ctx context.Context, e *exam, g machine.Agent) []Result {
		if g.Missing != nil || g.Blocked || g.Broken != nil || g.TooOld { // reported by other checks
			return nil
		}
		if err := e.machine.Start(ctx, g.Name, place); err != nil {
			t := machine.TroubleOf(err, fmt.Sprintf("gh mergexo doctor --sandbox %s lists what it sees; readable in [agents.%s] lets in more", g.Name, g.Name))
			return fail("its turns cannot start: "+t.Says, t.Do)
		}
		if g.Any {
			return ok("its program was not started; to play a turn with it: gh mergexo doctor --agent " + g.Name)
		}
		return ok("its program starts as in a turn")
	})(ctx, e)
}

// ForStatus returns what status says about agents, their sandboxes, the schedule and what the config names
// but this machine lacks, a line each.
func ForStatus(ctx context.Context, cfg *config.Config, st schedule.State) (lines []string) {
	env := environ.Read()
	lines = machine.Doubts(cfg, env)
	used := machine.New(machine.Options{Config: cfg, Env: env}).Agents(ctx)
	for _, g := range used {
		switch {
		case g.Missing != nil:
			lines = append(lines, g.Missing.Error())
		case g.Broken != nil:
			lines = append(lines, strings.TrimSuffix(g.Broken.Says, ".")+"; "+g.Broken.Do)
		case g.Drift != "":
			lines = append(lines, fmt.Sprintf("agent %q: %s", g.Name, g.Drift))
		}
	}
	for _, g := range used {
		if !g.Hides {
			lines = append(lines, fmt.Sprintf("agent %q: %s", g.Name, g.Says))
		}
	}
	for _, l := range st.Lacks {
		lines = append(lines, l.Says+"; "+l.Do) // the command that mends it
	}
	return terminal.Each(lines, terminal.OneLine)
}

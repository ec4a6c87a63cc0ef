package doctor

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/conformance"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// playAgent plays what a turn needs of an agent.
func (o *options) playAgent(ctx context.Context, a *cli.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	ag, err := cli.AgentNamed(cfg, o.agent)
	if err != nil {
		return err
	}
	m, err := a.Machine(cfg)
	if err != nil {
		return err
	}
	place, remove := m.PlaceToStart()
	defer remove()
	shown := a.Progress()
	found, used, err := m.Play(ctx, ag, place, nil, func(step string) { shown.Spinner(fmt.Sprintf("agent %q: %s", ag.Name, step)) })
	shown.Close()
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return machine.Plain(err)
	}
	all := make([]Result, len(found))
	for i, f := range found {
		all[i] = Result{Code: f.Step, About: ag.Name, Level: levelOf[f.Level], Says: f.Says, Do: f.Do, heading: "Conformance", agent: true}
	}
	if used.InputTokens+used.OutputTokens > 0 {
		fmt.Fprintf(a.Notes(a.Output()), "It used %s + %s tokens, %s\n", terminal.Tokens(used.InputTokens), terminal.Tokens(used.OutputTokens), spending.Cost(used.CostUSD, 0))
	}
	return printAll(a, all)
}

// levelOf has the level of a step.
var levelOf = map[conformance.Level]Level{conformance.Works: OK, conformance.Lacks: Warning, conformance.Refuses: Failure}

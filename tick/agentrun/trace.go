package agentrun

import (
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/telemetry"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// observed has a run of an agent observed as a part of its turn's trace, where somebody
// observes; over tells how it ended.
func observed(l *env.Lease, run work.Run) (part *telemetry.Span, over func(res agent.Result, err error)) {
	part = l.Trace.Child("run "+run.Agent,
		telemetry.Attr{Key: "gen_ai.agent.name", Value: run.Agent}, telemetry.Attr{Key: "mergexo.run.attempt", Value: run.Attempt})
	return part, func(res agent.Result, err error) {
		part.Set(
			telemetry.Attr{Key: "gen_ai.conversation.id", Value: res.Session},
			telemetry.Attr{Key: "gen_ai.usage.input_tokens", Value: res.Usage.InputTokens}, telemetry.Attr{Key: "gen_ai.usage.output_tokens", Value: res.Usage.OutputTokens},
			telemetry.Attr{Key: "mergexo.cost_usd", Value: res.Usage.CostUSD},
		)
		why, failed := env.WhyOf(err)
		if !failed {
			part.Set(telemetry.Attr{Key: "mergexo.reason_code", Value: why})
			why = ""
		}
		part.End(why)
	}
}

package tell

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/telemetry"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// ObserveTurn runs a turn's part of a pass as a span, if there is a tracer. A turn is one trace,
// identified by its key, even if several passes work on it.
func ObserveTurn(ctx context.Context, e *env.Env, l *env.Lease, run func() env.TurnReport) {
	if e.Tracer == nil {
		run()
		return
	}
	agent, _, _ := e.AgentFor(ctx, l.Repo.Name, l.Turn.Kind, l.Turn.Reviewer) // without one the turn fails, and says so
	if l.Turn.Step != work.StepClaimed {
		agent.Name = cmp.Or(l.Turn.Agent, agent.Name)
	}
	from := telemetry.Fresh
	if l.Resumed {
		from = telemetry.Resumed
	}
	used := l.Turn.Used
	l.Trace = e.Tracer.Begin(ctx, "invoke_agent "+agent.Name, l.Turn.Key, from, append(agentAttrs(agent), turnAttrs(l)...)...)
	done := run()
	l.Trace.Set(append(resultAttrs(done), endAttrs(ctx, e, l, used)...)...)
	l.Trace.End(errorType(done))
	l.Trace = nil
}

type attrs = []telemetry.Attr

// agentAttrs returns the agent's attributes by OpenTelemetry's conventions. Prompts and answers are
// never sent.
func agentAttrs(a config.Agent) attrs {
	return attrs{
		{Key: "gen_ai.operation.name", Value: "invoke_agent"},
		{Key: "gen_ai.provider.name", Value: provider(a.Adapter)},
		{Key: "gen_ai.agent.name", Value: a.Name},
		{Key: "gen_ai.request.model", Value: a.Model},
	}
}

// provider returns OpenTelemetry's name for an agent's provider; for the operator's own program it
// returns the adapter's name.
func provider(adapter string) string {
	switch adapter {
	case config.AdapterClaude:
		return "anthropic"
	case config.AdapterCodex:
		return "openai"
	}
	return adapter
}

// turnAttrs returns the attributes of a turn.
func turnAttrs(l *env.Lease) attrs {
	repo := l.Repo.Name
	return attrs{
		{Key: "cicd.pipeline.name", Value: string(l.Turn.Kind)},
		{Key: "cicd.pipeline.run.id", Value: l.Turn.Key},
		{Key: "cicd.pipeline.action.name", Value: "RUN"},
		{Key: "vcs.provider.name", Value: "github"},
		{Key: "vcs.repository.url.full", Value: "https://" + repo.String()},
		{Key: "vcs.owner.name", Value: repo.Owner},
		{Key: "vcs.repository.name", Value: repo.Name},
		{Key: "mergexo.turn.kind", Value: string(l.Turn.Kind)},
		{Key: "mergexo.turn.resumed", Value: l.Resumed},
		{Key: "mergexo.item.number", Value: l.Item.Number},
		{Key: "mergexo.item.flow", Value: string(l.Item.Flow)},
		{Key: "mergexo.reviewer", Value: l.Turn.Reviewer},
	}
}

// endAttrs returns the attributes known when a pass is done with a turn. used is its usage before
// this pass.
func endAttrs(ctx context.Context, e *env.Env, l *env.Lease, used work.UsageSum) attrs {
	now := l.Turn.Used
	all := attrs{
		{Key: "gen_ai.conversation.id", Value: l.Turn.Session},
		{Key: "vcs.ref.head.name", Value: l.Turn.Branch},
		{Key: "vcs.ref.head.type", Value: "branch"},
		{Key: "vcs.ref.head.revision", Value: cmp.Or(l.Turn.Commit, l.Turn.Head)},
		{Key: "vcs.ref.base.name", Value: l.Turn.Base},
	}
	all = append(all, env.UsageAttrs(
		work.Usage{InputTokens: now.InputTokens - used.InputTokens, OutputTokens: now.OutputTokens - used.OutputTokens, CostUSD: now.CostUSD - used.CostUSD},
		work.Known{Tokens: now.UnknownTokens == used.UnknownTokens, Cost: now.UnknownCost == used.UnknownCost},
	)...)
	_ = e.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) error { // the trace is sent without it too
		pull, ok, err := tx.FindPullOfItem(ctx, l.Item.ID)
		if ok {
			all = append(all, telemetry.Attr{Key: "vcs.change.id", Value: strconv.Itoa(pull.Number)}, telemetry.Attr{Key: "vcs.change.state", Value: strings.ToLower(string(pull.State))})
		}
		return err
	})
	return all
}

// resultAttrs returns the attributes of a turn's result.
func resultAttrs(done env.TurnReport) attrs {
	result, state := "", ""
	switch env.VerdictKind(done.Outcome) {
	case env.VerdictDone:
		result = "success"
	case env.VerdictBlocked, env.VerdictRetry:
		result = "failure"
	case env.VerdictSuperseded:
		result = "skip"
	case env.VerdictCancelled, env.VerdictInterrupted:
		result = "cancellation"
	case env.VerdictWait: // not ended
		state = "pending"
	}
	return attrs{
		{Key: "cicd.pipeline.result", Value: result},
		{Key: "cicd.pipeline.run.state", Value: state},
		{Key: "cicd.pipeline.run.url.full", Value: done.URL},
		{Key: "mergexo.outcome", Value: done.Outcome},
		{Key: "mergexo.reason_code", Value: string(done.Code)},
	}
}

// errorType returns an error code; empty: nothing failed.
func errorType(done env.TurnReport) string {
	switch env.VerdictKind(done.Outcome) { //nolint:exhaustive // nothing else failed
	case env.VerdictBlocked, env.VerdictRetry:
		return cmp.Or(string(done.Code), "_OTHER")
	}
	return ""
}

// SendTraces sends the remaining spans of a pass.
func SendTraces(t *telemetry.Tracer) Observer {
	return Observer{"the traces", func(ctx context.Context, _ *PassEnd) error {
		t.Close(ctx)
		return nil
	}}
}

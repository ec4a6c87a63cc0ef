package observe

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

// Turn has what a pass does for a turn observed, where somebody observes. A turn is one
// trace, however many passes work on it: its key says which.
func Turn(ctx context.Context, e *env.Env, l *env.Lease, run func() env.TurnReport) {
	if e.Tracer == nil {
		run()
		return
	}
	agent, _ := e.Config.AgentFor(l.Repo.Name, l.Turn.Kind, l.Turn.Reviewer)
	agent.Name = cmp.Or(l.Turn.Agent, agent.Name)
	from := telemetry.Fresh
	if l.Resumed {
		from = telemetry.Resumed
	}
	used := l.Turn.Usage
	l.Trace = e.Tracer.Begin(ctx, "invoke_agent "+agent.Name, l.Turn.Key, from, append(agentAttrs(agent), turnAttrs(l)...)...)
	done := run()
	l.Trace.Set(append(resultAttrs(done), endAttrs(ctx, e, l, used)...)...)
	l.Trace.End(errorType(done))
	l.Trace = nil
}

type attrs = []telemetry.Attr

// agentAttrs say who works, by OpenTelemetry's conventions for agents. What an agent is
// told, and what it answers, is never sent.
func agentAttrs(a config.Agent) attrs {
	return attrs{
		{Key: "gen_ai.operation.name", Value: "invoke_agent"},
		{Key: "gen_ai.provider.name", Value: provider(a.Adapter)},
		{Key: "gen_ai.agent.name", Value: a.Name},
		{Key: "gen_ai.request.model", Value: a.Model},
	}
}

// provider is by what name OpenTelemetry knows who is behind an agent; of a program of
// one's own nobody does.
func provider(adapter string) string {
	switch adapter {
	case config.AdapterClaude:
		return "anthropic"
	case config.AdapterCodex:
		return "openai"
	}
	return adapter
}

// turnAttrs say what a turn is about.
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

// endAttrs say what is known of a turn once a pass is done with it. used is what its runs
// had used before.
func endAttrs(ctx context.Context, e *env.Env, l *env.Lease, used work.Usage) attrs {
	now := l.Turn.Usage
	all := attrs{
		{Key: "gen_ai.conversation.id", Value: l.Turn.Session},
		{Key: "gen_ai.usage.input_tokens", Value: now.InputTokens - used.InputTokens},
		{Key: "gen_ai.usage.output_tokens", Value: now.OutputTokens - used.OutputTokens},
		{Key: "mergexo.cost_usd", Value: now.CostUSD - used.CostUSD},
		{Key: "vcs.ref.head.name", Value: l.Turn.Branch},
		{Key: "vcs.ref.head.type", Value: "branch"},
		{Key: "vcs.ref.head.revision", Value: cmp.Or(l.Turn.Commit, l.Turn.Head)},
		{Key: "vcs.ref.base.name", Value: l.Turn.Base},
	}
	_ = e.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) error { // a trace without it is a trace
		pull, ok, err := tx.FindPullOfItem(ctx, l.Item.ID)
		if ok {
			all = append(all, telemetry.Attr{Key: "vcs.change.id", Value: strconv.Itoa(pull.Number)}, telemetry.Attr{Key: "vcs.change.state", Value: strings.ToLower(string(pull.State))})
		}
		return err
	})
	return all
}

// resultAttrs say what became of a turn.
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
	case env.VerdictWait: // it is not over
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

// errorType is what failed, in a word; empty: nothing did.
func errorType(done env.TurnReport) string {
	switch env.VerdictKind(done.Outcome) { //nolint:exhaustive // nothing else failed
	case env.VerdictBlocked, env.VerdictRetry:
		return cmp.Or(string(done.Code), "_OTHER")
	}
	return ""
}

// Traces sends what is left of the traces of a pass.
func Traces(t *telemetry.Tracer) After {
	return func(ctx context.Context, _ *End) error {
		t.Close(ctx)
		return nil
	}
}

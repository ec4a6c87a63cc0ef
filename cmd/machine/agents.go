package machine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/doubts"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// AgentState is an agent on this machine: its program, and the protection around it.
type AgentState struct {
	Agent   string `json:"agent"`                 // the agent's name in the config
	Found   bool   `json:"found"`                 // whether its program is there
	Missing string `json:"missing,omitempty"`     // what is missing, and where to get it
	Sandbox string `json:"sandbox"`               // what surrounds it
	Hides   bool   `json:"hidesFiles"`            // whether your files are hidden from it
	Says    string `json:"says"`                  // the same for people
	Version string `json:"version,omitempty"`     // of its program; empty where that does not say
	Drift   string `json:"versionNote,omitempty"` // it is too old, or nobody has tried it
	TooOld  bool   `json:"-"`

	Doubts []string `json:"warnings,omitempty"` // names in its config that do not exist
}

// notFound records why an agent's program cannot be started; nil: it can.
func (v *AgentState) notFound(err error) {
	if err != nil {
		v.Found, v.Missing = false, err.Error()
	}
}

// usedAgent reports whether the config uses an agent.
func usedAgent(cfg *config.Config, name string) bool {
	if cfg.Runtime.Agent == name {
		return true
	}
	for _, r := range cfg.Repos {
		if slices.Contains(slices.Collect(maps.Values(r.Agents)), name) || r.Review.Enabled && reviewing(r.Reviewers, name) {
			return true
		}
	}
	return false
}

// reviewing reports whether a reviewer uses an agent.
func reviewing(all []config.Reviewer, name string) bool {
	return slices.ContainsFunc(all, func(x config.Reviewer) bool { return x.Agent == name })
}

// Protections returns the state of each used agent on this machine.
func Protections(ctx context.Context, cfg *config.Config, env environ.Env) []AgentState {
	m := newMachine(Options{Config: cfg, Env: env})
	var all []AgentState
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if !usedAgent(cfg, name) {
			continue
		}
		p, err := m.Protection(ctx, cfg.Agents[name])
		v := AgentState{Agent: name, Found: true, Sandbox: string(p.Kind), Hides: p.Hides(), Says: p.String()}
		if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
			v.Says = "its turns are blocked: " + explain.Reason(blocked.Reason, explain.Place{}).Here()
		}
		v.notFound(agent.Find(programOf(env, cfg.Agents[name])))
		v.Doubts = cfg.Doubts(env, cfg.Agents[name])
		all = append(all, v)
	}
	m.addVersions(ctx, all)
	return all
}

// Doubts returns what the config names for the used agents but this machine lacks, and the
// reviewers whose verdicts GitHub does not accept.
func Doubts(cfg *config.Config, env environ.Env) []string {
	all := append(doubts.Authors(cfg, github.LoggedIn), cfg.NotifyDoubts(env)...)
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if !usedAgent(cfg, name) {
			continue
		}
		for _, d := range cfg.Doubts(env, cfg.Agents[name]) {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// DoubtsOf are the doubts about one agent.
func (m *Machine) DoubtsOf(a config.Agent) []string { return m.cfg.Doubts(m.env, a) }

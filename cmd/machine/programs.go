package machine

import (
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Program is a program that passes start.
type Program struct {
	Name string
	Path string // empty: not found
}

// Programs returns those that passes find by PATH: gh, git, and the used agents.
func Programs(cfg *config.Config, env environ.Env) []Program {
	var all []Program
	for _, name := range []string{"gh", "git"} {
		path, err := proc.LookPath(name, hostPath(cfg, env))
		if err != nil {
			path = ""
		}
		all = append(all, Program{name, path})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		spec := programOf(env, cfg.Agents[name])
		program := spec.CommandLine()[0]
		known := slices.ContainsFunc(all, func(p Program) bool { return p.Name == program })
		if known || !usedAgent(cfg, name) || strings.ContainsAny(program, `/\`) {
			continue
		}
		path, err := agent.Program(spec)
		if err != nil {
			path = ""
		}
		all = append(all, Program{program, path})
	}
	return all
}

// PassedOn returns the variables that are passed to used agents and set here.
func PassedOn(cfg *config.Config, env environ.Env) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if !usedAgent(cfg, name) {
			continue
		}
		for _, v := range cfg.Agents[name].EnvPass {
			if value, _ := env.Lookup(v); value != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

package config

import "github.com/mergexo/gh-mergexo/internal/work"

// The reviews of a repository as TOML.
type (
	reviewDoc struct {
		Enabled         bool   `toml:"enabled"`
		MaxFixCycles    int    `toml:"max_fix_cycles"`
		RequireHuman    bool   `toml:"require_human_approval"`
		AutoMerge       bool   `toml:"auto_merge"` // false: true is refused
		Blocking        string `toml:"blocking_severity"`
		KeepOnBaseMerge bool   `toml:"keep_approvals_on_base_merge"`
	}
	reviewerDoc struct {
		Name        string      `toml:"name"`
		Type        string      `toml:"type"`
		Persona     *string     `toml:"persona"` // these four are an agent's
		PersonaFile *string     `toml:"persona_file"`
		Agent       *string     `toml:"agent"`
		Account     *string     `toml:"account"`
		Login       string      `toml:"login"` // a person's
		CanEscalate []string    `toml:"can_escalate"`
		Flows       []work.Flow `toml:"flows"`
	}
)

func reviewDocOf(r Review) reviewDoc {
	return reviewDoc{
		Enabled: r.Enabled, MaxFixCycles: r.MaxFixCycles, RequireHuman: r.RequireHuman,
		Blocking: string(r.Blocking), KeepOnBaseMerge: r.KeepOnBaseMerge,
	}
}

func reviewerDocOf(x Reviewer) reviewerDoc {
	doc := reviewerDoc{Name: x.Name, Type: typeAgent, CanEscalate: orEmpty(x.CanEscalate), Flows: orEmpty(x.Flows)}
	if x.Human {
		doc.Type, doc.Login = typeHuman, x.login()
		return doc
	}
	persona := x.Persona
	if x.PersonaFile != "" {
		persona = ""
	}
	for _, built := range builtInReviewers() {
		if built.Persona == persona {
			persona = built.Name
		}
	}
	doc.Persona, doc.PersonaFile, doc.Agent, doc.Account = &persona, &x.PersonaFile, &x.Agent, &x.Account
	return doc
}

package config

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// The reviews of a repository as TOML.
type (
	reviewDoc struct {
		Enabled         bool   `toml:"enabled"`
		MaxFixCycles    int    `toml:"max_fix_cycles"`
		RequireHuman    bool   `toml:"require_human_approval"`
		Blocking        string `toml:"blocking_severity"`
		KeepOnBaseMerge bool   `toml:"keep_approvals_on_base_merge"`

		AutoMerge     bool     `toml:"auto_merge"`
		MergeMethod   string   `toml:"merge_method"`
		Required      []string `toml:"required_checks"`
		ChecksTimeout string   `toml:"checks_timeout"`
		Critical      []string `toml:"critical_paths"`
		MaxMergeLines int      `toml:"max_merge_lines"`
		DeleteBranch  any      `toml:"delete_branch"`
		WatchBase     string   `toml:"watch_base"`
		RevertOnRed   string   `toml:"revert_on_red"`
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
	doc := reviewDoc{
		Enabled: r.Enabled, MaxFixCycles: r.MaxFixCycles, RequireHuman: r.RequireHuman,
		Blocking: string(r.Blocking), KeepOnBaseMerge: r.KeepOnBaseMerge,
		AutoMerge: r.Merge.Auto, MergeMethod: string(r.Merge.Method), Required: orEmpty(r.Merge.Required), ChecksTimeout: short(r.Merge.ChecksTimeout),
		Critical: orEmpty(r.Merge.Critical), MaxMergeLines: r.Merge.MaxLines, DeleteBranch: "", WatchBase: short(r.Merge.Watch), RevertOnRed: revertNever,
	}
	if r.Merge.DeleteBranch != "" {
		doc.DeleteBranch = r.Merge.DeleteBranch == merging.Yes
	}
	if r.Merge.Revert {
		doc.RevertOnRed = revertPropose
	}
	return doc
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

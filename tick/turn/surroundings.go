package turn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Surroundings returns how an agent works on a kind of turn in a repository according to the
// config.
func Surroundings(cfg *config.Config, a config.Agent, r config.Repo, kind work.Kind) prompts.Surroundings {
	s := prompts.Surroundings{
		Adapter: a.Adapter, Shell: true, Network: network(a, kind),
		TurnSeconds: int(cfg.Runtime.TurnTimeout.Seconds()), IdleSeconds: int(cfg.Runtime.IdleTimeout.Seconds()),
	}
	if a.Adapter == config.AdapterClaude && kind.Mode() == work.ModeRead {
		s.Shell = false // it only has tools that read files
	}
	if !kind.Document() && kind != work.KindReview {
		s.RequiredTests, s.TestSeconds = r.RequiredTests, int(cfg.Runtime.TestTimeout.Seconds())
	}
	return s
}

// network returns whether an agent's commands have network access. Our sandboxes allow it and
// codex's does not. For the operator's own program it is unknown.
func network(a config.Agent, kind work.Kind) prompts.Network {
	switch {
	case a.Adapter == config.AdapterCodex && opensNetwork(a.Args, kind.Mode()):
		return prompts.NetworkOpen
	case a.Adapter == config.AdapterCodex:
		return prompts.NetworkNone
	case a.Adapter == config.AdapterClaude && kind.Mode() == work.ModeWrite:
		return prompts.NetworkOpen
	case a.Adapter == config.AdapterClaude:
		return prompts.NetworkNone
	}
	return prompts.NetworkUnknown
}

// opensNetwork reports whether the operator's arguments allow network access in codex's sandbox.
func opensNetwork(args []string, mode work.Mode) bool {
	for _, arg := range args {
		arg = strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(arg)
		if strings.HasSuffix(arg, "danger-full-access") || mode == work.ModeWrite && strings.Contains(arg, "network_access=true") {
			return true
		}
	}
	return false
}

// surroundings returns how the agent works on the lease's turn.
func (p *briefs) surroundings(l *env.Lease) prompts.Surroundings {
	s := Surroundings(p.Config, p.agentOf(l), l.Repo.Settings, l.Turn.Kind)
	s.Setup = l.Setup
	if l.Approves() { // its agent only reads
		s.Shell, s.RequiredTests = s.Adapter != config.AdapterClaude, nil
	}
	return s
}

// agentOf returns the config of a turn's agent: the one that runs it, else the one that the config
// names.
func (p *briefs) agentOf(l *env.Lease) config.Agent {
	if a, ok := p.Config.Agents[l.Turn.Agent]; ok {
		return a
	}
	a, _ := p.Config.AgentFor(l.Repo.Name, l.Turn.Kind, l.Turn.Reviewer)
	return a
}

// surround adds two parts to the prompt's context: what the agent can use, such as a shell, and the
// repository's files with instructions for contributors. If the files cannot be listed, the
// prompt lacks them.
func (p *briefs) surround(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	c.Surroundings = p.surroundings(l)
	paths, err := l.Repo.Git().ListFiles(ctx, cmp.Or(l.Guarded.Tree, l.Turn.Head))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.Log.WarnContext(ctx, "could not look for instructions for contributors", p.TurnAttrs(l, "error", err)...)
		return nil
	}
	pointers, err := l.Repo.Git().Pointers(ctx, l.Turn.Head)
	if err != nil {
		return err
	}
	if len(pointers) > 0 {
		c.Refused = append(c.Refused, "a change of a file in LFS, of which only the pointer is here: "+named(pointers))
	}
	var empty []string
	for _, s := range l.Submodules {
		if s.Empty != "" {
			p.Log.WarnContext(ctx, "a submodule's folder stays empty", p.TurnAttrs(l, "path", s.Path, "error", s.Empty)...)
			empty = append(empty, s.Path)
		}
	}
	if len(empty) > 0 {
		c.Refused = append(c.Refused, "a file in a submodule that cannot be fetched, so that its folder is empty here: "+named(empty))
	}
	found := prompts.FindInstructions(paths)
	found.OfBase = l.Guarded.Paths
	c.Task.Instructions = &found
	return nil
}

// named lists the first of some paths.
func named(paths []string) string {
	const most = 20
	list := strings.Join(paths[:min(len(paths), most)], ", ")
	if len(paths) > most {
		list += fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return list
}

// authorRole returns the permission of the author. Ingest has read the permissions of
// comments' authors. A pass works only where its own account may write.
func (p *briefs) authorRole(ctx context.Context, l *env.Lease) (prompts.Role, error) {
	if slices.Contains(p.Accounts.Operators(l.Repo.Name.Host), l.Item.Author.ID) {
		return prompts.RoleWrite, nil
	}
	may, err := p.may(ctx, l.Repo, l.Item.Author)
	switch {
	case err != nil:
		return "", err
	case may:
		return prompts.RoleWrite, nil
	}
	return prompts.RoleNone, nil
}

// role returns the permission of an event's author. Ingest has read it, and events of authors
// without permission do not reach a prompt.
func role(e work.Event) prompts.Role {
	if e.Author.Bot || e.Outcome == work.OutcomeNoPermission {
		return prompts.RoleNone
	}
	return prompts.RoleWrite
}

// documents are globs of files of which an implementation may not consist alone: a merged design
// asks for code.
var documents = []string{"docs/**", "doc/**", "**/*.md", "**/*.mdx", "**/*.markdown", "**/*.rst", "**/*.adoc"}

// refusedChanges lists for the agent what the gates refuse.
func refusedChanges(run config.Runtime, r config.Repo, kind work.Kind) []string {
	told := []string{"a token, password or private key in a file or an answer, even made up"}
	if kind.Mode() == work.ModeRead { // the file is written from the answer
		return told
	}
	told = append(told,
		"a new or removed submodule or nested repository, even a bare one",
		fmt.Sprintf("a file over %s, or more than %d changed files", work.SizeText(run.MaxFileBytes), run.MaxFiles),
		"conflict markers",
		"a link out of the repository, special files",
		"a path over 1000 bytes, or like .git",
		"a raw file in place of LFS",
	)
	if len(r.ProtectedPaths) > 0 {
		told = append(told, "a change to "+strings.Join(r.ProtectedPaths, ", "))
	}
	if kind == work.KindImplementationStart {
		told = append(told, "a change to documents alone")
	}
	if len(r.RequiredTests) > 0 {
		told = append(told, "a change that fails the required tests")
	}
	if r.TestFiles != nil && kind == work.KindBugfixStart {
		told = append(told, "a bugfix without a test: a path that it changes must match "+r.TestFiles.String())
	}
	return told
}
